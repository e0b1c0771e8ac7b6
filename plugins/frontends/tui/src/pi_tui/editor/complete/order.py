"""The order in which commands are offered: those that most people use, then those that this user has used most."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["by_use"]

_FIRST = ("settings", "model", "resume", "tree")
"""Commands that stay at the top, whatever the user has used."""

_NEXT = ("new", "compact", "login", "help", "hotkeys", "thinking", "fork", "session", "name", "copy", "export", "theme")
"""Commands that come next if the user has used none."""


def by_use(commands: Iterable[tuple[str, str]], sent: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names and descriptions of commands in the order in which they are offered.

    Args:
        commands: The commands.
        sent: The texts that the user has sent, among them commands.
    """
    uses = Counter(text[1:].partition(" ")[0] for text in sent if text.startswith("/"))
    ranks = {name: rank for rank, name in enumerate((*_FIRST, *_NEXT))}

    def place(command: tuple[str, str]) -> tuple[int, int, int, str]:
        name = command[0]
        rank = ranks.get(name, len(ranks))
        return (min(rank, len(_FIRST)), -uses[name], rank, name)

    return sorted(commands, key=place)
