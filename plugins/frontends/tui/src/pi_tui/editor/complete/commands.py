"""Completion of slash commands at the beginning of a text, in the order in which most people and this user use them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pi_tui.editor.complete.offers import Offer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from pi_hookspecs import Completion

__all__ = ["CommandSource", "by_use"]

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


class CommandSource:
    """Completes the name of a command, then its arguments.

    Args:
        names: Returns the names and descriptions of the commands, those to offer first at the beginning.
        arguments: Returns completions for the arguments of a command that are typed so far.
    """

    def __init__(
        self,
        names: Callable[[], Iterable[tuple[str, str]]],
        arguments: Callable[[str, str], Awaitable[Iterable[Completion]]],
    ) -> None:
        self._names = names
        self._arguments = arguments

    async def offer(self, text: str, cursor: int, *, asked: bool) -> Offer | None:
        """Return commands, or arguments of a command."""
        from pi_terminal_kit.matching import command_in

        command = command_in(text[:cursor])
        if command is None:
            return None
        name, space, arguments = command[1:].partition(" ")
        if not space:
            return self._commands(name, cursor)
        items = tuple(await self._arguments(name, arguments))
        return Offer(cursor - len(arguments), cursor, items) if items else None

    def _commands(self, typed: str, cursor: int) -> Offer | None:
        from pi_hookspecs import Completion
        from pi_terminal_kit.matching import matcher

        match = matcher(typed)
        ranked = [(rank, name, text) for name, text in self._names() if (rank := match(name)) is not None]
        items = tuple(
            Completion(f"/{name}", description=description, label=name)
            for _, name, description in sorted(ranked, key=lambda each: each[0])
        )
        return Offer(cursor - len(typed) - 1, cursor, items, after=" ") if items else None
