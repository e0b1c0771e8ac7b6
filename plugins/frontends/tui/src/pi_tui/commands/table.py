"""All slash commands of the front end, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pi_hookspecs import Completion
    from pi_tui.screen.talk import Talk

__all__ = ["Command", "complete_argument", "own_commands"]


class Command(NamedTuple):
    """A command.

    Attributes:
        description: One line.
        run: Does it, with what was typed after the name.
        complete: Returns what its argument may be.
    """

    description: str
    run: Callable[[Talk, str], Awaitable[Any]]
    complete: Callable[[Talk], Iterable[str]] = lambda _talk: ()


def own_commands() -> dict[str, Command]:
    """Return the commands, in the order of the help."""
    from pi_tui.commands import about, conversation, help_, model, sessions, settings, tree

    groups = (help_, model, sessions, tree, settings, conversation, about)
    return {name: command for group in groups for name, command in group.COMMANDS.items()}


async def complete_argument(talk: Talk, name: str, typed: str) -> Sequence[Completion]:
    """Return what the argument of a command, as far as it is typed, could become."""
    from pi_hookspecs import Completion

    own = talk.own.get(name)
    if own is None:
        return await talk.port.complete_arguments(name, typed)
    wanted = typed.lower()
    offered = [each for each in own.complete(talk) if wanted in each.lower() and each != typed]
    return [Completion(each) for each in sorted(offered, key=lambda each: not each.lower().startswith(wanted))]
