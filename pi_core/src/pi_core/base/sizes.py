"""Formats sizes in bytes as text for users."""

from __future__ import annotations

__all__ = ["format_size"]

_STEP = 1024


def format_size(size: float) -> str:
    """Return a number of bytes in the largest unit that fits, with one decimal: ``58.6 KB``."""
    units = ["GB", "MB", "KB", "bytes"]
    while size >= _STEP and len(units) > 1:
        size /= _STEP
        units.pop()
    return f"{size:.1f}".removesuffix(".0") + f" {units[-1]}"
