"""Parses plain command lines without click: each option is written in full, with its value as the next argument.

Nearly all are written like this. Others are left to click, which parses all forms and formats the errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_cli.option_table import Option

__all__ = ["PlainLine", "read_plain"]


class PlainLine(NamedTuple):
    """A command line that was read.

    Attributes:
        params: The values by destination, as click has them; ``words`` are the others.
        given: The options that were given.
    """

    params: dict[str, Any]
    given: list[Option]


def read_plain(arguments: Sequence[str], options: Iterable[Option], *, to_first_word: bool = False) -> PlainLine | None:
    """Return the values of a command line; None if it is not written plainly.

    Args:
        arguments: The arguments, without ``--``.
        options: All that may be given.
        to_first_word: Read no option behind the first word: that and all behind it are words.
    """
    by_name: dict[str, Option] = {}
    params: dict[str, Any] = {}
    for option in options:
        by_name.update(dict.fromkeys(option.names, option))
        params[option.destination] = () if option.multiple else option.unset if option.is_switch else None
    given: list[Option] = []
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument[:1] != "-":
            words.append(argument)
            if to_first_word:
                words += rest
            continue
        found = by_name.get(argument)
        if found is None or found.bare is not None:
            return None
        value = True if found.is_switch else next(rest, None)
        if value is None:
            return None
        given.append(found)
        params[found.destination] = (*params[found.destination], value) if found.multiple else value
    params["words"] = tuple(words)
    return PlainLine(params, given)
