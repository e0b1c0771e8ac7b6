"""Finds the texts of edits in a file, and applies all edits.

A file is lines, each with the ending it has. Matching sees the lines joined by a line feed; the result is written back
line by line, so that everything outside the matches keeps its bytes, line endings included. A text that is not there
exactly is looked for in normal form (``normalize``), and then the part of the file that has this form is replaced.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Applied", "Change", "Edit", "Loose", "apply", "normalize", "split_lines"]

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


class Loose(NamedTuple):
    """A match in normal form only: the edit's number, the line where it begins, counted from 1, and the file's text."""

    number: int
    line: int
    text: str


class Applied(NamedTuple):
    """The text with all edits made, which lines they touched, and which of them did not match exactly; in order.

    ``old`` and ``new`` are the part of both texts in which that is, with line feeds only and with more lines around it
    than a diff shows. ``above`` is the number of lines before the part; ``changes`` are counted from its beginning.
    """

    text: str
    changes: list[Change]
    loose: list[Loose]
    old: str
    new: str
    above: int


class _Match(NamedTuple):
    number: int
    start: int
    end: int
    new: str
    exact: bool


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


def _is_normal(text: str) -> bool:
    """Return whether it is quick to see that a text with line feeds only is in normal form."""
    blanks = [blank for blank in _JS_SPACES if blank.isascii() and blank in text]
    return text.isascii() and not any(text.endswith(blank) or f"{blank}\n" in text for blank in blanks)


def apply(text: str, edits: Sequence[Edit], path: str) -> Applied:
    """Return the text with all edits made.

    Each edit is matched against the text as it is, whatever the others need: exactly, or else in normal form.

    Raises:
        ToolFailure: Not found, found more than once, overlapping, empty, or nothing would change.
    """
    several = len(edits) > 1
    wanted = [Edit(_unify(edit.old), _unify(edit.new)) for edit in edits]
    for number, edit in enumerate(wanted):
        if not edit.old:
            subject = f"edits[{number}].oldText" if several else "oldText"
            raise ToolFailure(f"{subject} must not be empty in {path}.")
    base = text if "\r" not in text else _unify(text)
    matches = _find(base, wanted, path, several=several)
    begin, end = _part(base, matches) if base is text else (0, len(text))
    part = text[begin:end]
    lines, endings = split_lines(part)
    old = part if base is text else base
    inside = [match._replace(start=match.start - begin, end=match.end - begin) for match in matches]
    changed, changes = _rewrite(old, lines, endings, inside)
    if changed == part:
        tail = (
            "The replacements produced identical content."
            if several
            else "The replacement produced identical content. This might indicate an issue with special characters "
            "or the text not existing as expected."
        )
        raise ToolFailure(f"No changes made to {path}. {tail}")
    loose = [
        Loose(match.number, base.count("\n", 0, match.start) + 1, base[match.start : match.end])
        for match in matches
        if not match.exact
    ]
    new = "\n".join(split_lines(changed)[0])
    return Applied(text[:begin] + changed + text[end:], changes, loose, old, new, base.count("\n", 0, begin))


_AROUND = 6
"""Lines before and after the matches that are looked at: more than a diff shows."""


def _part(base: str, matches: Sequence[_Match]) -> tuple[int, int]:
    """Return begin and end of the whole lines in which all matches are, with some around them."""
    begin, end = matches[0].start, max(match.end for match in matches)
    for _ in range(_AROUND):
        begin = max(base.rfind("\n", 0, begin), 0)
        found = base.find("\n", end)
        end = found + 1 if found >= 0 else len(base)
    return (begin + 1 if base.startswith("\n", begin) and begin else begin), end


def _find(base: str, edits: Sequence[Edit], path: str, *, several: bool) -> list[_Match]:
    matches = []
    normal = _NormalForm(base)
    for number, edit in enumerate(edits):
        start = base.find(edit.old)
        count = normal.count(edit.old)
        if count > 1:
            differ = base.count(edit.old) != count
            raise _duplicate(number, count, normal.places(edit.old), path, several=several, differ=differ)
        if start >= 0:
            matches.append(_Match(number, start, start + len(edit.old), edit.new, exact=True))
            continue
        span = normal.find(edit.old)
        if span is None:
            raise _not_found(number, edit.old, base, path, several=several)
        matches.append(_Match(number, *span, edit.new, exact=False))
    matches.sort(key=lambda match: (match.start, match.end))
    for before, after in pairwise(matches):
        if before.end > after.start:
            raise ToolFailure(
                f"edits[{before.number}] and edits[{after.number}] overlap in {path}. "
                "Merge them into one edit or target disjoint regions."
            )
    return matches


class _NormalForm:
    """A text in normal form, line for line, and which parts of the text its parts come from."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._text = base if _is_normal(base) else normalize(base)

    @cached_property
    def _lines(self) -> list[str]:
        return self._base.split("\n")

    def count(self, old: str) -> int:
        """Return how often a text occurs as a reader sees it."""
        form = normalize(old)
        return self._text.count(form) if form else self._base.count(old)

    def find(self, old: str) -> tuple[int, int] | None:
        """Return where the one part of the text with the form of another begins and ends.

        None if there is none, or if it would begin or end within a character, as the "i" in the ligature "fi".
        """
        form = normalize(old)
        at = self._text.find(form) if form else -1
        return None if at < 0 else self._span(at, at + len(form), old)

    def places(self, old: str) -> list[str]:
        """Return the first places of a text as numbered lines, with the line before each, which may differ."""
        form = normalize(old)
        found: list[str] = []
        at = self._text.find(form) if form else -1
        while at >= 0 and len(found) < _MOST_PLACES:
            number = self._text.count("\n", 0, at)
            lines = range(max(number - 1, 0), number + 1)
            found.append("\n".join(f"{each + 1}: {self._lines[each][:_SHOWN]}" for each in lines))
            at = self._text.find(form, at + len(form))
        return found

    def _span(self, start: int, end: int, old: str) -> tuple[int, int] | None:
        forms = self._text.split("\n")
        starts = list(accumulate((len(line) + 1 for line in forms), initial=0))
        origins = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        first, last = _line_at(starts, start), _line_at(starts, end)
        if old.startswith("\n"):
            begin: int | None = len(self._lines[first])
        else:
            begin = _origin(self._lines[first], start - starts[first])
        column = end - starts[last]
        if column == len(forms[last]) and old.rstrip(_JS_SPACES) != old:
            finish: int | None = len(self._lines[last])  # it ends with blanks, and so do those of the line
        else:
            finish = _origin(self._lines[last], column)
        return None if begin is None or finish is None else (origins[first] + begin, origins[last] + finish)


_MOST_PLACES = 5
"""Places of a text that occurs more than once in a message."""
_SHOWN = 200
"""Characters of a line in a message."""


def _origin(line: str, column: int) -> int | None:
    """Return the place in a line that a place in its normal form comes from; None for one within a character."""
    if line.isascii():
        return column
    at = origin = 0
    for cluster in _clusters(line):
        if at >= column:
            break
        at += len(unicodedata.normalize("NFKC", cluster))
        origin += len(cluster)
    return origin if at == column else None


_FIRST_COMBINING = "\u0300"


def _clusters(line: str) -> Iterator[str]:
    """Split a line where normalising the parts is the same as normalising the whole."""
    cluster = ""
    for char in line:
        if cluster and (char < _FIRST_COMBINING or _apart(cluster, char)):
            yield cluster
            cluster = ""
        cluster += char
    if cluster:
        yield cluster


def _apart(cluster: str, char: str) -> bool:
    if unicodedata.combining(char):
        return False
    form = unicodedata.normalize
    return form("NFKC", cluster + char) == form("NFKC", cluster) + form("NFKC", char)


def _not_found(number: int, old: str, base: str, path: str, *, several: bool) -> ToolFailure:
    from pi_tools.editing.closest import closest

    must = "must match exactly including all whitespace and newlines."
    near = closest(old, base)
    more = f"\n\nThe most similar text in the file:\n{near}" if near else ""
    if several:
        return ToolFailure(f"Could not find edits[{number}] in {path}. The oldText {must}{more}")
    return ToolFailure(f"Could not find the exact text in {path}. The old text {must}{more}")


def _duplicate(number: int, count: int, places: list[str], path: str, *, several: bool, differ: bool) -> ToolFailure:
    ask = "Please provide more context to make it unique."
    head = "They differ only in the form of characters or in blanks:" if differ else "They are at these lines:"
    rest = [f"... and {count - len(places)} more"] if count > len(places) else []
    more = "\n\n" + "\n".join((head, "\n\n".join(places), *rest)) if places else ""
    if several:
        return ToolFailure(
            f"Found {count} occurrences of edits[{number}] in {path}. Each oldText must be unique. {ask}{more}"
        )
    return ToolFailure(f"Found {count} occurrences of the text in {path}. The text must be unique. {ask}{more}")


def _rewrite(base: str, lines: list[str], endings: list[str], matches: Sequence[_Match]) -> tuple[str, list[Change]]:
    """Join the lines: untouched ones unchanged, touched ones with the edits applied."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    out: list[str] = []
    changes: list[Change] = []
    at = 0
    for group in _by_lines(matches, starts):
        first, last = _line_at(starts, group[0].start), _line_at(starts, group[-1].end)
        out += (line + ending for line, ending in zip(lines[at:first], endings[at:first], strict=True))
        span = (starts[first], starts[last] + len(lines[last]))
        pieces = _replaced(base, span, group, starts, endings)
        fresh = _join(pieces, endings, last)
        out += (line + ending for line, ending in fresh)
        changes.append(Change(first, last + 1, len(fresh)))
        at = last + 1
    out += (line + ending for line, ending in zip(lines[at:], endings[at:], strict=True))
    _keep_apart(out)
    return "".join(out), changes


def _keep_apart(out: list[str]) -> None:
    """Make a CR before an LF, which would form one line break with it, a line break of its own: CRLF."""
    for index in range(1, len(out)):
        if out[index].startswith("\n") and out[index - 1].endswith("\r"):
            out[index - 1] += "\n"


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
    """Return the new text of whole touched lines in pieces, each with the endings that its line breaks had.

    Where whole lines are replaced by more of them, those that are added get the ending of the last one.
    """
    pieces: list[tuple[str, list[str]]] = []
    at, end = span
    for match in group:
        pieces.append((base[at : match.start], _endings(at, match.start, starts, endings)))
        had = _endings(match.start, match.end, starts, endings)
        added = match.new.count("\n") if base.endswith("\n", 0, match.end) else 0
        pieces.append((match.new, had + had[-1:] * added))
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
