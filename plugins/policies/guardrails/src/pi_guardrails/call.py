"""One program call: its parsed arguments, its input, and the folders it may run in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from attrs import Factory, frozen

from pi_guardrails.script import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_guardrails.findings import Verdict
    from pi_guardrails.paths import Places
    from pi_guardrails.words import Word

__all__ = ["Call", "Judgement", "flags", "has_words", "operands"]

Judgement: TypeAlias = "tuple[Verdict, str, str]"
"""Verdict, rule and reason, as yielded by the judge of a program."""

_VARIABLE = re.compile(r"\$\{?!?(\w+)")
_MOST_SOURCES = 20
_CLUSTER = re.compile(r"-(?!.*(.).*\1)[a-zA-Z]{1,4}")
"""Short options in one word; words with a letter twice, and longer ones, are long options after one hyphen."""


@frozen(eq=False, kw_only=True)
class Call:
    """A program with its arguments.

    Attributes:
        name: The program's name in lower case, without its folder.
        arguments: What follows the name.
        places: The folder it starts in, and the folders that paths are measured by.
        command: The command in the script, with its redirections and what is piped into it.
        values: What the script assigns to each variable, unexpanded.
    """

    name: str
    arguments: tuple[Word, ...]
    places: Places
    command: Command = Factory(lambda: Command(()))
    values: Mapping[str, Sequence[str]] = Factory(dict)

    @property
    def texts(self) -> list[str]:
        """The arguments as texts."""
        return [word.text for word in self.arguments]

    @property
    def operands(self) -> list[Word]:
        """The arguments that are not options."""
        return operands(self.arguments)

    @property
    def letters(self) -> set[str]:
        """The letters of short options."""
        return flags(self.arguments)[0]

    def has_long(self, *starts: str) -> bool:
        """Whether a long option is one of these or an abbreviation: ``--rec`` matches ``--recursive``."""
        return any(option.startswith(starts) for option in flags(self.arguments)[1])

    def has_letter(self, letters: str) -> bool:
        """Whether one of the letters is among the short options."""
        return not self.letters.isdisjoint(letters)

    def sources(self, word: Word) -> list[str]:
        """Return an argument as written, and with the values that the script assigns to its variables."""
        found = [word.source or word.text]
        for source in found:
            for name in _VARIABLE.findall(source):
                found += [each for each in self.values.get(name, ()) if each not in found]
            if len(found) > _MOST_SOURCES:
                break
        return found


def operands(arguments: Sequence[Word]) -> list[Word]:
    """Return the arguments that are not options."""
    plain: list[Word] = []
    for number, word in enumerate(arguments):
        if word.text == "--":
            return [*plain, *arguments[number + 1 :]]
        if not word.text.startswith("-") or word.text == "-":
            plain.append(word)
    return plain


def flags(arguments: Sequence[Word]) -> tuple[set[str], list[str]]:
    """Return the letters of short options, and the long options."""
    letters: set[str] = set()
    long: list[str] = []
    for word in arguments:
        if word.text == "--":
            break
        if word.text.startswith("--"):
            long.append(word.text)
        elif word.text.startswith("-"):
            letters |= set(word.text[1:])
    return letters, long


def _is_cluster_of(text: str, option: str) -> bool:
    """Whether short options that are written together, such as ``-fa``, contain all letters of another, ``-f``."""
    return _CLUSTER.fullmatch(text) is not None and _CLUSTER.fullmatch(option) is not None and {*option} <= {*text}


def has_words(arguments: Sequence[Word], needed: str) -> bool:
    """Whether the words are among the arguments, in this order.

    An argument that is known only at run time may be any subcommand.
    """
    first, *others = needed.split()
    wanted = [first, *others]
    for place, word in enumerate(arguments):
        unclear = not word.known and word.splits and (place == 0 or len(wanted) <= len(others))
        text = word.text.partition("=")[0] if word.text.startswith("--") and "=" not in first else word.text
        if wanted and (wanted[0] in (word.text, text) or unclear or _is_cluster_of(word.text, wanted[0])):
            wanted.pop(0)
    return not wanted
