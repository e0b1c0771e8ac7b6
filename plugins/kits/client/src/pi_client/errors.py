"""What can go wrong between a client and pi."""

from __future__ import annotations

__all__ = ["CommandFailed", "ConnectionLost", "PiClientError", "ProtocolError"]


class PiClientError(Exception):
    """Root of the client's errors."""


class CommandFailed(PiClientError):
    """pi answered that a command failed; the message is pi's own.

    Attributes:
        command: Its name.
    """

    def __init__(self, command: str, error: str) -> None:
        super().__init__(error)
        self.command = command


class ConnectionLost(PiClientError):
    """pi has ended, or does not listen any more.

    Attributes:
        exit_code: Of pi's process, where it is known.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ProtocolError(PiClientError):
    """pi answered something that the protocol does not know."""
