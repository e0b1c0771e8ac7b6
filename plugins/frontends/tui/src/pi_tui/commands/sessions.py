"""Commands that go on with another session: a new one, a stored one, a copy, one that ends earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.commands.table import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_tui.screen.talk import Talk

__all__ = ["COMMANDS"]

_NOT_ALLOWED = "A plugin does not allow it; the conversation stays where it is."


async def _new(talk: Talk, _argument: str) -> None:
    if not await talk.port.new_session():
        talk.notice(_NOT_ALLOWED, "warning")


async def _resume(talk: Talk, _argument: str) -> None:
    stored = talk.port.stored_sessions(talk.session_dir)
    if not stored:
        talk.notice("No other session is stored for this folder.")
        return
    labels = distinct([label for label, _ in stored])
    chosen = await talk.ui.select("Resume which session?", labels)
    if chosen is not None:
        await talk.port.switch_session(stored[labels.index(chosen)][1])


async def _fork(talk: Talk, _argument: str) -> None:
    messages = talk.port.user_messages()
    if not messages:
        talk.notice("Nothing was said yet.")
        return
    options = distinct([" ".join(text.split()) for _, text in messages])
    chosen = await talk.ui.select("Go on in a new session from before which message?", options)
    if chosen is None:
        return
    text = await talk.port.fork(messages[options.index(chosen)][0])
    if text is None:
        talk.notice(_NOT_ALLOWED, "warning")
        return
    talk.notice("Forked to new session")
    talk.screen.put_text(text)


async def _clone(talk: Talk, _argument: str) -> None:
    done = await talk.port.clone()
    talk.notice("Cloned to new session" if done else _NOT_ALLOWED, "info" if done else "warning")


async def _import(talk: Talk, argument: str) -> None:
    if not argument:
        talk.notice("Say which file: /import PATH", "warning")
    else:
        await talk.port.import_session(argument)


def distinct(texts: Sequence[str]) -> list[str]:
    """Return texts as they can be told apart: one that is there twice with its number."""
    found: list[str] = []
    for text in texts:
        name, number = text or "(empty)", 2
        while name in found:
            name, number = f"{text} ({number})", number + 1
        found.append(name)
    return found


COMMANDS = {
    "new": Command("Begin a new session", _new),
    "resume": Command("Go on with another session of this folder", _resume),
    "fork": Command("Go on in a new session from before something that you said", _fork),
    "clone": Command("Go on in a copy of this session", _clone),
    "import": Command("Copy a session file here and go on with it: /import PATH", _import),
}
