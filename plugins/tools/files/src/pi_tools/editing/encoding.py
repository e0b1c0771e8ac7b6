"""Guesses the encoding of a text that is not UTF-8."""

from __future__ import annotations

import codecs

__all__ = ["detect"]

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32le"),
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_SAMPLE = 64 * 1024
_WIDE = 0.4
"""Share of NULs among every other byte above which a text without a byte order mark is taken for UTF-16."""


def detect(content: bytes) -> str | None:
    """Return the name of the encoding; None for UTF-8, also with NULs, and if unknown."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return name
    sample = content[:_SAMPLE]
    if b"\0" in sample:
        for offset, name in ((1, "utf-16le"), (0, "utf-16be")):
            every_other = sample[offset::2]
            bound = _WIDE * len(every_other)
            if len(every_other) > 1 and every_other.count(0) > bound > sample[1 - offset :: 2].count(0):
                return name
        return "binary" if not _is_utf8(content) else None
    if _is_utf8(content):
        return None
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    return None if best is None else best.encoding.replace("_", "-")


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
