"""How the checklist is drawn, and which keys it has in the overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import ScreenHandle, ToolResult

__all__ = ["Checklist", "result_rows"]


def rows_of(items: Mapping[str, bool]) -> list[Line]:
    """Return a row for each item."""
    return [Line.of("✓ " if done else "· ", Run(item, "muted" if done else "text")) for item, done in items.items()]


def result_rows(result: ToolResult, *, width: int, expanded: bool, partial: bool) -> list[Line]:
    """Display the tool's result as the widget does."""
    return rows_of(result.details["items"])


class Checklist:
    """A component: the items, and a cursor while it has the keys."""

    focused = False

    def __init__(self, screen: ScreenHandle, items: Mapping[str, bool]) -> None:
        self.screen, self.items, self.cursor = screen, items, 0

    def render(self, width: int) -> list[Line]:
        """Return the rows."""
        rows = [Line.of(Run("Checklist", "accent", bold=True)), *rows_of(self.items)]
        if self.focused and self.items:
            rows[self.cursor + 1] = Line.of("→ ", *rows[self.cursor + 1].runs)
        return rows

    def handle_key(self, key: str) -> bool:
        """Move the cursor, tick an item off, or leave."""
        if key in ("up", "down") and self.items:
            self.cursor = (self.cursor + (1 if key == "down" else -1)) % len(self.items)
            self.screen.refresh()
        elif key == "enter" and self.items:
            self.screen.done(list(self.items)[self.cursor])
        elif key == "escape":
            self.screen.done(None)
        else:
            return False
        return True
