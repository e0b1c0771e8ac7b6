"""The error for a program that cannot be started or supervised."""

from __future__ import annotations

from pi_hookspecs.errors import PiError

__all__ = ["ProcessFailure"]


class ProcessFailure(PiError):
    """A program cannot be started, or its supervisor was killed; the message says what to do."""
