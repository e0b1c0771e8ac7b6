"""Layout of lists: a bullet or number precedes an item's first row; its other rows and blocks are indented."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Line
from pi_tui.lines.line import BLANK, cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_tui.lines.markdown.inline import Ink

__all__ = ["list_rows"]

_TASKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


def list_rows(node: Any, width: int, ink: Ink, blocks: Callable[[Any, int, Ink], list[Line]]) -> list[Line]:
    """Return the rows of a list (a ``SyntaxTreeNode``).

    Args:
        node: A ``bullet_list`` or ``ordered_list``.
        width: Cells of a row.
        ink: Style of the text.
        blocks: Lays out the blocks of an item.
    """
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    loose = any(not child.hidden for item in node.children for child in item.children if child.type == "paragraph")
    rows: list[Line] = []
    for item in node.children:
        bullet = "- " if number is None else f"{number}. "
        if number is not None:
            number += 1
        if loose and rows:
            rows.append(BLANK)
        rows += _item(item, bullet, width, ink, blocks)
    return rows


def _item(item: Any, bullet: str, width: int, ink: Ink, blocks: Callable[[Any, int, Ink], list[Line]]) -> list[Line]:
    bullet, skipped = _task(item, bullet)
    room = cells(bullet)
    if room >= width:
        return blocks(item, width, ink)
    rows = blocks(item, width - room, ink) or [BLANK]
    if skipped:
        rows[0] = _without(rows[0], skipped)
    head, rest = ink.run(bullet, role="mdListBullet"), ink.run(" " * room)
    first = Line((head, *rows[0].runs), rows[0].fill)
    return [first, *(Line((rest, *row.runs), row.fill) if row.runs else row for row in rows[1:])]


def _task(item: Any, bullet: str) -> tuple[str, int]:
    """Return the bullet, with a box for a task, and the number of characters of the text that it replaces."""
    children = item.children
    text = children[0].children[0].content if children and children[0].type == "paragraph" else ""
    box = _TASKS.get(text[:4])
    return (bullet + box, 4) if box is not None else (bullet, 0)


def _without(line: Line, count: int) -> Line:
    first, *others = line.runs
    return Line((first._replace(text=first.text[count:]), *others), line.fill)
