"""A place on the screen that a plugin fills with a component or with a Textual widget."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from textual.widget import Widget

from pi_core.hooks.acting import acting_plugin
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
        owner: Draws the place with the next frame, and reports its failures.
        draw: Called for each frame in which the component must be drawn.
        done: Called once with the value that the component passed to ``done``, after the place was removed.
        asks: Whether it receives all keys until it is done; Escape dismisses it unless it uses that key.

    Attributes:
        plugin: The plugin that fills the place; None if unknown.
        is_open: Whether the place has not been removed.
        box: The container of a Textual widget; None for a component.
        draws_later: Whether a key changes nothing that the component draws until it asks to be drawn.
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
        self.plugin: str | None = acting_plugin()
        self.is_open = True
        self.box: PluginBox | None = None
        self.draw = draw
        self._owner = owner
        self._done = done
        self._asks = asks
        self._component: Any = None
        self._is_key_due = False
        self.draws_later = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    # For the component

    @property
    def theme(self) -> Theme | None:
        """The current theme; None without colours."""
        return self.app.interface.theme

    @property
    def keybindings(self) -> Mapping[str, Sequence[str]]:
        """The keys of each action."""
        return self.app.bindings.all()

    @property
    def size(self) -> ScreenSize:
        """The current size of the screen."""
        return ScreenSize(*self.app.size)

    def refresh(self) -> None:
        """Draw the place again with the next frame; may be called from any thread."""
        self._in_thread(self._redraw)

    def _redraw(self) -> None:
        self._owner.redraw(self)
        if self._is_key_due:
            self._is_key_due = False
            self.app.draw_now()

    def done(self, result: Any = None) -> None:
        """Remove the place; may be called from any thread."""
        self._in_thread(lambda: self.close(result))

    def _in_thread(self, call: Callable[[], object]) -> None:
        if threading.get_ident() == self._thread:
            call()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    # For the screen

    def fill(self, factory: ComponentFactory) -> bool:
        """Create the component or widget; return whether there is one to display.

        Raises:
            TypeError: The factory returned neither a component nor a Textual widget.
        """
        made: Any = factory(self)
        if isinstance(made, Widget):
            self.box = PluginBox(self, made)
        elif not callable(getattr(made, "render", None)):
            self.is_open = False
            raise TypeError(f"{made!r:.80} is neither a component, with render(width), nor a widget of Textual")
        self._component = made
        read = getattr(made, "get", None)  # of a guarded component
        self.draws_later = callable(read) and read("draws_later") is True
        if not self.is_open:  # the factory failed, or called ``done``
            self._dispose()
        return self.is_open

    def close(self, result: Any = None) -> None:
        """Remove the place; further calls do nothing."""
        if not self.is_open:
            return
        self.is_open = False
        self._dispose()
        self._done(result)

    def escaped(self) -> None:
        """Close the place if it asks the user, who has left it."""
        if self._asks:
            self.close()

    def fail(self, error: Exception) -> None:
        """Remove the place, because its widget raised an error."""
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
        """Pass a key to the component; return whether it used the key."""
        if self.box is not None or not self.is_open:
            return False
        typed = key.text if key.text and key.text != " " else key.name
        self._is_key_due = False  # what changes while it is handled is drawn after it
        used = bool(self._component.handle_key(typed))
        self._is_key_due = used  # what it changes may come later, from another process; it is drawn at once then, too
        return used

    def paste(self, text: str) -> None:
        """Pass on a pasted text: whole to a component that takes that, else with a key for each character."""
        if self.box is None and self.is_open and self._component.handle_paste(text):
            return
        for character in text:
            self.press(_KEYS.get(character) or Key(character, character))

    def mouse(self, event: MouseEvent) -> bool:
        """Pass a mouse event to the component; return whether it used the event."""
        return self.box is None and self.is_open and bool(self._component.handle_mouse(event))

    def set_focused(self, *, focused: bool) -> None:
        """Give the focus to the component or widget, or remove it."""
        if self.box is not None:
            self.box.set_focused(focused=focused)
        elif self.is_open:
            self._component.focused = focused
            self._owner.redraw(self)
