"""The numbered diff of an edit: removed and added lines in their colours, with the changed words reversed."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.lines.wrap import chop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_hookspecs import Line

__all__ = ["diff_rows"]

_ROW = re.compile(r"([-+ ])( *\d+| +) ?(.*)", re.DOTALL)

_ROLES = {"-": "toolDiffRemoved", "+": "toolDiffAdded", " ": "toolDiffContext"}

_WORDS = re.compile(r"\w+|\s+|.")

_LONGEST = 2000
"""Maximum number of characters of a line whose words are compared."""


def diff_rows(diff: str, width: int) -> list[Line]:
    """Return the rows of a diff.

    Args:
        diff: Lines that begin with ``-``, ``+`` or a space and a number, as the tool ``edit`` returns them.
        width: Cells of a row.
    """
    lines = diff.split("\n")
    rows: list[Line] = []
    at = 0
    while at < len(lines):
        removed = _block(lines, at, "-")
        added = _block(lines, at + len(removed), "+")
        if len(removed) == len(added) == 1:  # a changed line: find the words that differ
            rows += _changed(removed[0], added[0], width)
        else:
            rows += [row for line in (removed + added or lines[at : at + 1]) for row in _plain(line, width)]
        at += len(removed) + len(added) or 1
    return rows


def _block(lines: Sequence[str], start: int, sign: str) -> list[str]:
    end = start
    while end < len(lines) and lines[end].startswith(sign):
        end += 1
    return [*lines[start:end]]


def _plain(line: str, width: int) -> list[Line]:
    return chop([Run(line, _ROLES.get(line[:1], "toolDiffContext"))], width)


def _changed(removed: str, added: str, width: int) -> Iterator[Line]:
    old, new = _ROW.match(removed), _ROW.match(added)
    if old is None or new is None or max(len(old[3]), len(new[3])) > _LONGEST:
        yield from (*_plain(removed, width), *_plain(added, width))
        return
    before, after = _WORDS.findall(old[3]), _WORDS.findall(new[3])
    same = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept_before = {index for block in same for index in range(block.a, block.a + block.size)}
    kept_after = {index for block in same for index in range(block.b, block.b + block.size)}
    yield from _marked(removed[: old.start(3)], before, kept_before, _ROLES["-"], width)
    yield from _marked(added[: new.start(3)], after, kept_after, _ROLES["+"], width)


def _marked(head: str, words: Sequence[str], kept: set[int], role: str, width: int) -> list[Line]:
    """Return the rows of a line; changed words are reversed unless they consist only of spaces."""
    runs = [Run(head, role)]
    runs += [Run(word, role, reverse=index not in kept and not word.isspace()) for index, word in enumerate(words)]
    return chop(_merged(runs), width)


def _merged(runs: Sequence[Run]) -> list[Run]:
    merged = [runs[0]]
    for run in runs[1:]:
        last = merged[-1]
        if last[1:] == run[1:]:
            merged[-1] = last._replace(text=last.text + run.text)
        else:
            merged.append(run)
    return merged
