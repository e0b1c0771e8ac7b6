"""View of a changed file: its diff."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_tui.lines.box import first_lines
from pi_tui.lines.diff import diff_rows
from pi_tui.lines.tools.view import failure, place, title
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["EditView"]

_MOST_DIFF = 100_000

_MOST_REQUESTED = 20_000
"""Maximum characters of a replacement that is displayed before the file is changed."""


class EditView:
    """``edit x.py`` and the numbered lines."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the path."""
        return title("edit", Run(" "), place(arguments, look, "path", "file_path"))

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the diff, or the reason for a failure; before the file is changed, what is to be replaced."""
        if block.status == "error":
            return failure(block, look, width)
        diff = block.details.get("diff") if isinstance(block.details, dict) else None
        if not isinstance(diff, str) or not diff:
            return diff_rows("\n".join(requested), width) if (requested := [*_requested(block)]) else []
        text = clean(diff)
        return diff_rows(text, width) if len(text) <= _MOST_DIFF else first_lines(text, 100, look, width)


def _requested(block: Tool) -> Iterator[str]:
    """Yield the lines of a diff of the texts in a call's arguments, which knows no line numbers."""
    if block.arguments is None or block.status not in ("pending", "running"):
        return
    edits = block.arguments.get("edits")
    for edit in edits if isinstance(edits, list) else [block.arguments]:
        old, new = (edit.get("oldText"), edit.get("newText")) if isinstance(edit, dict) else (None, None)
        if not isinstance(old, str) or not isinstance(new, str) or len(old) + len(new) > _MOST_REQUESTED:
            continue
        lines = unified_diff(clean(old).splitlines(), clean(new).splitlines(), n=2, lineterm="")
        yield from (f"{line[0]} {line[1:]}" for line in islice(lines, 3, None))
