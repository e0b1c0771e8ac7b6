"""The clipboard of the terminal, possibly on another computer than pi; an escape sequence copies a text to it."""

from __future__ import annotations

from base64 import b64encode

__all__ = ["clipboard_sequence"]

_MOST_BYTES = 74_991
"""Maximum bytes of a text: terminals silently drop a sequence of more than 100,000 characters in total."""


def clipboard_sequence(text: str) -> str | None:
    """Return the escape sequence (OSC 52) that copies a text; None if the text is too long for it."""
    data = text.encode(errors="replace")
    return f"\x1b]52;c;{b64encode(data).decode('ascii')}\x07" if len(data) <= _MOST_BYTES else None
