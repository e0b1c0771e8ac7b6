"""The strip above the editor: in one row what runs or waits, with the key that opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Activity
    from pi_tui.lines.look import Look

__all__ = ["activity_rows"]


def activity_rows(activities: Mapping[str, Activity], look: Look) -> list[Line]:
    """Return the row of all activities; none without any."""
    if not activities:
        return []
    text = " · ".join(each.label for each in activities.values())
    hint = look.hints.get("activities")
    opens = f"{hint} opens " if hint else ""
    room = look.width - cells(opens) - 4
    row = (
        cut(Line.of(Run(" ▸ ", "accent"), Run(text, "muted")), max(room, 1))
        if room > 0
        else Line.of(Run(" ▸", "accent"))
    )
    used = sum(cells(run.text) for run in row.runs)
    gap = " " * max(look.width - used - cells(opens), 1)
    return [cut(Line((*row.runs, Run(f"{gap}{opens}", "dim"))), look.width)]
