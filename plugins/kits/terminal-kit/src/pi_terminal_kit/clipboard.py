"""The clipboard of the terminal, which may be on another computer than pi: an escape sequence hands it a text."""

from __future__ import annotations

from base64 import b64encode

__all__ = ["clipboard_sequence"]

_MOST_BYTES = 74_991
"""What a sequence may carry: with more than 100,000 characters in all, terminals drop it without a word."""


def clipboard_sequence(text: str) -> str | None:
    """Return what the terminal is to be sent (OSC 52); None for a text that is too long for it."""
    data = text.encode(errors="replace")
    return f"\x1b]52;c;{b64encode(data).decode('ascii')}\x07" if len(data) <= _MOST_BYTES else None
