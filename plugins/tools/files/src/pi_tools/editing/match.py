"""Finds the texts of edits in a file, and applies all edits.

A file is lines, each with the ending it has. Matching sees the lines joined by a line feed; the
result is written back line by line, so that an untouched line keeps its bytes, its ending included.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Change", "Edit", "apply", "normalize", "split_lines"]

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_JS_SPACES = "\t\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
_FUZZY = {
    **dict.fromkeys(range(0x2018, 0x201C), "'"),
    **dict.fromkeys(range(0x201C, 0x2020), '"'),
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-"),
    **dict.fromkeys((0xA0, *range(0x2002, 0x200B), 0x202F, 0x205F, 0x3000), " "),
}


class Edit(NamedTuple):
    """One replacement, as requested by the model."""

    old: str
    new: str


class Change(NamedTuple):
    """Lines ``[start, end)`` of the old file that were replaced, by that many of the new one."""

    start: int
    end: int
    height: int


class _Match(NamedTuple):
    number: int
    start: int
    end: int
    new: str


def split_lines(text: str) -> tuple[list[str], list[str]]:
    """Return the lines and their endings (CRLF, LF or CR); the last line has none, and may be empty."""
    lines, endings = [], []
    if "\r" not in text:
        lines = text.split("\n")
        return lines, ["\n"] * (len(lines) - 1) + [""]
    for match in _LINE.finditer(text):
        lines.append(match[1])
        endings.append(match[2])
        if not match[2]:
            break
    return lines, endings


def _unify(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def normalize(text: str) -> str:
    """Return the normal form of a text for fuzzy matching: same lines, NFKC, plain quotes, dashes and spaces."""
    if text.isascii():
        return "\n".join(line.rstrip(_JS_SPACES) for line in text.split("\n"))
    lines = (line.rstrip(_JS_SPACES) for line in unicodedata.normalize("NFKC", text).split("\n"))
    return "\n".join(lines).translate(_FUZZY)


def apply(text: str, edits: Sequence[Edit], path: str) -> tuple[str, list[Change]]:
    """Return the text with all edits made, and which lines they touched, in order.

    All edits are matched against the text as it is: exactly, and only if one of them is not found,
    all of them fuzzily; touched lines are then normalised.

    Raises:
        ToolFailure: Not found, found more than once, overlapping, empty, or nothing would change.
    """
    several = len(edits) > 1
    wanted = [Edit(_unify(edit.old), _unify(edit.new)) for edit in edits]
    for number, edit in enumerate(wanted):
        if not edit.old:
            subject = f"edits[{number}].oldText" if several else "oldText"
            raise ToolFailure(f"{subject} must not be empty in {path}.")
    lines, endings = split_lines(text)
    base = exact = "\n".join(lines)
    if any(edit.old not in exact for edit in wanted):
        base = normalize(exact)
    matches = _find(base, normalize(base), wanted, path, several=several)
    result, changes = _rewrite(base, lines, endings, matches)
    if result == text:
        tail = (
            "The replacements produced identical content."
            if several
            else "The replacement produced identical content. This might indicate an issue with special characters "
            "or the text not existing as expected."
        )
        raise ToolFailure(f"No changes made to {path}. {tail}")
    return result, changes


def _find(base: str, normal: str, edits: Sequence[Edit], path: str, *, several: bool) -> list[_Match]:
    matches = []
    for number, edit in enumerate(edits):
        start, length = base.find(edit.old), len(edit.old)
        if start < 0 and base == normal and (old := normalize(edit.old)):
            start, length = base.find(old), len(old)
        if start < 0:
            raise _not_found(number, path, several=several)
        count = normal.count(normalize(edit.old)) if normalize(edit.old) else base.count(edit.old)
        if count > 1:
            raise _duplicate(number, count, path, several=several)
        matches.append(_Match(number, start, start + length, edit.new))
    matches.sort(key=lambda match: (match.start, match.end))
    for before, after in pairwise(matches):
        if before.end > after.start:
            raise ToolFailure(
                f"edits[{before.number}] and edits[{after.number}] overlap in {path}. "
                "Merge them into one edit or target disjoint regions."
            )
    return matches


def _not_found(number: int, path: str, *, several: bool) -> ToolFailure:
    must = "must match exactly including all whitespace and newlines."
    if several:
        return ToolFailure(f"Could not find edits[{number}] in {path}. The oldText {must}")
    return ToolFailure(f"Could not find the exact text in {path}. The old text {must}")


def _duplicate(number: int, count: int, path: str, *, several: bool) -> ToolFailure:
    ask = "Please provide more context to make it unique."
    if several:
        return ToolFailure(
            f"Found {count} occurrences of edits[{number}] in {path}. Each oldText must be unique. {ask}"
        )
    return ToolFailure(f"Found {count} occurrences of the text in {path}. The text must be unique. {ask}")


def _rewrite(base: str, lines: list[str], endings: list[str], matches: Sequence[_Match]) -> tuple[str, list[Change]]:
    """Join the lines: untouched ones unchanged, touched ones from the base with the edits applied."""
    shown = base.split("\n")
    starts = list(accumulate((len(line) + 1 for line in shown), initial=0))
    out: list[str] = []
    changes: list[Change] = []
    at = 0
    for group in _by_lines(matches, starts):
        first, last = _line_at(starts, group[0].start), _line_at(starts, group[-1].end)
        out += (line + ending for line, ending in zip(lines[at:first], endings[at:first], strict=True))
        span = (starts[first], starts[last] + len(shown[last]))
        pieces = _replaced(base, span, group, starts, endings)
        fresh = _join(pieces, endings, last)
        for index, number in ((0, first), (-1, last)):  # the match reached this line, and changed nothing in it
            if fresh and fresh[index][0] == shown[number]:
                fresh[index] = (lines[number], fresh[index][1])
        out += (line + ending for line, ending in fresh)
        changes.append(Change(first, last + 1, len(fresh)))
        at = last + 1
    out += (line + ending for line, ending in zip(lines[at:], endings[at:], strict=True))
    _keep_apart(out)
    return "".join(out), changes


def _keep_apart(out: list[str]) -> None:
    """Give an empty line after a CR that ending, too: with an LF the two would form one line break."""
    for index in range(1, len(out)):
        if out[index] == "\n" and out[index - 1].endswith("\r"):
            out[index] = "\r"


def _line_at(starts: list[int], offset: int) -> int:
    return min(bisect_right(starts, offset) - 1, len(starts) - 2)


def _by_lines(matches: Sequence[_Match], starts: list[int]) -> list[list[_Match]]:
    """Group matches that share a line."""
    groups: list[list[_Match]] = []
    for match in matches:
        if groups and _line_at(starts, groups[-1][-1].end) >= _line_at(starts, match.start):
            groups[-1].append(match)
        else:
            groups.append([match])
    return groups


def _replaced(
    base: str, span: tuple[int, int], group: list[_Match], starts: list[int], endings: list[str]
) -> list[tuple[str, list[str]]]:
    """Return the new text of whole touched lines in pieces, each with the endings that its line breaks had."""
    pieces: list[tuple[str, list[str]]] = []
    at, end = span
    for match in group:
        pieces.append((base[at : match.start], _endings(at, match.start, starts, endings)))
        pieces.append((match.new, _endings(match.start, match.end, starts, endings)))
        at = match.end
    pieces.append((base[at:end], _endings(at, end, starts, endings)))
    return pieces


def _endings(start: int, end: int, starts: list[int], endings: list[str]) -> list[str]:
    """Return the endings of the line breaks in ``base[start:end]``."""
    return endings[_line_at(starts, start) : _line_at(starts, end)]


def _join(pieces: list[tuple[str, list[str]]], endings: list[str], last: int) -> list[tuple[str, str]]:
    """Return the new lines and their endings: those that were there in their order, then the one used nearby."""
    near = endings[last] or (endings[last - 1] if last else "") or "\n"
    out, line = [], ""
    for text, had in pieces:
        first, *more = text.split("\n")
        line += first
        for index, following in enumerate(more):
            out.append((line, had[index] if index < len(had) else near))
            line = following
    if line or endings[last]:
        out.append((line, endings[last]))
    return out
