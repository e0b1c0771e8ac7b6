"""What can be wrong with a program that is started or watched."""

from __future__ import annotations

from pi_hookspecs.errors import PiError

__all__ = ["ProcessFailure"]


class ProcessFailure(PiError):
    """A program cannot be started, or what watches it was killed; the message says what to do."""
