"""A place on the screen that a plugin fills, with a component or with a widget of Textual."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from textual.widget import Widget

from pi_hookspecs import ScreenSize
from pi_tui.keys.events import Key
from pi_tui.lines.foreign import foreign_rows
from pi_tui.plugins_ui.plugin_box import PluginBox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs import ComponentFactory, Line, MouseEvent, ScreenKind, Theme
    from pi_tui.plugins_ui.board import Board
    from pi_tui.screen.app import ScreenApp

__all__ = ["Place"]

_KEYS = {"\n": Key("enter"), "\r": Key("enter"), "\t": Key("tab"), " ": Key("space", " ")}


class Place:
    """Implements ``ScreenHandle`` for one component or widget.

    Args:
        app: The application.
        owner: Draws it with the next frame, and reports its failures.
        draw: Called with each frame in which the component is to be drawn.
        done: Called once with what the component passed to ``done``; the place is removed before.
        asks: Whether it has the keys until it is done: Escape, if it does not use that key, dismisses it.

    Attributes:
        plugin: The plugin that fills it; None where that is not known.
        is_open: Whether it was not removed.
        box: What holds a widget of Textual; None for a component.
    """

    kind: ScreenKind = "textual"

    def __init__(
        self,
        app: ScreenApp,
        owner: Board,
        draw: Callable[[], object],
        done: Callable[[Any], object] = bool,
        *,
        asks: bool = False,
    ) -> None:
        self.app = app
        self.plugin: str | None = app.port.acting_plugin()
        self.is_open = True
        self.box: PluginBox | None = None
        self.draw = draw
        self._owner = owner
        self._done = done
        self._asks = asks
        self._component: Any = None
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    # For the component

    @property
    def theme(self) -> Theme | None:
        """The current theme; None without colours."""
        return self.app.interface.theme

    @property
    def keybindings(self) -> Mapping[str, Sequence[str]]:
        """Keys of each action."""
        return self.app.bindings.all()

    @property
    def size(self) -> ScreenSize:
        """The present size of the screen."""
        return ScreenSize(*self.app.size)

    def refresh(self) -> None:
        """Draw it again with the next frame; may be called from any thread."""
        self._in_thread(lambda: self._owner.redraw(self))

    def done(self, result: Any = None) -> None:
        """Remove it; may be called from any thread."""
        self._in_thread(lambda: self.close(result))

    def _in_thread(self, call: Callable[[], object]) -> None:
        if threading.get_ident() == self._thread:
            call()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    # For the screen

    def fill(self, factory: ComponentFactory) -> bool:
        """Make what is displayed; return whether there is anything.

        Raises:
            TypeError: The factory made neither a component nor a widget of Textual.
        """
        made: Any = factory(self)
        if isinstance(made, Widget):
            self.box = PluginBox(self, made)
        elif not callable(getattr(made, "render", None)):
            self.is_open = False
            raise TypeError(f"{made!r:.80} is neither a component, with render(width), nor a widget of Textual")
        self._component = made
        if not self.is_open:  # the factory failed, or called ``done``
            self._dispose()
        return self.is_open

    def close(self, result: Any = None) -> None:
        """Remove it, once."""
        if not self.is_open:
            return
        self.is_open = False
        self._dispose()
        self._done(result)

    def escaped(self) -> None:
        """Close what asks: the user has left it."""
        if self._asks:
            self.close()

    def fail(self, error: Exception) -> None:
        """Remove it, because its widget raised."""
        if self.is_open:
            self._owner.failed(self, error)
            self.close()

    def _dispose(self) -> None:
        if self.box is not None:
            if self.box.is_attached:
                self.box.remove()
        elif self._component is not None:
            self._component.dispose()

    @property
    def component(self) -> Any:
        """The guarded component; None for a widget."""
        return self._component if self.box is None else None

    def rows(self, width: int) -> list[Line]:
        """Return the rows of the component, cleaned and cut."""
        return foreign_rows(self._component.render(width), width) if self.box is None else []

    def press(self, key: Key) -> bool:
        """Return whether the component used a key."""
        if self.box is not None or not self.is_open:
            return False
        typed = key.text if key.text and key.text != " " else key.name
        return bool(self._component.handle_key(typed))

    def paste(self, text: str) -> None:
        """Press a key for each character of a pasted text."""
        for character in text:
            self.press(_KEYS.get(character) or Key(character, character))

    def mouse(self, event: MouseEvent) -> bool:
        """Return whether the component used an event of the mouse."""
        return self.box is None and self.is_open and bool(self._component.handle_mouse(event))

    def set_focused(self, *, focused: bool) -> None:
        """Give it the keys, or take them."""
        if self.box is not None:
            self.box.set_focused(focused=focused)
        elif self.is_open:
            self._component.focused = focused
            self._owner.redraw(self)
