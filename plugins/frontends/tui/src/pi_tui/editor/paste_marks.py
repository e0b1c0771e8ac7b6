"""Marks of long pastes: one character of the text, drawn as ``[paste #1 +30 lines]`` and sent as the pasted text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pi_tui.editor.clusters import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Pastes", "is_long"]

_LINES = 10

_CHARACTERS = 1000

_MARK = re.compile(f"[{chr(MARKS.start)}-{chr(MARKS.stop - 1)}]")


def is_long(text: str) -> bool:
    """Whether a paste is long enough to be replaced by a mark."""
    return len(text) > _CHARACTERS or _lines(text) > _LINES


class Pastes(NamedTuple):
    """Pasted texts by their marks, which are characters of ``MARKS``."""

    texts: tuple[tuple[str, str], ...] = ()

    def added(self, text: str) -> tuple[Pastes, str]:
        """Return the pastes with another one, and its mark; the text itself instead of a mark if all marks are used."""
        code = ord(self.texts[-1][0]) + 1 if self.texts else MARKS.start
        if code not in MARKS:
            return self, text
        return Pastes((*self.texts, (chr(code), text))), chr(code)

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The text that is drawn for each mark."""
        return tuple((mark, _label(ord(mark) - MARKS.start + 1, text)) for mark, text in self.texts)

    def expanded(self, text: str) -> str:
        """Return a text with the pasted texts in place of their marks."""
        texts = dict(self.texts)
        return _MARK.sub(lambda mark: texts.get(mark[0], mark[0]), text)

    def folded(self, text: str) -> str:
        """Return a text with marks in place of unchanged pasted texts; each mark is used at most once."""
        for mark, pasted in sorted(self.texts, key=lambda each: len(each[1]), reverse=True):
            text = text.replace(pasted, mark, 1)
        return text

    def kept(self, texts: Iterable[str]) -> Pastes:
        """Return only the pastes whose marks occur in one of these texts."""
        used = {mark for text in texts for mark in _MARK.findall(text)}
        return Pastes(tuple(each for each in self.texts if each[0] in used))


def _label(number: int, text: str) -> str:
    lines = _lines(text)
    return f"[paste #{number} +{lines} lines]" if lines > _LINES else f"[paste #{number} {len(text)} chars]"


def _lines(text: str) -> int:
    """Return the number of lines; a trailing newline does not begin another one."""
    return text.count("\n") + (not text.endswith("\n"))
