"""Commands that switch to another session: a new, stored or imported one, a copy, or a fork."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pi_tui.commands.chosen import choose, choose_while
from pi_tui.commands.stored import StoredSessions
from pi_tui.commands.table import Command
from pi_tui.selectors.picks import Option, Pick
from pi_tui.selectors.sessions import SessionSelector
from pi_tui.view.skills import as_typed

if TYPE_CHECKING:
    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]

_NOT_ALLOWED = "A plugin prevented it; the conversation is unchanged."


async def _new(talk: Talk, _argument: str) -> None:
    talk.screen.take_back()
    if not await talk.session.new_session():
        talk.notice(_NOT_ALLOWED, "warning")


async def _resume(talk: Talk, _argument: str) -> None:
    talk.lists.require_sessions()
    selector = SessionSelector(None, now=time.time())
    stored = StoredSessions(talk, selector)
    outcome = await choose_while(talk, selector, stored.carry_out, stored.read)
    if outcome is None or outcome.value.is_current:
        return
    talk.screen.take_back()
    if not await talk.session.switch_session(outcome.value.path):
        talk.notice(_NOT_ALLOWED, "warning")


async def _fork(talk: Talk, _argument: str) -> None:
    messages = talk.session.get_user_messages_for_forking()
    if not messages:
        talk.notice("There is no message yet.")
        return
    options = [
        Option(entry_id, " ".join(as_typed(text).split()), note=f"Message {number} of {len(messages)}")
        for number, (entry_id, text) in enumerate(messages, 1)
    ]
    title = "Fork before which message?"
    outcome = await choose(talk, Pick(title, options, last=True))
    if outcome is None:
        return
    talk.screen.take_back()
    forked = await talk.session.fork(outcome.value.value)
    if forked.cancelled:
        talk.notice(_NOT_ALLOWED, "warning")
        return
    talk.notice("Forked to new session")
    talk.screen.put_text(as_typed(forked.selected_text))


async def _clone(talk: Talk, _argument: str) -> None:
    talk.screen.take_back()
    done = await talk.session.clone()
    talk.notice("Cloned to new session" if done else _NOT_ALLOWED, "info" if done else "warning")


async def _import(talk: Talk, argument: str) -> None:
    if not argument:
        talk.notice("Name the file: /import PATH", "warning")
    else:
        talk.screen.take_back()
        await talk.session.import_from_jsonl(argument)


COMMANDS = {
    "new": Command("Start a new session", _new),
    "resume": Command("Resume another session of this folder", _resume),
    "fork": Command("Fork into a new session, from before one of your messages", _fork),
    "clone": Command("Continue in a copy of this session", _clone),
    "import": Command("Import a session file and resume it: /import PATH", _import),
}
