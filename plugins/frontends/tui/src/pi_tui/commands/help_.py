"""Commands about the front end itself: help, key bindings, reloading and exit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.commands.table import Command

if TYPE_CHECKING:
    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]

_NAMES = 15
"""Width of the column of command names, in cells."""

_KEYS = 27
"""Width of the column of keys, in cells."""


async def _help(talk: Talk, argument: str) -> None:
    await talk.look_up_commands()
    if argument:
        await _help_about(talk, argument)
        return
    rows = [f"{f'/{name}':<{_NAMES}} {description}" for name, description in talk.known_commands()]
    rows += [
        f"{'!COMMAND':<{_NAMES}} Run it; the model sees it with your next message",
        f"{'!!COMMAND':<{_NAMES}} Run it; the model does not see it",
        "/hotkeys lists the keys.",
        "/help TOPIC shows a page of the documentation, such as /help screen.",
    ]
    await talk.page("\n".join(rows))


async def _help_about(talk: Talk, argument: str) -> None:
    """Show a page of the documentation, or the description of a command that no page is named for."""
    known = dict(talk.known_commands())
    name = argument.removeprefix("/")
    page = None if argument != name else talk.about.help(argument)
    if name in known and (page is None or not page.found):
        talk.notice(f"/{name}  {known[name]}")
    elif page is None:
        talk.notice(f"There is no command {argument}. /help lists the commands.", "warning")
    else:
        await talk.page(page.text, markdown=page.found)


async def _hotkeys(talk: Talk, _argument: str) -> None:
    rows = [f"{key:<{_KEYS}} {does}" if key else f"\n{does}" for key, does in talk.screen.key_rows()]
    problems = [f"! {problem}" for problem in talk.screen.first_problems]
    await talk.page("\n".join([*problems, *rows]).lstrip("\n"))


async def _reload(talk: Talk, _argument: str) -> None:
    await talk.session.reload()
    await talk.look_up_commands()
    talk.notice("Extensions, skills, prompts and themes were reloaded.")


async def _quit(talk: Talk, _argument: str) -> None:
    talk.session.shutdown_requested.set()


COMMANDS = {
    "help": Command("List the commands, or show a page of the documentation: /help TOPIC", _help),
    "hotkeys": Command("List the current key bindings", _hotkeys),
    "reload": Command("Reload extensions, skills, prompts and themes", _reload),
    "quit": Command("Exit", _quit),
}
