"""Parses sed programs as far as needed to know whether they run commands or write files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_guardrails.words import Word

__all__ = ["LONGEST", "sed_is_harmless", "sed_operands", "sed_programs"]

LONGEST = 2000
"""Longer programs are not parsed: the time grows with the square of their length."""

_BRACKETS = r"\[\^?\]?(?>\[:[a-z]+:\]|[^]])*\]"
_ADDRESS = re.compile(
    rf"(\d+|\$|/(?>{_BRACKETS}|\\.|[^/\\])*/[IM]*|\\(.)(?>{_BRACKETS}|\\.|(?!\2)[^\\])*\2[IM]*)([~+]\d+)?", re.DOTALL
)
_RANGE = re.compile(r"\s*,\s*[~+]?\d*")
_SUBSTITUTION = re.compile(
    rf"s([^\\\n])(?>{_BRACKETS}|\\.|(?!\1)[^\\])*\1(?>\\.|(?!\1)[^\\])*\1([a-zA-Z0-9]*)", re.DOTALL
)
_HARMLESS = re.compile(
    r"y([^\\\n])(\\.|(?!\1)[^\\])*\1(\\.|(?!\1)[^\\])*\1|[aic](\\\n|[^\n])*(\n|$)|[btT:][^;\n}]*|[rR][^\n]*"
    r"|[{}=dDgGhHnNpPxFz]|[lLqQ]\s*\d*|#[^\n]*|v[^\n;]*",
    re.DOTALL,
)
_GAP = re.compile(r"[\s;]*")
_NEGATION = re.compile(r"[\s!]*")
_WITH_VALUE = re.compile(r"-[nErszu]*[lf]|--line-length|--file")
_PROGRAM = re.compile(r"(-[nErszu]*e|--expr[a-z]*=?)(.*)", re.DOTALL)
_FILE = re.compile(r"-[nErszu]*f|--fi")


def sed_programs(arguments: Sequence[Word]) -> list[str]:
    """Return the sed programs among the arguments: after each ``-e``, or else the first operand."""
    return _taken_apart(arguments)[0]


def sed_operands(arguments: Sequence[Word]) -> list[Word]:
    """Return the files among the arguments."""
    return _taken_apart(arguments)[1]


def _taken_apart(arguments: Sequence[Word]) -> tuple[list[str], list[Word]]:
    operands: list[Word] = []
    programs: list[str] = []
    found, rest = False, list(arguments)
    while rest:
        word = rest.pop(0)
        program = _PROGRAM.fullmatch(word.text)
        found = found or program is not None or _FILE.match(word.text) is not None
        if program is not None:
            programs.append(program[2] or (rest.pop(0).text if rest else ""))
        elif _WITH_VALUE.fullmatch(word.text):
            del rest[:1]
        elif word.text and not word.text.startswith("-"):  # an empty one belongs to -i, on a Mac
            operands.append(word)
    return (programs, operands) if found else ([word.text for word in operands[:1]], operands[1:])


def sed_is_harmless(program: str) -> bool:
    """Whether a program only prints and edits its input; False if it is not understood."""
    if len(program) > LONGEST:
        return False
    at = 0
    while True:
        at = _past_addresses(program, _past(_GAP, program, at))
        if at == len(program):
            return True
        substitution = _SUBSTITUTION.match(program, at)
        if substitution is not None and set(substitution[2]) & set("ewW"):
            return False
        match = substitution or _HARMLESS.match(program, at)
        if match is None:
            return False
        at = match.end()


def _past_addresses(program: str, at: int) -> int:
    first = _past(_ADDRESS, program, at)
    if first > at:
        at = _past(_ADDRESS, program, _past(_RANGE, program, first))
    return _past(_NEGATION, program, at)


def _past(pattern: re.Pattern[str], program: str, at: int) -> int:
    match = pattern.match(program, at)
    return match.end() if match is not None else at
