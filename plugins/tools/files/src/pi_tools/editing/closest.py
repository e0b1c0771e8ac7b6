"""The part of a file that is most similar to a text which is not in it, to show what an edit may have meant."""

from __future__ import annotations

from difflib import SequenceMatcher

__all__ = ["closest"]

_MOST_CHARACTERS = 2_000_000
_MOST_COMPARED = 2_000
"""Lines that are compared character by character: it takes a while."""
_LONGEST = 200
"""Characters of a line that are compared and shown."""
_MOST_SHOWN = 8
_SIMILAR = 0.6


def closest(old: str, base: str) -> str:
    """Return the most similar lines with their numbers; "" if none is similar, or the file is long.

    Args:
        old: The text.
        base: The file's text, with line feeds only.
    """
    wanted = [_plain(line) for line in old.split("\n")]
    key = max(range(len(wanted)), key=lambda index: len(wanted[index]))
    if not wanted[key] or len(base) > _MOST_CHARACTERS:
        return ""
    lines = base.split("\n")
    best = _best(wanted, key, [_plain(line) for line in lines])
    if best is None:
        return ""
    first = max(best - key, 0)
    shown = lines[first : max(best - key + len(wanted), first + 1)]
    cut = ["..."] if len(shown) > _MOST_SHOWN else []
    return "\n".join([*(f"{first + n + 1}: {line[:_LONGEST]}" for n, line in enumerate(shown[:_MOST_SHOWN])), *cut])


def _plain(line: str) -> str:
    """Return a line without what texts often differ in: indentation, the number of blanks, capitals."""
    return " ".join(line.split()).casefold()[:_LONGEST]


def _best(wanted: list[str], key: int, lines: list[str]) -> int | None:
    """Return the number of the line that is most like the longest of the wanted ones, and whose neighbours are too."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[key])
    scores: dict[int, float] = {}
    compared = 0
    for number, line in enumerate(lines):
        if line == wanted[key]:
            scores[number] = 1.0
        elif compared < _MOST_COMPARED:
            matcher.set_seq1(line)
            if matcher.real_quick_ratio() >= _SIMILAR and matcher.quick_ratio() >= _SIMILAR:
                compared += 1
                scores[number] = matcher.ratio()
    good = [number for number, score in scores.items() if score >= _SIMILAR]

    def rank(number: int) -> tuple[float, int]:
        around = range(len(wanted))
        same = sum(
            lines[number - key + n : number - key + n + 1] == [wanted[n]] for n in around if number - key + n >= 0
        )
        return scores[number] + same, -number

    return max(good, key=rank, default=None)
