"""Cleaning of text and numbers: lone surrogates, undecodable file names, counts that are not integers."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["as_count", "clean", "number_text", "show_name", "show_names", "to_utf8"]

# Patterns are compiled when they are first used: defining the tools needs none.
_SURROGATES = "[\ud800-\udfff]"
_UNSHOWABLE_LINES = "[\x00-\x09\x0b-\x1f\x7f\udc80-\udcff]"
_UNSHOWABLE = "[\x00-\x1f\x7f\udc80-\udcff]"
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e", "\\": "\\\\", "'": "\\'"}


def clean(text: str) -> str:
    """Return the text with U+FFFD for every lone surrogate, which no encoder accepts; pairs are joined."""
    if text.isascii() or re.search(_SURROGATES, text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_utf8(text: str) -> bytes:
    """Encode any text; a lone surrogate becomes U+FFFD."""
    return clean(text).encode()


def show_name(name: str) -> str:
    r"""Return a file name on one line: one that needs it in the shell's ``$'...'`` form (``$'a\nb'``).

    A name with a newline would read as two entries, and one that is not UTF-8 could not be stored;
    in this form both can be passed to ``bash`` unchanged.
    """
    if re.search(_UNSHOWABLE, name) is None:
        return clean(name)

    def escape(char: str) -> str:
        if char in _ESCAPES:
            return _ESCAPES[char]
        if "\udc80" <= char <= "\udcff":
            return f"\\x{ord(char) - 0xDC00:02x}"
        return f"\\x{ord(char):02x}" if re.match(_UNSHOWABLE, char) else char

    return clean("$'" + "".join(map(escape, name)) + "'")


def show_names(names: Sequence[str]) -> str:
    """Return file names one per line, each as from ``show_name``."""
    joined = "\n".join(names)
    one_line_each = joined.count("\n") == len(names) - 1
    if one_line_each and (joined.replace("\n", " ").isprintable() or re.search(_UNSHOWABLE_LINES, joined) is None):
        return clean(joined)
    return "\n".join(map(show_name, names))


def as_count(value: Any, default: int) -> int:
    """Return a number of the model as an integer no index can exceed; the default if it is missing or not a number."""
    if value is None or value != value:  # noqa: PLR0124 - the test for NaN
        return default
    if abs(value) > sys.maxsize:  # infinity too; and Python does not convert an integer of 5000 digits to text
        return sys.maxsize if value > 0 else -sys.maxsize
    return int(value)


def number_text(value: float) -> str:
    """Return the number without a needless fraction: ``5`` for 5.0, ``0.5`` for 0.5."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
