"""The opened strip: the single things that run or wait, to look at or to stop; it follows them while it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.dialogs.base import Dialog, framed, heading, hint
from pi_tui.lines.line import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import Activity, ActivityItem
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.view.state import Queue

__all__ = ["ActivityList"]


_ROOMY = 5
"""Rows for the rules and three items; on a smaller screen the keys give way to items."""


class ActivityList(Dialog[str]):
    """Lists the activities. The result is the slash command that displays an item; None when it was closed.

    Args:
        activities: The activities by their keys; read at each drawing.
        queue: Returns the queued messages.
        run: Runs a slash command while the list stays open.
    """

    def __init__(
        self, activities: Mapping[str, Activity], queue: Callable[[], Queue], run: Callable[[str], object]
    ) -> None:
        super().__init__()
        self._activities, self._queue, self._run = activities, queue, run
        self._selected = 0

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the items below the labels of their activities, around the selected one."""
        head = heading("Running and waiting", "", width)
        rows, selected = self._rows()
        below = hint(self._hints(), width)
        if height - len(head) - len(below) < _ROOMY:
            head, below = head[:1], []
        room = max(height - len(head) - len(below) - 2, 1)
        first = min(max(selected - room // 2, 0), max(len(rows) - room, 0))
        shown = [cut(row, width) for row in rows[first : first + room]]
        return framed([*head, *(shown or [Line.of(Run("  Nothing is running any more", "muted"))]), *below], width)

    @property
    def _items(self) -> list[ActivityItem]:
        return [item for each in self._activities.values() for item in each.items]

    def _rows(self) -> tuple[list[Line], int]:
        """Return all rows, and which one is selected."""
        rows: list[Line] = []
        selected = number = 0
        self._selected = min(self._selected, max(len(self._items) - 1, 0))
        for activity in self._activities.values():
            rows.append(Line.of(Run(f" {activity.label}", "muted")))
            for item in activity.items:
                is_selected = number == self._selected
                selected = len(rows) if is_selected else selected
                mark = Run("→ " if is_selected else "  ", "accent")
                rows.append(Line.of(mark, Run(f" {item.text}", "accent" if is_selected else "text")))
                number += 1
        queue = self._queue()
        waiting = [("steering", text) for text in queue.steering] + [("follow-up", text) for text in queue.follow_up]
        if waiting:
            rows.append(Line.of(Run(f" {len(waiting)} queued", "muted")))
            rows += [Line.of(Run(f"   {kind}: {' '.join(text.split())}", "dim")) for kind, text in waiting]
        return rows, selected

    def _chosen(self) -> ActivityItem | None:
        items = self._items
        return items[min(self._selected, len(items) - 1)] if items else None

    def _hints(self) -> list[tuple[str, str]]:
        item = self._chosen()
        opens = [("enter", "open")] if item is not None and item.open else []
        stops = [("s", "stop")] if item is not None and item.stop else []
        return [("↑↓", "move"), *opens, *stops, ("escape", "close")]

    def key(self, key: Key, bindings: Bindings) -> None:
        """Move the selection, open or stop the selected item, or close the list."""
        actions = bindings.actions(key.name, "list")
        item = self._chosen()
        if "tui.select.cancel" in actions or bindings.does(key.name, "app.activities.open"):
            self.finish(None)
        elif "tui.select.confirm" in actions:
            if item is None or item.open:
                self.finish(item.open if item is not None else None)
        elif "tui.select.up" in actions or "tui.select.down" in actions:
            by = -1 if "tui.select.up" in actions else 1
            self._selected = (self._selected + by) % max(len(self._items), 1)
        elif key.text == "s" and item is not None and item.stop:
            self._run(item.stop)
