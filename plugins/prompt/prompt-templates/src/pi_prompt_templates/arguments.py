"""Splitting of a template's arguments, and their substitution.

Both scan once from left to right: the text of an argument is not expanded again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["split_arguments", "substitute"]

_SPACES = "\\t\\n\\v\\f\\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What separates arguments: the whitespace of JavaScript's regular expressions, as in the original."""
_GAP = re.compile(f"[{_SPACES}]*")
_WORD = re.compile(f"[^{_SPACES}]*")
_QUOTED = {quote: re.compile(rf"{quote}((?:\\{quote}|(?!\\{quote})[^{quote}])*){quote}", re.DOTALL) for quote in "\"'"}

_PLACE = re.compile(
    r"\$\{(?P<named>@|ARGUMENTS|[0-9]+):-(?P<default>[^}]*)\}"  # ${1:-main} ${@:-everything}
    r"|\$\{@:(?P<start>[0-9]+)(?::(?P<length>[0-9]+))?\}"  # ${@:2} ${@:2:3}
    r"|\$(?P<plain>@|ARGUMENTS|[0-9]+)"  # $1 $@ $ARGUMENTS
)
_MOST_DIGITS = 9


def split_arguments(text: str) -> list[str]:
    """Return the arguments in a text.

    Whitespace of any kind separates them, line breaks too. A quote, single or double, counts at the beginning of an
    argument only, so that ``it's`` is a word; inside, a backslash makes the same quote an ordinary character. A quote
    that is not closed is an ordinary character, as in ``'tis the season``. ``""`` is an argument, an empty one; text
    right after a closing quote belongs to the argument.
    """
    return list(_split(text))


def _split(text: str) -> Iterator[str]:
    place = 0
    while True:
        gap = _GAP.match(text, place)
        assert gap is not None  # noqa: S101 - it matches the empty text, too
        place = gap.end()
        if place == len(text):
            return
        quoted = _QUOTED[text[place]].match(text, place) if text[place] in _QUOTED else None
        prefix = ""
        if quoted is not None:
            quote = text[place]
            prefix = quoted[1].replace(f"\\{quote}", quote)
            place = quoted.end()
        word = _WORD.match(text, place)
        assert word is not None  # noqa: S101 - it matches the empty text, too
        place = word.end()
        yield prefix + word[0]


def substitute(template: str, arguments: Sequence[str]) -> str:
    """Return a template's text with the arguments substituted.

    ``$1`` is the first argument; a missing one is the empty string. ``$@`` and ``$ARGUMENTS`` are all of them
    joined by spaces, ``${@:2}`` all from the second on, ``${@:2:3}`` three of those (0 counts as 1).
    ``${1:-x}``, ``${@:-x}`` and ``${ARGUMENTS:-x}`` are ``x``, as it is written, where there is nothing else.
    """

    def value(place: re.Match[str]) -> str:
        if place["start"] is not None:
            start = max(_number(place["start"]), 1) - 1
            end = None if place["length"] is None else start + _number(place["length"])
            return " ".join(arguments[start:end])
        named = place["plain"] or place["named"]
        return _argument(named, arguments) or place["default"] or ""

    return _PLACE.sub(value, template)


def _argument(named: str, arguments: Sequence[str]) -> str:
    if not named.isdigit():
        return " ".join(arguments)
    number = _number(named)
    return arguments[number - 1] if 1 <= number <= len(arguments) else ""


def _number(digits: str) -> int:
    return int(digits[-_MOST_DIGITS:]) if len(digits.lstrip("0")) <= _MOST_DIGITS else 10**_MOST_DIGITS
