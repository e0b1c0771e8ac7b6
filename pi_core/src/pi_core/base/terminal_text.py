r"""Escaping of text from models, tools, files and plugins, so that it is safe to write to a terminal.

A terminal executes escape sequences from any source, and direction marks can make a command look different from what
actually runs. ``clean_text`` and ``one_line`` replace control and invisible characters with Python's escapes, such as
``\x1b`` and ``\u202e``, so that the reader sees them. They are idempotent. Colours are added around their results,
never to their arguments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_hookspecs.hidden import HIDDEN, is_visible

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["clean_text", "hidden_characters", "one_line"]


def clean_text(text: str) -> str:
    r"""Return text with control and invisible characters escaped; newlines and tabs are kept.

    A carriage return is dropped before a newline and at the end, where it belongs to a line ending. Joiners and
    variation selectors are kept where a script or an emoji needs them, and at the beginning and the end of the text, so
    that a stream can be cleaned in chunks.
    """
    if is_visible(text):
        return text
    return re.sub(HIDDEN, _escape, re.sub(r"\r+(?=\n|\Z)", "", text))


def hidden_characters(text: str) -> Iterator[tuple[int, str]]:
    """Yield the index and the character of everything that ``clean_text`` escapes."""
    if is_visible(text):
        return
    for found in re.finditer(rf"(?!\r+\n)(?:{HIDDEN})", text.rstrip("\r")):
        yield found.start(), found[0]


def one_line(text: str) -> str:
    """Return cleaned text on one line: each run of whitespace becomes one space, and the ends are stripped."""
    return clean_text(" ".join(text.split()))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
