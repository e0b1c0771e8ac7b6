"""Determines which errors an edit introduced: those that the file did not have before, on any line."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Finding", "new_findings"]

_PLACE = re.compile(r"\b(line|column|row|col)s? \d+|\b\d+:\d+\b")
"""Positions in messages ("redefinition of x from line 3"): they change with every line that is inserted above."""


@frozen
class Finding:
    """An error in a file.

    Attributes:
        line: From 1.
        column: From 1, in the units of the program that found it.
        message: The program's own words.
        code: Its name of the rule; empty if there is none.
        source: The program's name.
    """

    line: int
    column: int
    message: str
    code: str = ""
    source: str = ""


def new_findings(before: Iterable[Finding], after: Sequence[Finding], old: str, new: str) -> list[Finding]:
    """Return the errors that were not there before, in the order of ``after``.

    Errors are the same if program, rule and message are, positions aside: an error that only moved is not new. If a
    file now has more of the same, as many are returned as have been added, those on changed lines first.

    Args:
        before: The errors of the old text.
        after: The errors of the new text.
        old: The text before the edit.
        new: The text after it.
    """
    known = Counter(map(_identity, before))
    added = {each: count - known[each] for each, count in Counter(map(_identity, after)).items() if count > known[each]}
    first, last = _changed_lines(old, new)
    by_likelihood = sorted(range(len(after)), key=lambda at: not first <= after[at].line <= last)
    chosen = set()
    for at in by_likelihood:
        identity = _identity(after[at])
        if added.get(identity, 0):
            added[identity] -= 1
            chosen.add(at)
    return [after[at] for at in sorted(chosen)]


def _identity(finding: Finding) -> tuple[str, str, str]:
    return finding.source, finding.code, _PLACE.sub("", finding.message)


def _changed_lines(old: str, new: str) -> tuple[int, int]:
    """Return the first and the last line of the new text that the edit may have changed, from 1."""
    before, after = old.splitlines(), new.splitlines()
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    most = shorter - head
    tail = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
    return head + 1, len(after) - tail
