r"""Cleaning of all text from models, tools, files, sessions and plugins: the result cannot control a terminal.

Complete and unfinished escape sequences are removed, and so are control and zero-width characters. Characters that
reorder text are replaced by their names, such as U+202E, so that the reader notices them. A tab becomes spaces. Program
output keeps its colours (SGR); if it overwrites a line, as progress bars do, only the last version of the line is kept.

``CleanStream`` implements all of this; the result does not depend on how the text is divided into pieces.
"""

from __future__ import annotations

import re
from functools import cache

from pi_hookspecs.hidden import HIDDEN, JOINERS, SELECTORS, is_visible

__all__ = ["CleanStream", "clean", "clean_line", "clean_output", "clean_row", "rewritten", "without_sequences"]

_STRING = r"(?:\x1b[PX\]^_k]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x9c\n]*"
"""A sequence that contains text, such as a window's title, without its terminator; a line break ends it, too."""

_CSI = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*"

_SEQUENCE = re.compile(
    rf"(?:\x1b\[|\x9b)([0-9;:]{{0,64}})m|{_CSI}[@-~]?|{_STRING}(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?"
)

_UNFINISHED = re.compile(rf"(?:{_CSI}|{_STRING}\x1b?|\x1b[ -/]*)\Z")

_OPEN_STRING = re.compile(r"(\x1b[PX\]^_k]|[\x90\x98\x9d-\x9f])[^\x1b]*(\x1b?)\Z")

_TOO_LONG = re.compile(r"((?:\x1b\[|\x9b)[0-?]{0,65})[0-?]*([ -/]?)[ -/]*\Z|(\x1b[ -/])[ -/]*\Z")
"""The part of an unfinished sequence that need not be kept: no colour has more parameters."""

_UNDECIDED = re.compile(rf"[\r{JOINERS}{SELECTORS}]+\Z")
"""Characters at the end of a piece whose treatment depends on the next character."""

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

_CONTEXT = 2
"""Number of preceding characters that decide whether a character is hidden."""

_TAB = "    "


class CleanStream:
    """Cleans text that is received in pieces; a sequence that is split between two pieces is held back.

    Args:
        output: Whether a program printed the text: colours stay, and so do carriage returns inside of a line, which
            ``rewritten`` applies. Otherwise colours are removed, and a carriage return is a line break.
    """

    def __init__(self, *, output: bool = False) -> None:
        self._output = output
        self._raw = ""
        self._undecided = ""
        self._context = "\n"  # so that a joiner at the beginning is hidden

    def feed(self, piece: str) -> str:
        """Add a piece and return the text that is clean so far."""
        if not self._raw and not self._undecided and is_visible(piece):
            self._context = (self._context + piece)[-_CONTEXT:]
            return piece.replace("\t", _TAB)
        text = self._raw + piece
        found = _UNFINISHED.search(text)
        self._raw = "" if found is None else _TOO_LONG.sub(r"\1\2\3", _OPEN_STRING.sub(r"\1\2", found[0]))
        return self._visible(self._without_sequences(text if found is None else text[: found.start()]))

    def end(self) -> str:
        """Return the remaining text without an unfinished sequence; the stream may be reused."""
        rest = self._undecided.rstrip("\u200c\u200d")
        self._raw = self._undecided = ""
        rest = self._unhidden(self._line_ends(rest))
        self._context = "\n"
        return rest

    def _without_sequences(self, text: str) -> str:
        return _SEQUENCE.sub(self._kept_colour, text) if self._output else without_sequences(text)

    @staticmethod
    def _kept_colour(found: re.Match[str]) -> str:
        return "" if found[1] is None else f"\x1b[{found[1]}m"

    def _visible(self, text: str) -> str:
        text = self._undecided + text
        found = _UNDECIDED.search(text)
        self._undecided = "" if found is None else found[0]
        return self._unhidden(self._line_ends(text if found is None else text[: found.start()]))

    def _line_ends(self, text: str) -> str:
        if "\r" not in text:
            return text
        return re.sub(r"\r+\n", "\n", text) if self._output else re.sub(r"\r+\n?", "\n", text)

    def _unhidden(self, text: str) -> str:
        """Return the text without hidden characters; preceding characters may decide which ones are hidden."""
        start = len(self._context)
        joined = self._context + text
        self._context = joined[-_CONTEXT:]
        parts: list[str] = []
        end = start
        for found in _hidden().finditer(joined, start):
            if found[1] is None:
                parts += joined[end : found.start()], self._replacement(found[0])
                end = found.end()
        return "".join([*parts, joined[end:]]).replace("\t", _TAB)

    def _replacement(self, hidden: str) -> str:
        if hidden in _BIDI:
            return f"\u2039U+{ord(hidden):04X}\u203a"
        if hidden in "\u2028\u2029":
            return "\n"
        return hidden if hidden == "\r" and self._output else ""


def without_sequences(text: str) -> str:
    """Return a text without complete or unfinished escape sequences; other control characters stay."""
    return _SEQUENCE.sub("", text)


@cache
def _hidden() -> re.Pattern[str]:
    """Return the pattern of colours, which stay, and of hidden characters; it is compiled on first use (15 ms)."""
    return re.compile(rf"(\x1b\[[0-9;:]*m)|(?:{HIDDEN})")


def clean(text: str) -> str:
    """Return prose, such as an answer or an error, in a form that is safe to draw: lines without control characters."""
    if is_visible(text):
        return text.replace("\t", _TAB)
    stream = CleanStream()
    return stream.feed(text) + stream.end()


def clean_output(text: str) -> str:
    """Return program output as lines with colours (SGR) but without other control characters."""
    if is_visible(text):
        return text.replace("\t", _TAB)
    stream = CleanStream(output=True)
    return rewritten(stream.feed(text) + stream.end()).replace("\r", "")


def clean_line(text: str) -> str:
    """Return a label, such as a file's or a session's name, on one line: each run of whitespace becomes one space."""
    return " ".join(clean(text).split())


def clean_row(text: str) -> str:
    """Return a part of a row in a form that is safe to draw, with all its blanks."""
    return text if text.isprintable() else clean(text).replace("\n", " ")


def rewritten(text: str) -> str:
    """Return cleaned output with only the last version of each overwritten line; a trailing carriage return stays."""
    if "\r" not in text:
        return text
    lines = text.split("\n")
    last = lines[-1]
    kept = [_last_version(line).rstrip("\r") for line in lines[:-1]]
    return "\n".join([*kept, _last_version(last)])


def _last_version(line: str) -> str:
    end = line.rstrip("\r")
    return end[end.rfind("\r") + 1 :] + ("\r" if len(end) < len(line) else "")
