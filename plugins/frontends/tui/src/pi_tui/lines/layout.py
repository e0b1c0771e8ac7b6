"""Layout of a block as rows. Each block begins with a blank row, which separates it from the previous block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pi_tui.lines.answer import MarkdownRows
from pi_tui.lines.custom import custom_rows, error_rows, notice_rows
from pi_tui.lines.line import BLANK
from pi_tui.lines.summary import summary_rows
from pi_tui.lines.tool import tool_rows
from pi_tui.lines.user import bash_rows, user_rows
from pi_tui.view.blocks import Answer, Thinking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Block

__all__ = ["FixedRows", "Rows", "lay_out"]


class Rows(Protocol):
    """The rows of a block."""

    def __len__(self) -> int: ...

    def window(self, start: int, stop: int) -> list[Line]:
        """Return the rows from ``start`` to ``stop``, as a slice does."""
        ...


class FixedRows:
    """Rows that do not grow, preceded by a blank row unless there are none."""

    def __init__(self, rows: Sequence[Line]) -> None:
        self._rows = [BLANK, *rows] if rows else []

    def __len__(self) -> int:
        return len(self._rows)

    def window(self, start: int, stop: int) -> list[Line]:
        """Return the rows from ``start`` to ``stop``."""
        return self._rows[start:stop]


def lay_out(block: Block, look: Look) -> Rows:
    """Return the rows of a block; the rows of an answer can be updated as it grows."""
    if isinstance(block, Answer | Thinking):
        return MarkdownRows(block, look)
    return FixedRows(_LAYOUTS[block.kind](block, look))


_LAYOUTS: dict[str, Callable[[Any, Look], list[Line]]] = {
    "user": user_rows,
    "tool": tool_rows,
    "bash": bash_rows,
    "summary": summary_rows,
    "custom": custom_rows,
    "notice": notice_rows,
    "error": error_rows,
}
