"""Reducers for the statuses, widgets, dialogs, notices and failures of plugins."""

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
    "activity",
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
    """Add lines for the user, or a page; a line about what a key did replaces such a line directly before it."""
    text = clean(event.text)
    latest = state.blocks[-1] if state.blocks else None
    if event.replaces and isinstance(latest, Notice) and latest.replaces:
        latest.text = text
        return changed(latest)
    fields = {"level": event.level, "replaces": event.replaces}
    return changed(state.add(Notice, text=text, **fields))


def status(state: State, event: Any) -> Changes:
    """Set or remove a plugin's status; a changed status keeps its position."""
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


def activity(state: State, event: Any) -> Changes:
    """Set or remove what a plugin has running; a changed activity keeps its position."""
    if event.activity is None:
        state.activities.pop(event.key, None)
    else:
        items = [evolve(each, text=clean(each.text).replace("\n", " ")) for each in event.activity.items]
        state.activities[event.key] = evolve(event.activity, label=clean_line(event.activity.label), items=items)
    return Changes.of("activities")


def _clean_row(row: Any) -> Any:
    """Return a row (a string or a ``Line``) cleaned and without line breaks."""
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
    """Add a question; questions are asked in the order of their arrival."""
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
    """Add the failure of a plugin, with its traceback as the detail; skip it if it repeats the last block."""
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
    """Whether the user made a mistake, not the plugin: a ``UserError`` is displayed without the plugin's name."""
    return event.event in ("command", "shortcut") and event.stack is None
