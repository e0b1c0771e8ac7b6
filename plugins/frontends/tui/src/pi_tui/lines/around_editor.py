"""Rows above and below the editor: queued messages, running activities and the widgets of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pi_hookspecs import Line, Run
from pi_tui.lines.foreign import foreign_rows
from pi_tui.lines.line import cells, cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Activity
    from pi_tui.lines.look import Look
    from pi_tui.view.state import Queue, State

__all__ = ["MOST_ROWS", "activity_rows", "queue_rows", "widget_lines"]

_MOST = 5


def queue_rows(queue: Queue, look: Look) -> list[Line]:
    """Return a row for each of the first messages, the number of further ones, and the hint; none without messages."""
    texts = [f"Steering: {text}" for text in queue.steering] + [f"Follow-up: {text}" for text in queue.follow_up]
    if not texts:
        return []
    visible = texts if len(texts) <= _MOST + 1 else texts[:_MOST]
    rows = [f" {' '.join(text.split())}" for text in visible]
    if len(visible) < len(texts):
        rows.append(f" ... {len(texts) - len(visible)} more")
    hint = look.hints.get("dequeue")
    if hint:
        rows.append(f" ↳ {hint} to edit all queued messages")
    return [cut(Line.of(Run(row, "dim")), look.width) for row in rows]


def activity_rows(activities: Mapping[str, Activity], look: Look) -> list[Line]:
    """Return the row of all activities; none without any."""
    if not activities:
        return []
    text = " · ".join(each.label for each in activities.values())
    row = cut(Line.of(Run(" ▸ ", "accent"), Run(text, "muted")), look.width)
    hint = look.hints.get("activities")
    opens = f"{hint} opens " if hint else ""
    gap = look.width - sum(cells(run.text) for run in row.runs) - cells(opens)
    return [Line((*row.runs, Run(f"{' ' * gap}{opens}", "dim")))] if gap > 0 else [row]


MOST_ROWS = 10
"""Most rows of a widget, so that the conversation stays visible."""


def widget_lines(state: State, placement: Literal["aboveEditor", "belowEditor"], width: int) -> list[Line]:
    """Return the rows of all widgets with a placement, one widget after the other."""
    return [
        row
        for widget in state.widgets.values()
        if widget.placement == placement
        for row in foreign_rows(widget.lines[:MOST_ROWS], width)
    ]
