"""Commands about the current conversation: its name, its figures, its last answer and compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError
from pi_tui.commands.table import Command
from pi_tui.session.facts import session_info

if TYPE_CHECKING:
    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]


async def _name(talk: Talk, argument: str) -> None:
    if argument:
        await talk.session.set_session_name(argument)
        talk.notice(f"Session name set: {argument}")
    else:
        name = talk.session.session_name
        talk.notice(f"Session name: {name}" if name else "This session has no name: /name NAME sets one.")


async def _session(talk: Talk, _argument: str) -> None:
    talk.notice("\n".join(session_info(talk.session)))


async def _compact(talk: Talk, argument: str) -> None:
    displayed: list[Any] = []
    stop = talk.session.subscribe(lambda event: displayed.append(event) if event.type == "compaction_end" else None)
    try:
        await talk.session.compact(argument or None)
    except PiError:
        if not displayed:
            raise
    finally:
        stop()


async def _copy(talk: Talk, _argument: str) -> None:
    clipboard = talk.screen.clipboards
    if clipboard.copy_selection():
        return
    text = talk.session.get_last_assistant_text()
    if text is None:
        talk.notice("There is no answer yet.")
    else:
        clipboard.copy(text)


COMMANDS = {
    "name": Command("Show the session's name, or set it: /name NAME", _name),
    "session": Command("Show file, size and cost of the session", _session),
    "compact": Command(
        "Summarize the conversation to free context: /compact [FOCUS], /compact undo",
        _compact,
        forwarded=("undo",),
    ),
    "copy": Command("Copy the selection, or the last answer, to the clipboard", _copy),
}
