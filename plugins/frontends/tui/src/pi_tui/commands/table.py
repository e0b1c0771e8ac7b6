"""The front end's own slash commands, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pi_hookspecs import Completion
    from pi_tui.screen.talk import Talk

__all__ = ["Command", "complete_argument", "own_commands"]


class Command(NamedTuple):
    """A slash command.

    Attributes:
        description: One line for the help.
        run: Runs the command with the argument that was typed after its name.
        complete: Returns the possible values of the argument.
        forwarded: Arguments with which a plugin's command of the same name runs instead, if there is one.
    """

    description: str
    run: Callable[[Talk, str], Awaitable[Any]]
    complete: Callable[[Talk], Iterable[str]] = lambda _talk: ()
    forwarded: tuple[str, ...] = ()


def own_commands() -> dict[str, Command]:
    """Return the commands by name, in the order of the help."""
    from pi_tui.commands import about, conversation, help_, model, sessions, settings, tree

    groups = (help_, model, sessions, tree, settings, conversation, about)
    return {name: command for group in groups for name, command in group.COMMANDS.items()}


async def complete_argument(talk: Talk, name: str, typed: str) -> Sequence[Completion]:
    """Return completions of a command's argument, given its typed beginning."""
    from pi_hookspecs import Completion
    from pi_terminal_kit.matching import matching_values
    from pi_tui.session.plugins import argument_completions

    own = talk.own.get(name)
    if own is None:
        return await argument_completions(talk.session, name, typed)
    return [Completion(each) for each in matching_values(own.complete(talk), typed)]
