"""How a number of bytes is said to people."""

from __future__ import annotations

__all__ = ["size_in_words"]

_STEP = 1024


def size_in_words(size: float) -> str:
    """Return a number of bytes in the largest unit that fits, with one digit behind the point: ``58.6 KB``."""
    units = ["GB", "MB", "KB", "bytes"]
    while size >= _STEP and len(units) > 1:
        size /= _STEP
        units.pop()
    return f"{size:.1f}".removesuffix(".0") + f" {units[-1]}"
