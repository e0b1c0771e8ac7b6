"""Whether a model fits into the memory that is free, before it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from pi_provider_llamacpp.gguf import Header

__all__ = ["check_memory", "needed_bytes"]

_CACHE_BYTES = 2
"""Of each value that the cache keeps (16 bits)."""
_OVERHEAD = 150 << 20
"""Bytes for buffers, the vocabulary and the process itself; a small model of 100 MB was seen to take 280 MB."""


def needed_bytes(header: Header, size: int, context: int) -> int:
    """Return how much memory a model takes: its file, the cache of its window, and buffers."""
    return size + header.layers * header.cache_width * _CACHE_BYTES * context + _OVERHEAD


def check_memory(name: str, header: Header, size: int, context: int, free: int) -> None:
    """Return when a model fits.

    Args:
        name: The file's name.
        header: Its header.
        size: Bytes of its files.
        context: Tokens of the window.
        free: Bytes that are free, of this computer and its graphics cards together.

    Raises:
        UserError: It does not fit; the message says what would.
    """
    needed = needed_bytes(header, size, context)
    if needed <= free:
        return
    a_token = header.layers * header.cache_width * _CACHE_BYTES
    left = free - size - _OVERHEAD
    fitting = left // a_token // 512 * 512 if a_token else 0
    advice = "Close other programs, or use a smaller model or quantization."
    if fitting >= 1024:  # noqa: PLR2004 - less is of no use to an agent
        advice = f"A window of {fitting:,} tokens would fit: set llamacpp.contextTokens to {fitting}."
    raise UserError(
        f"Not enough memory for {name!r}: it needs about {_gb(needed)} ({_gb(size)} of file, a window of {context:,}"
        f" tokens), and {_gb(free)} are free. {advice}"
    )


def _gb(size: int) -> str:
    return f"{max(size, 0) / 1e9:.1f} GB"
