"""Slash commands about the conversation: open another one, copy it, move in its tree, reuse its last answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_cli.line.tail import show_tail
from pi_cli.line.tree import FILTERS, Row, tree_rows
from pi_cli.words import one_line, shorten
from pi_core import below_home
from pi_terminal_kit.settings import SKIP_SUMMARY_PROMPT, TREE_FILTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_cli.line.conversation import Conversation

__all__ = ["clone", "copy", "filters", "fork", "import_", "name", "new", "resume", "show", "tree"]

_WIDTH = 70

_MOST_ROWS = 60
"""Maximum rows of a tree that are drawn, the latest ones; others can still be chosen by number."""


async def new(conversation: Conversation, _argument: str) -> None:
    """Start a new session."""
    if await conversation.session.new_session():
        conversation.write_line("Started a new session.")


async def resume(conversation: Conversation, _argument: str) -> None:
    """Continue a stored session that the user chooses."""
    from pi_cli.resume import choose_among
    from pi_core import SessionManager

    session = conversation.local
    stored = SessionManager.list(session.cwd, conversation.options.session_dir, host=session.host)
    others = [each for each in stored if each.id != session.session_id]
    if not others:
        conversation.write_line("No other session is stored for this folder.")
        return
    chosen = await choose_among(session.ui, others)
    if chosen is not None and await session.switch_session(chosen.path):
        _begin_again(conversation)


async def import_(conversation: Conversation, argument: str) -> None:
    """Copy a session file into the store and continue it."""
    if not argument:
        conversation.write_line("Name the file: /import PATH")
    elif await conversation.session.import_from_jsonl(str(conversation.local.cwd / argument)):
        _begin_again(conversation)


async def fork(conversation: Conversation, _argument: str) -> None:
    """Continue in a new session that ends before one of the user's messages, which is put on the line again."""
    session = conversation.session
    messages = session.get_user_messages_for_forking()
    if not messages:
        conversation.write_line("This session has no messages yet.")
        return
    options = _distinct([text for _, text in messages])
    chosen = await session.ui.select("Fork before which message?", options)
    if chosen is None:
        return
    forked = await session.fork(messages[options.index(chosen)][0])
    if forked.cancelled:
        conversation.write_line("A plugin prevented it; the conversation is unchanged.")
        return
    _begin_again(conversation)
    conversation.line.put(forked.selected_text)


async def clone(conversation: Conversation, _argument: str) -> None:
    """Continue in a copy of the session."""
    if await conversation.session.clone():
        conversation.write_line(f"Continuing in a copy: {conversation.session.session_file or 'in memory'}")
    else:
        conversation.write_line("A plugin prevented it; the conversation is unchanged.")


async def tree(conversation: Conversation, argument: str) -> None:
    """Draw the tree, and continue from the place that the user chooses."""
    session = conversation.session
    wanted = argument or TREE_FILTER.read(session.settings)
    if wanted not in FILTERS:
        conversation.write_line(f"{wanted!r} is not a filter of the tree. Use one of {', '.join(FILTERS)}.")
        return
    rows = tree_rows(conversation.local.session_manager, wanted)
    if not rows:
        conversation.write_line("This session has no messages yet.")
        return
    left_out = max(len(rows) - _MOST_ROWS, 0)
    if left_out:
        conversation.write_line(f"… {left_out} earlier rows; /tree user-only shows fewer")
    digits = len(str(len(rows)))
    for number, row in enumerate(rows[left_out:], left_out + 1):
        drawn = row.drawn(conversation.screen.width - digits - 1)
        conversation.screen.line(f"{number:>{digits}} {drawn}", dim=row.role != "user" and not row.is_here)
    conversation.write_line("Continue from which entry? A message of yours returns to the input line for editing.")
    chosen = await _chosen(conversation, rows)
    if chosen is not None:
        await _go_to(conversation, chosen)


def filters(_conversation: Conversation) -> Sequence[str]:
    """Return the names of the tree's filters."""
    return FILTERS


async def _chosen(conversation: Conversation, rows: Sequence[Row]) -> Row | None:
    """Return the row that the user names, by number or by the beginning of its text."""
    while answer := await conversation.session.ui.input("Number or name"):
        if answer.isdecimal() and 0 < int(answer[:9]) <= len(rows):
            return rows[int(answer[:9]) - 1]
        named = [row for row in rows if row.text.lower().startswith(answer.lower())]
        if len(named) == 1:
            return named[0]
        what = "several entries" if named else "no entry"
        conversation.write_line(f"{shorten(one_line(answer), _WIDTH)!r} matches {what}; press Enter alone to cancel.")
    return None


async def _go_to(conversation: Conversation, row: Row) -> None:
    session = conversation.session
    summarize = False
    if not row.is_here and not SKIP_SUMMARY_PROMPT.read(session.settings):
        summarize = await session.ui.confirm("Summarize the abandoned branch for the model?")
    went = await session.navigate_tree(row.entry_id, summarize=summarize)
    if went.cancelled:
        conversation.write_line("The conversation is unchanged.")
        return
    _begin_again(conversation)
    if went.editor_text:
        conversation.line.put(went.editor_text)


async def name(conversation: Conversation, argument: str) -> None:
    """Show the session's name, or set it."""
    if argument:
        await conversation.session.set_session_name(argument)
    name = conversation.session.session_name
    conversation.write_line(f"Session name: {name}" if name else "This session has no name: /name NAME sets one.")


async def show(conversation: Conversation, _argument: str) -> None:
    """Show the session's statistics."""
    from pi_terminal_kit.figures import session_rows

    session = conversation.session
    stats = session.get_session_stats()
    file = below_home(stats.session_file) if stats.session_file else None
    for row in session_rows(stats, file=file, cache=session.cache_warming):
        conversation.write_line(row)


async def copy(conversation: Conversation, argument: str) -> None:
    """Copy the last answer to the terminal's clipboard, or print it."""
    from pi_terminal_kit.clipboard import clipboard_sequence

    text = conversation.session.get_last_assistant_text()
    if text is None:
        conversation.write_line("There is no answer yet.")
        return
    sequence = clipboard_sequence(text) if argument != "print" and conversation.line.held else None
    if sequence is None:
        conversation.screen.end_text()
        conversation.screen.text(text, "output")
        conversation.screen.end_text()
        return
    conversation.line.control(sequence)
    conversation.write_line(
        f"Sent {len(text):,} characters to the terminal's clipboard; /copy print prints them instead."
    )


def _begin_again(conversation: Conversation) -> None:
    """Show the current place of the conversation."""
    session = conversation.local
    model = session.model.reference if session.model is not None else "no model"
    conversation.write_line(f"{len(session.messages)} messages, {model}.")
    show_tail(conversation.screen, session.messages)


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the texts as distinct lines of a list."""
    lines: list[str] = []
    for text in texts:
        line = shorten(one_line(text), _WIDTH)
        again = sum(each == line or each.startswith(f"{line} (") for each in lines)
        lines.append(f"{line} ({again + 1})" if again else line)
    return lines
