"""Diffs of an edit, for display (numbered lines) and for programs (unified patch)."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_tools.editing.match import Change

__all__ = ["Differences", "differences"]

_CONTEXT = 4
_NO_NEWLINE = "\\ No newline at end of file"
_EXACT_LINES = 2000
"""Above this many touched lines a region is shown as replaced as a whole: comparing takes quadratic time."""


class Differences(NamedTuple):
    """``details`` of an edit."""

    diff: str
    patch: str
    first_changed_line: int | None


class _Hunk(NamedTuple):
    """Lines ``[old, old_end)`` became ``[new, new_end)``, counted from 0."""

    old: int
    old_end: int
    new: int
    new_end: int


def differences(
    old: str, new: str, changes: Sequence[Change], path: str, *, above: int = 0, height: int | None = None
) -> Differences:
    """Return the differences between two texts, given the changed regions.

    Args:
        old: With line feeds only.
        new: With line feeds only.
        changes: The touched lines, in order.
        path: For the patch's header.
        above: The number of lines before both texts, if they are parts.
        height: The number of line feeds of the longer text, if they are parts.
    """
    before, after = _lines(old), _lines(new)
    hunks = _joined(_hunks(before, after, changes))
    first = above + hunks[0].new + 1 if hunks else None
    width = len(str((max(old.count("\n"), new.count("\n")) if height is None else height) + 1))
    display = _display(before, after, hunks, width=width, above=above)
    return Differences(display, _patch(before, after, hunks, path, above=above), first)


def _lines(text: str) -> list[str]:
    """Split into lines that keep their line feed, so that the last one shows whether it has one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunks(before: list[str], after: list[str], changes: Sequence[Change]) -> Iterator[_Hunk]:
    shift = 0
    for change in changes:
        end = min(change.end, len(before))
        start = min(change.start, end)
        new_start = start + shift
        new_end = min(change.start + shift + change.height, len(after))
        shift += change.height - (change.end - change.start)
        a, b = before[start:end], after[new_start:new_end]
        if len(a) > _EXACT_LINES or len(b) > _EXACT_LINES:
            yield _Hunk(start, end, new_start, new_end)
            continue
        for tag, i, i_end, j, j_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            if tag != "equal":
                yield _Hunk(start + i, start + i_end, new_start + j, new_start + j_end)


def _joined(hunks: Iterable[_Hunk]) -> list[_Hunk]:
    """Join hunks without a line between them."""
    joined: list[_Hunk] = []
    for hunk in hunks:
        if joined and (joined[-1].old_end, joined[-1].new_end) == (hunk.old, hunk.new):
            hunk = _Hunk(joined[-1].old, hunk.old_end, joined.pop().new, hunk.new_end)  # noqa: PLW2901 - the same, longer
        joined.append(hunk)
    return joined


def _display(before: list[str], after: list[str], hunks: list[_Hunk], *, width: int, above: int) -> str:
    out: list[str] = []
    gap = f" {'':>{width}} ..."
    first = above + 1

    def context(start: int, end: int) -> None:
        out.extend(f" {first + number:>{width}} {_text(before[number])}" for number in range(start, end))

    at = 0
    for index, hunk in enumerate(hunks):
        head = 0 if index == 0 else min(at + _CONTEXT, hunk.old)
        if index:
            context(at, head)
        tail = max(hunk.old - _CONTEXT, head)
        if tail > head:
            out.append(gap)
        context(tail, hunk.old)
        out.extend(f"-{first + number:>{width}} {_text(before[number])}" for number in range(hunk.old, hunk.old_end))
        out.extend(f"+{first + number:>{width}} {_text(after[number])}" for number in range(hunk.new, hunk.new_end))
        at = hunk.old_end
    if hunks:
        end = min(at + _CONTEXT, len(before))
        context(at, end)
        if end < len(before):
            out.append(gap)
    return "\n".join(out)


def _text(line: str) -> str:
    return line.removesuffix("\n")


def _patch(before: list[str], after: list[str], hunks: list[_Hunk], path: str, *, above: int) -> str:
    out = [f"--- {path}", f"+++ {path}"]
    for group in _near(hunks):
        first, last = group[0], group[-1]
        start, end = max(first.old - _CONTEXT, 0), min(last.old_end + _CONTEXT, len(before))
        new_start, new_end = first.new - (first.old - start), last.new_end + (end - last.old_end)
        old_range, new_range = _range(above + start, above + end), _range(above + new_start, above + new_end)
        out.append(f"@@ -{old_range} +{new_range} @@")
        at = start
        for hunk in group:
            _put(out, " ", before[at : hunk.old])
            _put(out, "-", before[hunk.old : hunk.old_end])
            _put(out, "+", after[hunk.new : hunk.new_end])
            at = hunk.old_end
        _put(out, " ", before[at:end])
    return "\n".join(out) + "\n"


def _range(start: int, end: int) -> str:
    """Return a range in the format of a patch: an empty one by the line before it."""
    return f"{start + 1},{end - start}" if end > start else f"{start},0"


def _put(out: list[str], sign: str, lines: Sequence[str]) -> None:
    for line in lines:
        out.append(sign + _text(line))
        if not line.endswith("\n"):
            out.append(_NO_NEWLINE)


def _near(hunks: list[_Hunk]) -> list[list[_Hunk]]:
    """Group hunks whose context would touch."""
    groups: list[list[_Hunk]] = []
    for hunk in hunks:
        if groups and hunk.old - groups[-1][-1].old_end <= 2 * _CONTEXT:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups
