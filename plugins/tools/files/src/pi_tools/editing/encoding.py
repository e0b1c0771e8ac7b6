"""Whether a text is UTF-8, what its encoding may be otherwise, and what must be kept of it when it is replaced."""

from __future__ import annotations

import codecs
from contextlib import suppress

from pi_tools.failure import ToolFailure

__all__ = ["detect", "is_utf8", "replacement"]

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
        return "binary" if not is_utf8(content) else None
    if is_utf8(content):
        return None
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    return None if best is None else best.encoding.replace("_", "-")


def is_utf8(content: bytes, *, whole: bool = True) -> bool:
    """Whether it is UTF-8; if it is not the whole text, it may end within a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content, whole)
    except UnicodeDecodeError:
        return False
    return True


_MOST_READ = 64 * 1024 * 1024
_TEXT = 8192
"""First bytes of a file that decide whether it is a text."""


def replacement(path: str, content: bytes, shown: str) -> bytes:
    """Return what a file is to hold, with the byte order mark that it has; blocks.

    Args:
        path: Of the file, which need not exist.
        content: UTF-8.
        shown: The path for a message.

    Raises:
        ToolFailure: The file is a text in another encoding, which would be lost.
    """
    from pi_tools.local_files import open_regular

    old, whole = b"", True
    with suppress(OSError, ToolFailure):  # it does not exist, or writing will say what is wrong
        file, _ = open_regular(path)
        with file:
            old = file.read(_MOST_READ) or b""
            whole = len(old) < _MOST_READ
    if old.startswith(codecs.BOM_UTF8) and content and not content.startswith(codecs.BOM_UTF8):
        content = codecs.BOM_UTF8 + content
    if old.isascii() and b"\0" not in old[:_TEXT]:
        return content
    wide = detect(old) if b"\0" in old[:_TEXT] else None
    found = None if wide == "binary" else wide
    if found is None and b"\0" not in old[:_TEXT] and not is_utf8(old, whole=whole):
        found = detect(old) or "none that is known"
    if found is None:
        return content
    raise ToolFailure(
        f"Could not write file: {shown}. It is not UTF-8 (detected: {found}), and UTF-8 would replace its encoding. "
        "Change it with a program that knows its encoding, convert it with bash (iconv), or delete it first."
    )
