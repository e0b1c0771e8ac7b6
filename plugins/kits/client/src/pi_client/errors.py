"""Errors of the client."""

from __future__ import annotations

__all__ = ["CommandFailed", "ConnectionLost", "PiClientError", "ProtocolError"]


class PiClientError(Exception):
    """Root of the client's errors."""


class CommandFailed(PiClientError):
    """pi reported that a command failed; the message is pi's own.

    Attributes:
        command: Its name.
    """

    def __init__(self, command: str, error: str) -> None:
        super().__init__(error)
        self.command = command


class ConnectionLost(PiClientError):
    """pi has exited, or closed its stdin.

    Attributes:
        exit_code: Exit code of pi's process, where it is known.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ProtocolError(PiClientError):
    """A response of pi does not follow the protocol."""
