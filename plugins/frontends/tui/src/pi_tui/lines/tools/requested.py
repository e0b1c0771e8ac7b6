"""The diff of an edit that has not been made yet, such as one that waits for approval.

Line numbers and context come from the file. Where it cannot be read, or a text is not in it exactly once, the diff is
that of the texts in the call alone.
"""

from __future__ import annotations

from difflib import SequenceMatcher, unified_diff
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_tui.lines.look import Look

__all__ = ["requested"]

_MOST = 20_000
"""Maximum characters of a replacement that is displayed."""

_CONTEXT = 4
_EXACT_LINES = 500
"""Above this many lines of a change, all of them are displayed as replaced: comparing takes quadratic time."""


def requested(arguments: Mapping[str, Any] | None, look: Look) -> Iterator[str]:
    """Yield the lines of the diff, in the format of the tool's own; none while the arguments are incomplete."""
    if arguments is None:
        return
    edits = [*_edits(arguments)]
    path = arguments.get("path", arguments.get("file_path"))
    read = look.text_of(path) if look.text_of is not None and isinstance(path, str) and edits else None
    text = None if read is None else read.replace("\r\n", "\n")
    changes = None if text is None else _changes(text, edits)
    if text is None or changes is None:
        for old, new in edits:
            lines = unified_diff(clean(old).splitlines(), clean(new).splitlines(), n=2, lineterm="")
            yield from (f"{line[0]} {line[1:]}" for line in islice(lines, 3, None))
    else:
        yield from _numbered(text, [*_hunks(changes)])


def _edits(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    given = arguments.get("edits")
    for edit in given if isinstance(given, list) else [arguments]:
        old, new = (edit.get("oldText"), edit.get("newText")) if isinstance(edit, dict) else (None, None)
        if isinstance(old, str) and isinstance(new, str) and len(old) + len(new) <= _MOST:
            yield old, new


class _Change(NamedTuple):
    """Lines of the file from ``start`` on, counted from 0, and what takes their place."""

    start: int
    old: Sequence[str]
    new: Sequence[str]


def _changes(text: str, edits: Sequence[tuple[str, str]]) -> list[_Change] | None:
    """Return the changed lines in their order; None if a text is not in the file once, or two change one line."""
    changes: list[_Change] = []
    for edit in edits:
        old, new = (each.replace("\r\n", "\n") for each in edit)
        at = text.find(old) if old else -1
        if at < 0 or text.find(old, at + 1) >= 0:
            return None
        if old.endswith("\n") and new.endswith("\n"):  # whole lines: the line after them is not part of the change
            old, new = old[:-1], new[:-1]
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at + len(old))
        end = len(text) if end < 0 else end
        whole = text[begin:at] + new + text[at + len(old) : end]
        changes.append(_Change(text.count("\n", 0, begin), text[begin:end].split("\n"), whole.split("\n")))
    changes.sort()
    apart = all(one.start + len(one.old) <= two.start for one, two in pairwise(changes))
    return changes if apart else None


def _hunks(changes: Sequence[_Change]) -> Iterator[_Change]:
    """Yield the lines that differ, without those around them that a call repeats so that its text is found."""
    for start, old, new in changes:
        if max(len(old), len(new)) > _EXACT_LINES:
            yield _Change(start, old, new)
            continue
        for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                yield _Change(start + i, old[i:i_end], new[j:j_end])


def _numbered(text: str, hunks: Sequence[_Change]) -> Iterator[str]:
    lines = text.removesuffix("\n").split("\n")
    last = text.count("\n") + 1
    width = len(str(max(last, last + sum(len(hunk.new) - len(hunk.old) for hunk in hunks))))
    at = shift = 0

    def rows(sign: str, texts: Sequence[str], first: int) -> Iterator[str]:
        return (f"{sign}{number:>{width}} {clean(text)}" for number, text in enumerate(texts, first + 1))

    for index, hunk in enumerate(hunks):
        head = min(at + _CONTEXT, hunk.start) if index else 0
        tail = max(hunk.start - _CONTEXT, head)
        yield from rows(" ", lines[at:head], at)
        if tail > head:
            yield f" {'':>{width}} ..."
        yield from rows(" ", lines[tail : hunk.start], tail)
        yield from rows("-", hunk.old, hunk.start)
        yield from rows("+", hunk.new, hunk.start + shift)
        at, shift = hunk.start + len(hunk.old), shift + len(hunk.new) - len(hunk.old)
    if hunks:
        yield from rows(" ", lines[at : at + _CONTEXT], at)
        if at + _CONTEXT < len(lines):
            yield f" {'':>{width}} ..."
