"""What a dialog is: lines in place of the editor, keys, and one result."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

from pi_hookspecs import Line, Run
from pi_tui.lines.wrap import wrap, wrap_text
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import MouseEvent
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Dialog", "framed", "heading", "hint"]

T = TypeVar("T")


class Dialog(Generic[T]):
    """A question. A subclass draws it and takes keys, and calls ``finish`` once.

    Attributes:
        is_tall: Whether it may take the whole screen, in place of half of it.
        result: What ``finish`` was called with; None for a dialog that was dismissed.
    """

    is_tall = False

    def __init__(self) -> None:
        self.result: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()

    def lines(self, width: int, height: int) -> list[Line]:
        """Return what is drawn; ``height`` is how many rows there can be."""
        raise NotImplementedError

    def key(self, key: Key, bindings: Bindings) -> None:
        """Take a key; all of them come here while the dialog is open."""
        raise NotImplementedError

    def paste(self, text: str) -> None:
        """Take a pasted text."""

    def mouse(self, event: MouseEvent) -> bool:
        """Take what the mouse does in it; return whether it was used."""
        del event
        return False

    def finish(self, result: T | None) -> None:
        """Close the dialog; what comes after the first result is ignored."""
        if not self.result.done():
            self.result.set_result(result)


def framed(rows: Sequence[Line], width: int) -> list[Line]:
    """Return rows between two rules."""
    rule = Line.of(Run("─" * width, "border"))
    return [rule, *rows, rule]


def heading(title: str, message: str, width: int) -> list[Line]:
    """Return a title, and a text below it."""
    rows = wrap_text(clean(title), max(width, 1), Run("", "accent", bold=True)) if title else []
    return rows + (wrap_text(clean(message), max(width, 1)) if message else [])


def hint(bindings_text: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Return a row that says what keys do."""
    text = " · ".join(f"{key} {does}" for key, does in bindings_text if key)
    return wrap([Run(text, "dim")], width) if text else []
