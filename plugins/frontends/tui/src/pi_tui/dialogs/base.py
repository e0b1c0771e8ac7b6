"""The base class of dialogs: lines in place of the editor, key handling, and one result."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

from pi_hookspecs import Line, Run
from pi_tui.lines.wrap import wrap_items, wrap_text
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import MouseEvent
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Dialog", "framed", "heading", "hint"]

T = TypeVar("T")

_LEAST, _ENOUGH = 6, 14
"""Rows of a dialog on the smallest screen, and rows that are enough for most dialogs."""


class Dialog(Generic[T]):
    """A question. A subclass draws it, handles keys, and calls ``finish`` once.

    Attributes:
        is_tall: Whether it may fill the screen; other dialogs take at most half of a large screen.
        result: The result that ``finish`` received; None if the dialog was dismissed.
    """

    is_tall = False

    def __init__(self) -> None:
        self.result: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()

    @property
    def draws_later(self) -> bool:
        """Whether a key changes nothing that is drawn until the dialog asks to be drawn."""
        return False

    def most_rows(self, screen: int) -> int:
        """Return how many rows the dialog may take on a screen; a larger part of a small screen."""
        room = screen - 4
        return max(room if self.is_tall else max(screen // 2, min(room, _ENOUGH)), min(_LEAST, max(screen - 1, 1)))

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the rows to draw, at most ``height``."""
        raise NotImplementedError

    def key(self, key: Key, bindings: Bindings) -> None:
        """Handle a key; the dialog receives all keys while it is open."""
        raise NotImplementedError

    def paste(self, text: str) -> None:
        """Handle a pasted text."""

    def mouse(self, event: MouseEvent) -> bool:
        """Handle a mouse event in the dialog; return whether it was used."""
        del event
        return False

    def finish(self, result: T | None) -> None:
        """Close the dialog with a result; later calls are ignored."""
        if not self.result.done():
            self.result.set_result(result)


def framed(rows: Sequence[Line], width: int) -> list[Line]:
    """Return rows between two rules."""
    rule = Line.of(Run("─" * width, "border"))
    return [rule, *rows, rule]


def heading(title: str, message: str, width: int) -> list[Line]:
    """Return the rows of a title and of a message below it; an empty one is left out."""
    rows = wrap_text(clean(title), max(width, 1), Run("", "accent", bold=True)) if title else []
    return rows + (wrap_text(clean(message), max(width, 1)) if message else [])


def hint(keys: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Return rows that explain keys, in the form that lists have: ``Enter to select · Escape to cancel``."""
    return wrap_items((f"{key} {does}" for key, does in keys if key), width, Run("", "dim"))
