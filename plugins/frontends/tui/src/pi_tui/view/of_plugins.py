"""Statuses, widgets, dialogs, notices and failures of plugins, to the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_tui.view.blocks import Error, Notice
from pi_tui.view.changes import NOTHING, Changes
from pi_tui.view.clean import clean, clean_line, clean_output
from pi_tui.view.state import Dialog, Widget, changed

if TYPE_CHECKING:
    from pi_tui.view.state import State

__all__ = [
    "dialog_closed",
    "dialog_opened",
    "extension_error",
    "notice",
    "status",
    "title",
    "widget",
    "work_message",
]


def notice(state: State, event: Any) -> Changes:
    """Add a line for the user."""
    return changed(state.add(Notice, text=clean(event.text), level=event.level))


def status(state: State, event: Any) -> Changes:
    """Set or remove a plugin's status; it keeps its place."""
    if event.text is None:
        state.statuses.pop(event.key, None)
    else:
        state.statuses[event.key] = " ".join(clean_output(event.text).split())
    return Changes.of("statuses")


def widget(state: State, event: Any) -> Changes:
    """Set or remove a plugin's lines."""
    if event.lines is None:
        state.widgets.pop(event.key, None)
    else:
        state.widgets[event.key] = Widget(tuple(map(_clean_row, event.lines)), event.placement or "aboveEditor")
    return Changes.of("widgets")


def _clean_row(row: Any) -> Any:
    """Return a row, a string or a ``Line``, without line breaks."""
    if isinstance(row, str):
        return clean_output(row).replace("\n", " ")
    runs = tuple([run._replace(text=clean_output(run.text).replace("\n", " ")) for run in row.runs])
    return evolve(row, runs=runs)


def title(state: State, event: Any) -> Changes:
    """Set the window's title."""
    state.title = clean_line(event.title)
    return Changes.of("title")


def work_message(state: State, event: Any) -> Changes:
    """Set or remove the text in place of ``Working``."""
    state.work.message = None if event.text is None else clean_line(event.text)
    return Changes.of("work")


def dialog_opened(state: State, event: Any) -> Changes:
    """Add a question; the first one is asked first."""
    dialog = Dialog(
        id=event.id,
        kind=event.kind,
        title=clean(event.title),
        message=clean(event.message),
        options=tuple(map(clean_line, event.options)),
        prefill=clean(event.prefill),
    )
    state.dialogs.append(dialog)
    return Changes.of("dialogs")


def dialog_closed(state: State, event: Any) -> Changes:
    """Remove a question."""
    state.dialogs = [each for each in state.dialogs if each.id != event.id]
    return Changes.of("dialogs")


def extension_error(state: State, event: Any) -> Changes:
    """Add the failure of a plugin, with its traceback as the detail; one that repeats itself is added once."""
    text, whose = clean(event.error), f"Plugin {clean_line(event.extension_path)!r}"
    if event.extension_path.startswith("("):  # a part of pi, such as "(resources)"
        text = text or "It failed without a message."
    elif whose not in text and not _is_mistake(event):
        text = f"{whose} failed in {clean_line(event.event)}: {text}"
    last = state.blocks[-1] if state.blocks else None
    if isinstance(last, Error) and last.text == text:
        return NOTHING
    return changed(state.add(Error, text=text, detail=clean(event.stack or "")))


def _is_mistake(event: Any) -> bool:
    """Whether the user, and not the plugin, has done something wrong: the message of a ``UserError`` stands alone."""
    return event.event in ("command", "shortcut") and event.stack is None
