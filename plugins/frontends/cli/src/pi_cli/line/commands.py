"""The line mode's own slash commands; plugins, templates and skills provide more."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_cli.line import session_commands as sessions
from pi_cli.line.keys import KEYS
from pi_cli.words import one_line
from pi_hookspecs import Completion, UserError
from pi_terminal_kit.matching import matching_values

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pi_cli.line.conversation import Conversation

__all__ = ["OWN", "Own", "complete_argument"]

_NAMES = 16
"""Columns of a command's or key's name in the help."""

_LEAST = 20
"""Minimum width of a description in the help, however narrow the terminal is."""

_PAGE = 20
"""Models listed at a time; some providers have hundreds."""

_MORE = "more"


class Own(NamedTuple):
    """A command: its function, and the completions of its argument."""

    description: str
    run: Callable[[Conversation, str], Awaitable[Any]]
    complete: Callable[[Conversation], Iterable[str]] = lambda _conversation: ()


async def complete_argument(conversation: Conversation, name: str, typed: str) -> Sequence[Completion]:
    """Return completions of the argument that has been typed so far."""
    own = OWN.get(name)
    if own is None:
        return await conversation.local.completions.arguments(name, typed)
    return [Completion(each) for each in matching_values(own.complete(conversation), typed)]


# Help


async def _help(conversation: Conversation, argument: str) -> None:
    def row(name: str, description: str) -> None:
        room = max(conversation.screen.width - _NAMES - 1, _LEAST)
        for number, part in enumerate(wrap(one_line(description), room) or [""]):
            conversation.write_line(f"{'' if number else one_line(name):<{_NAMES}} {part}".rstrip())

    if argument:
        _help_about(conversation, argument)
        return
    for name, description in conversation.known_commands():
        row(f"/{name}", description)
    row("!COMMAND", "Run it; the model sees it with your next message")
    row("!!COMMAND", "Run it; the model does not see it")
    if conversation.line.held:
        for key, description in KEYS:
            row(key, description)
    else:
        row("Backslash", "At the end of a line: another line follows")
        row("Ctrl-C", "Stop the answer; twice on an empty line, exit")
    for shortcut in conversation.local.commands.shortcuts():
        row(shortcut.name, shortcut.description)


def _help_about(conversation: Conversation, argument: str) -> None:
    """Describe a command, or print a page of the documentation."""
    name = argument.removeprefix("/")
    known = dict(conversation.known_commands())
    if name in known:
        conversation.write_line(f"/{name}  {one_line(known[name])}")
    if name != argument and name not in known:
        conversation.write_line(f"There is no command {one_line(argument)}. /help lists the commands.")
    if name != argument:
        return
    session = conversation.local
    found = session.registered.find("register_subcommands", "help")
    if found is None:
        raise UserError("The pages of the documentation come with the plugin 'help', which is not loaded")
    printed = StringIO()
    with redirect_stdout(printed):
        code = found.thing.run([argument], session.host)
    if code == 0 or name not in known:
        for line in printed.getvalue().splitlines():
            conversation.write_line(line)


async def _quit(conversation: Conversation, _argument: str) -> None:
    conversation.session.shutdown_requested.set()


async def _reload(conversation: Conversation, _argument: str) -> None:
    await conversation.session.reload()
    await conversation.look_up_commands()
    conversation.write_line("Extensions, skills, prompts and themes were reloaded.")


async def _output(conversation: Conversation, _argument: str) -> None:
    conversation.show_last_result()


async def _changelog(conversation: Conversation, argument: str) -> None:
    from pi_terminal_kit.changelog import changes

    for line in changes(argument).splitlines():
        conversation.write_line(line)


# Model and thinking


async def _model(conversation: Conversation, argument: str) -> None:
    session = conversation.session
    if argument:
        match = await session.resolve_model(argument)
        await session.set_model(match.model)
        if match.thinking_level is not None:
            await session.set_thinking_level(match.thinking_level)
    else:
        rest = _models(conversation)
        while rest:
            page, rest = rest[:_PAGE], rest[_PAGE:]
            chosen = await session.ui.select("Which model?", [*page, _MORE] if rest else page)
            if chosen in page:
                await session.set_model(conversation.local.models.find(chosen))
            if chosen != _MORE:
                break
    model = session.model.reference if session.model is not None else "none"
    conversation.write_line(f"{model}, thinking {session.thinking_level}")


def _models(conversation: Conversation) -> list[str]:
    return [model.reference for model in conversation.session.get_available_models()]


async def _thinking(conversation: Conversation, argument: str) -> None:
    session = conversation.session
    if argument in _SHOWN:
        conversation.show_thinking(shown=_SHOWN[argument])
        return
    levels = session.get_available_thinking_levels()
    level = argument or await session.ui.select("Which reasoning effort?", levels)
    if level is None:
        return
    chosen = next((each for each in levels if each == level), None)
    if chosen is None:
        offered = ", ".join([*levels, *_SHOWN])
        conversation.write_line(f"{level!r} is not a thinking level of this model. Use one of {offered}.")
        return
    await session.set_thinking_level(chosen)
    conversation.write_line(f"thinking {session.thinking_level}")


_SHOWN = {"show": True, "hide": False}


def _levels(conversation: Conversation) -> list[str]:
    if conversation.session.model is None:
        return [*_SHOWN]
    return [*conversation.session.get_available_thinking_levels(), *_SHOWN]


# Keys of providers


async def _login(conversation: Conversation, argument: str) -> None:
    from pi_cli.line.dialogs import LineUI
    from pi_core.models.sign_in import login

    ui = LineUI(conversation.line, browser=True)
    await login(conversation.local.models, argument or None, key=None, ui=ui)


async def _logout(conversation: Conversation, argument: str) -> None:
    from pi_cli.line.dialogs import LineUI
    from pi_core.models.sign_in import logout

    await logout(conversation.local.models, argument or None, ui=LineUI(conversation.line))


def _with_login(conversation: Conversation) -> list[str]:
    models = conversation.local.models
    return [*dict.fromkeys([*models.logins(), *models.get_providers()])]


def _stored(conversation: Conversation) -> list[str]:
    return list(conversation.local.models.auth.providers())


OWN: dict[str, Own] = {
    "help": Own("List commands and keys, or show a page of the documentation: /help TOPIC", _help),
    "model": Own("Show the models, or choose one: /model NAME", _model, _models),
    "thinking": Own("Choose the reasoning effort; /thinking show or hide displays thinking", _thinking, _levels),
    "new": Own("Start a new session", sessions.new),
    "resume": Own("Resume another session of this folder", sessions.resume),
    "tree": Own(
        "Show the session tree, and continue from another point: /tree FILTER", sessions.tree, sessions.filters
    ),
    "fork": Own("Fork into a new session, from before one of your messages", sessions.fork),
    "clone": Own("Continue in a copy of this session", sessions.clone),
    "import": Own("Import a session file and resume it: /import PATH", sessions.import_),
    "name": Own("Show the session's name, or set it: /name NAME", sessions.name),
    "session": Own("Show file, size and cost of the session", sessions.show),
    "copy": Own("Copy the last answer to the clipboard; /copy print prints it", sessions.copy, lambda _: ("print",)),
    "output": Own("Show the whole of the last tool result", _output),
    "login": Own("Sign in to a provider, or store its API key: /login PROVIDER", _login, _with_login),
    "logout": Own("Delete the stored login or key of a provider: /logout PROVIDER", _logout, _stored),
    "reload": Own("Reload extensions, skills, prompts and themes", _reload),
    "changelog": Own("Show what has changed in this version, or another: /changelog VERSION", _changelog),
    "quit": Own("Exit", _quit),
}
"""The commands, by their names."""
