"""Holds a widget of Textual that belongs to a plugin: its error removes the box, where Textual would end the app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual._context import active_message_pump
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual import events

__all__ = ["Filled", "PluginBox", "SafeScreen", "box_of", "box_that_raised"]


class Filled(Protocol):
    """The place that a box fills."""

    def escaped(self) -> None:
        """The user has left it by Escape."""
        ...

    def fail(self, error: Exception) -> None:
        """Remove it, because its widget raised."""
        ...


class PluginBox(Widget):
    """A widget of a plugin.

    Args:
        place: What it fills.
        widget: The plugin's.
    """

    DEFAULT_CSS = "PluginBox { width: 100%; height: auto; layout: vertical; overflow: hidden; }"

    def __init__(self, place: Filled, widget: Widget) -> None:
        super().__init__(widget)
        self.place = place
        self.widget = widget

    def set_focused(self, *, focused: bool) -> None:
        """Give the keys to the widget, or to the first one in it that takes them; or take them from it."""
        if focused:
            takers = [each for each in self.walk_children(Widget) if each.focusable]
            self.screen.set_focus(takers[0] if takers else None)
        elif box_of(self.app.focused) is self:
            self.screen.set_focus(None)

    def on_key(self, event: events.Key) -> None:
        """Leave the widget by Escape, where it does not use that key itself."""
        if event.key == "escape":
            event.stop()
            self.set_focused(focused=False)
            self.place.escaped()


class SafeScreen(Screen[None]):
    """The screen of the app; a widget of a plugin that cannot be drawn loses its box."""

    def _compositor_refresh(self) -> None:
        for _ in range(3):
            try:
                super()._compositor_refresh()
            except Exception as error:
                box = box_that_raised(error)
                if box is None:
                    raise
                box.place.fail(error)
            else:
                return


def box_of(node: DOMNode | None) -> PluginBox | None:
    """Return the box that a widget is in."""
    while node is not None and not isinstance(node, PluginBox):
        node = node.parent if isinstance(node.parent, DOMNode) else None
    return node


def box_that_raised(error: Exception) -> PluginBox | None:
    """Return the box of the widget whose code raised: that which handled a message, or is in the traceback."""
    pump = active_message_pump.get(None)
    found = box_of(pump) if isinstance(pump, DOMNode) else None
    return found or next((box for each in _selves(error) if (box := box_of(each)) is not None), None)


def _selves(error: Exception) -> Iterator[DOMNode]:
    trace = error.__traceback__
    while trace is not None:
        owner = trace.tb_frame.f_locals.get("self")
        if isinstance(owner, DOMNode):
            yield owner
        trace = trace.tb_next
