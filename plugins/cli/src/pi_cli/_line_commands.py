"""Slash commands of the line mode itself: model, session, tree. Plugins, templates and skills bring theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_cli._words import one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_cli._line_mode import LineRun

__all__ = ["COMMANDS", "run_command"]

_WIDTH = 70


async def run_command(run: LineRun, name: str, argument: str) -> bool:
    """Run a command of the line mode; False when it has none of this name.

    Raises:
        PiError: It could not be done; the message says why.
    """
    found = COMMANDS.get(name)
    if found is None:
        return False
    await found[1](run, argument)
    return True


async def _help(run: LineRun, _argument: str) -> None:
    for name, (description, _) in COMMANDS.items():
        run.say(f"/{name:<12} {description}")
    for command in await run.session.get_commands():
        run.say(f"/{command.name:<12} {one_line(command.description or '')}")
    for shortcut in run.session.get_shortcuts():
        run.say(f"{one_line(shortcut.name):<13} {one_line(shortcut.description)}")
    run.say("!COMMAND      Run it; the model is told with your next message")
    run.say("!!COMMAND     Run it; the model is not told")
    run.say("Ctrl-C        Stop the answer; twice, end")


async def _model(run: LineRun, argument: str) -> None:
    session = run.session
    if argument:
        match = await session.models.resolve(argument)
        await session.set_model(match.model)
        if match.thinking_level is not None:
            await session.set_thinking_level(match.thinking_level)
    else:
        names = [model.reference for model in session.models.available()]
        chosen = await session.ui.select("Which model?", names)
        if chosen is not None:
            await session.set_model(session.models.find(chosen))
    model = session.model.reference if session.model is not None else "none"
    run.say(f"{model}, thinking {session.thinking_level}")


async def _thinking(run: LineRun, argument: str) -> None:
    session = run.session
    levels = session.get_available_thinking_levels()
    level = argument or await session.ui.select("How hard shall it think?", levels)
    if level is None:
        return
    chosen = next((each for each in levels if each == level), None)
    if chosen is None:
        run.say(f"{level!r} is no thinking level of this model. It has {', '.join(levels)}.")
        return
    await session.set_thinking_level(chosen)
    run.say(f"thinking {session.thinking_level}")


async def _new(run: LineRun, _argument: str) -> None:
    if await run.session.new_session():
        run.say("A new session.")


async def _tree(run: LineRun, _argument: str) -> None:
    session = run.session
    said = session.get_user_messages_for_forking()
    if not said:
        run.say("Nothing was said yet.")
        return
    options = _distinct([text for _, text in said])
    chosen = await session.ui.select("Go on from before which message?", options)
    if chosen is None:
        return
    went = await session.navigate_tree(said[options.index(chosen)][0])
    if went.cancelled:
        run.say("The conversation stays where it is.")
    else:
        run.draft = went.editor_text or ""


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the texts as lines of a list, each told from all others."""
    lines: list[str] = []
    for text in texts:
        line = shorten(one_line(text), _WIDTH)
        again = sum(each == line or each.startswith(f"{line} (") for each in lines)
        lines.append(f"{line} ({again + 1})" if again else line)
    return lines


async def _resume(run: LineRun, _argument: str) -> None:
    from pi_cli._resume import choose_among
    from pi_core.session import SessionManager

    session = run.session
    stored = SessionManager.list(session.cwd, run.options.session_dir, host=session.host)
    others = [each for each in stored if each.id != session.session_id]
    if not others:
        run.say("No other session is stored for this folder.")
        return
    chosen = await choose_among(session.ui, others)
    if chosen is not None and await session.switch_session(chosen.path):
        run.say(f"{len(session.messages)} messages, {session.model.reference if session.model else 'no model'}.")


async def _import(run: LineRun, argument: str) -> None:
    if not argument:
        run.say("Say which file: /import PATH")
    elif await run.session.import_from_jsonl(run.session.cwd / argument):
        run.say(f"{len(run.session.messages)} messages.")


async def _name(run: LineRun, argument: str) -> None:
    if argument:
        await run.session.set_session_name(argument)
    run.say(run.session.session_manager.name or "This session has no name.")


async def _session(run: LineRun, _argument: str) -> None:
    stats = run.session.session_manager.stats()
    run.say(f"{stats.session_file or 'in memory'}")
    run.say(f"you said {stats.user_messages}, answers {stats.assistant_messages}, tool calls {stats.tool_calls}")
    run.say(f"tokens {stats.tokens.total:,}, cost ${stats.cost:.4f}")


async def _quit(run: LineRun, _argument: str) -> None:
    run.session.shutdown_requested.set()


async def _reload(run: LineRun, _argument: str) -> None:
    await run.session.reload()
    run.say("Extensions, skills, prompts and themes are loaded again.")


COMMANDS: dict[str, tuple[str, Callable[[LineRun, str], Awaitable[Any]]]] = {
    "help": ("List the commands", _help),
    "model": ("Show the models, or choose one: /model NAME", _model),
    "thinking": ("Choose how hard the model thinks", _thinking),
    "new": ("Begin a new session", _new),
    "resume": ("Go on with another session of this folder", _resume),
    "tree": ("Go on from before something that you said", _tree),
    "import": ("Copy a session file here and go on with it: /import PATH", _import),
    "name": ("Show the session's name, or set it: /name NAME", _name),
    "session": ("Show file, size and cost of the session", _session),
    "reload": ("Load extensions, skills, prompts and themes again", _reload),
    "quit": ("End", _quit),
}
"""Name to description and what it does."""
