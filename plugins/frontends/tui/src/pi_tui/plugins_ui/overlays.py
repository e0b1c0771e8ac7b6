"""Overlays: components above the rest of the screen, their focus, and their control by plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import ScreenSize
from pi_tui.plugins_ui.place import Place
from pi_tui.plugins_ui.region import height_of, region_of, width_of
from pi_tui.screen.clickable import Clickable

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from pi_hookspecs import Overlay
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.screen.app import ScreenApp

__all__ = ["OpenOverlay", "Overlays", "dismisses"]


class OpenOverlay:
    """An overlay while it is open; implements ``OverlayHandle``.

    Args:
        app: The application.
        overlay: The requested position and size.
        done: Called with the component's result.

    Attributes:
        place: The place that contains the component.
        hidden: Whether the plugin has hidden it.
    """

    def __init__(self, app: ScreenApp, overlay: Overlay, done: Callable[[Any], object]) -> None:
        region_of(overlay, ScreenSize(*app.size), 1)  # raises an error for the plugin if a value has a wrong type
        self.overlay = overlay
        self.hidden = False
        self.place = Place(app, app.board, self.draw, done, asks=True)
        self._app = app
        self._painted = Clickable(app.painter, name=f"overlay-{id(self)}", mouse=self.place.mouse)
        self._painted.add_class("overlay")

    @property
    def widget(self) -> Widget:
        """The Textual widget that is displayed above the screen."""
        return self.place.box or self._painted

    def draw(self) -> None:
        """Draw the overlay at its current position."""
        size = ScreenSize(*self._app.size)
        visible = not self.hidden and self._is_wanted(size)
        rows = self.place.rows(width_of(self.overlay, size))[: height_of(self.overlay, size)] if visible else []
        if not self.place.is_open:
            return
        boxed = self.place.box is not None
        region = region_of(self.overlay, size, height_of(self.overlay, size) if boxed else len(rows))
        self._painted.paint(rows)
        styles = self.widget.styles
        styles.display = "block" if visible and (boxed or rows) else "none"
        styles.offset = (region.x, region.y)
        styles.width = region.width
        if boxed:
            styles.max_height = region.height

    def _is_wanted(self, size: ScreenSize) -> bool:
        visible = self.overlay.visible
        return visible is None or visible(size) is not False

    # For the plugin

    def set_hidden(self, hidden: bool) -> None:  # noqa: FBT001 - the protocol's
        """Hide the overlay or display it again; a hidden overlay loses the focus."""
        self.hidden = hidden
        if hidden:
            self.unfocus()
        self._app.board.redraw(self.place)

    def focus(self) -> None:
        """Focus the overlay."""
        self._app.overlays.focus(self)

    def unfocus(self) -> None:
        """Return the focus to what had it before."""
        self._app.overlays.unfocus(self)


class Overlays:
    """The open overlays of an application, and the order in which they received the focus.

    Args:
        app: The application.
    """

    def __init__(self, app: ScreenApp) -> None:
        self._app = app
        self._open: list[OpenOverlay] = []
        self._focused: list[OpenOverlay] = []
        self._held = False

    @property
    def focused(self) -> OpenOverlay | None:
        """The overlay that has the focus; None if the rest of the screen has it."""
        return self._focused[-1] if self._focused and not self._held else None

    def hold(self, *, held: bool) -> None:
        """Withhold the focus from overlays while a dialog is open, or restore it."""
        self._held = held and bool(self._focused)

    async def open(self, opened: OpenOverlay) -> None:
        """Display an overlay and focus it."""
        self._open.append(opened)
        self._app.board.keep(opened.place)
        await self._app.mount(opened.widget)
        opened.draw()
        self.focus(opened)
        if opened.overlay.on_handle is not None:
            opened.overlay.on_handle(opened)

    def close(self, opened: OpenOverlay) -> None:
        """Remove an overlay; the previously focused overlay regains the focus."""
        opened.place.close()
        self.unfocus(opened)
        if opened in self._open:
            self._open.remove(opened)
            if opened.widget.is_attached:
                opened.widget.remove()

    def close_all(self) -> None:
        """Dismiss all overlays."""
        for each in [*self._open]:
            each.place.close()

    def focus(self, opened: OpenOverlay) -> None:
        """Focus an overlay."""
        self._held = False
        before = self.focused
        if before is opened or opened not in self._open:
            return
        if opened in self._focused:
            self._focused.remove(opened)
        if before is not None:
            before.place.set_focused(focused=False)
        self._focused.append(opened)
        opened.place.set_focused(focused=True)

    def unfocus(self, opened: OpenOverlay) -> None:
        """Remove the focus from an overlay; the previously focused overlay regains it."""
        if opened not in self._focused:
            return
        had = self.focused is opened
        self._focused.remove(opened)
        if had:
            opened.place.set_focused(focused=False)
            if self.focused is not None:
                self.focused.place.set_focused(focused=True)

    def press(self, key: Key, bindings: Bindings) -> bool:
        """Pass a key to the focused overlay; return False if there is none."""
        focused = self.focused
        if focused is None:
            return False
        if not focused.place.press(key) and dismisses(key, bindings):
            focused.place.close()
        return True


def dismisses(key: Key, bindings: Bindings) -> bool:
    """Whether a key closes a component that does not use it."""
    return bindings.does(key.name, "app.interrupt") or bindings.does(key.name, "app.clear")
