"""Commands about the front end itself: help, keys, plugins' files, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.commands.table import Command

if TYPE_CHECKING:
    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]

_NAMES = 14
"""Cells of a command's name."""

_KEYS = 22
"""Cells of a key's name."""


async def _help(talk: Talk, _argument: str) -> None:
    await talk.look_up_commands()
    rows = [f"{f'/{name}':<{_NAMES}} {description}" for name, description in talk.known_commands()]
    rows += [
        f"{'!COMMAND':<{_NAMES}} Run it; the model sees it with your next message",
        f"{'!!COMMAND':<{_NAMES}} Run it; the model does not see it",
        "/hotkeys lists the keys.",
    ]
    talk.notice("\n".join(rows))


async def _hotkeys(talk: Talk, _argument: str) -> None:
    rows = [f"{key:<{_KEYS}} {does}" if key else f"\n{does}" for key, does in talk.screen.key_rows()]
    talk.notice("\n".join(rows).lstrip("\n"))
    for problem in talk.screen.first_problems:
        talk.notice(problem, "warning")


async def _reload(talk: Talk, _argument: str) -> None:
    await talk.port.reload()
    await talk.look_up_commands()
    talk.notice("Extensions, skills, prompts and themes are loaded again.")


async def _quit(talk: Talk, _argument: str) -> None:
    talk.port.shut_down()


COMMANDS = {
    "help": Command("List the commands", _help),
    "hotkeys": Command("List the keys, as they are bound", _hotkeys),
    "reload": Command("Reload extensions, skills, prompts and themes", _reload),
    "quit": Command("Exit", _quit),
}
