"""Lines that pass mouse events to the component that has drawn them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pi_hookspecs import MouseEvent
from pi_tui.screen.painted import Painted

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events

    from pi_tui.screen.strips import Painter

__all__ = ["Clickable"]

Kind = Literal["press", "release", "move", "scroll_up", "scroll_down"]


class Clickable(Painted):
    """A widget of lines that handles mouse events.

    Args:
        painter: Draws the lines.
        mouse: Called with each event; returns whether the event was used.
    """

    def __init__(self, painter: Painter, *, name: str, mouse: Callable[[MouseEvent], bool]) -> None:
        super().__init__(painter, name=name)
        self._mouse = mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Pass on a press of a button."""
        self._pass_on("press", event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Pass on the release of a button."""
        self._pass_on("release", event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Pass on a movement."""
        self._pass_on("move", event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Pass on a step of the wheel upwards."""
        self._pass_on("scroll_up", event)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Pass on a step of the wheel downwards."""
        self._pass_on("scroll_down", event)

    def _pass_on(self, kind: Kind, event: events.MouseEvent) -> None:
        held = {"ctrl": event.ctrl, "shift": event.shift, "alt": event.meta}
        modifiers = tuple(name for name, is_held in held.items() if is_held)
        if self._mouse(MouseEvent(kind=kind, x=event.x, y=event.y, button=event.button, modifiers=modifiers)):
            event.stop()
