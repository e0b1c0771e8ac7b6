"""A container for a plugin's Textual widget: an error of the widget removes the container instead of ending the app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from textual._context import active_message_pump
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from pi_tui.screen.compositor import RowCompositor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual import events
    from textual.geometry import Size

__all__ = ["Filled", "PluginBox", "SafeScreen", "box_of", "box_that_raised"]


class Filled(Protocol):
    """The place that a box fills."""

    def escaped(self) -> None:
        """React to the user leaving the widget with Escape."""
        ...

    def fail(self, error: Exception) -> None:
        """Remove the place, because its widget raised an error."""
        ...


class PluginBox(Widget):
    """The container of a plugin's widget.

    Args:
        place: The place that it fills.
        widget: The plugin's widget.
    """

    DEFAULT_CSS = "PluginBox { width: 100%; height: auto; layout: vertical; overflow: hidden; }"

    def __init__(self, place: Filled, widget: Widget) -> None:
        super().__init__(widget)
        self.place = place
        self.widget = widget

    def set_focused(self, *, focused: bool) -> None:
        """Focus the first focusable widget in the box, or remove the focus from the box."""
        if focused:
            takers = [each for each in self.walk_children(Widget) if each.focusable]
            self.screen.set_focus(takers[0] if takers else None)
        elif box_of(self.app.focused) is self:
            self.screen.set_focus(None)

    def on_key(self, event: events.Key) -> None:
        """Leave the widget with Escape unless it uses that key itself."""
        if event.key == "escape":
            event.stop()
            self.set_focused(focused=False)
            self.place.escaped()


class SafeScreen(Screen[None]):
    """The screen of the app; it removes the box of a plugin's widget that cannot be drawn.

    Args:
        resized: Called after the size changed, before the widgets are laid out again.
    """

    def __init__(self, resized: Callable[[], object]) -> None:
        super().__init__(id="_default")
        self._compositor = RowCompositor()
        self._resized = resized

    def _screen_resized(self, size: Size) -> None:
        before = self._compositor.size
        if size == before:  # laying out again emits another event, after which all rows would be drawn
            return
        if before:
            self._resized()
        super()._screen_resized(size)

    def paint_now(self, *, waits: bool = False) -> None:
        """Paint what is drawn, without the three tasks through which Textual passes it on before it paints.

        If something has to be laid out first, or this waits for something else, Textual paints with it.
        """
        widgets: list[Any] = [*self.children]
        drawn = [each for each in widgets if each._repaint_required]  # noqa: SLF001 - Textual has no public mark
        waits = waits or any(each._layout_required for each in [self, *widgets])  # noqa: SLF001 - as above
        if waits or self._scroll_required or self._repaint_required or not self.is_current:
            for each in drawn:
                each.check_idle()
            return
        if not drawn:
            return
        for each in drawn:
            each._repaint_required = False  # noqa: SLF001 - as above
        self._dirty_widgets.update(each for each in drawn if each.display)
        self._compositor.update_widgets(self._dirty_widgets)
        self._compositor_refresh()

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
    """Return the box that contains a widget."""
    while node is not None and not isinstance(node, PluginBox):
        node = node.parent if isinstance(node.parent, DOMNode) else None
    return node


def box_that_raised(error: Exception) -> PluginBox | None:
    """Return the box of the widget that raised an error: the one handling a message, or the one in the traceback."""
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
