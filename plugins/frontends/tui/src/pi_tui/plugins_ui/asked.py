"""Components that receive all keys until they are done, either in place of the editor or as overlays."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_tui.dialogs.base import Dialog
from pi_tui.plugins_ui.overlays import OpenOverlay, dismisses
from pi_tui.plugins_ui.place import Place

if TYPE_CHECKING:
    from pi_hookspecs import ComponentFactory, Line, MouseEvent, Overlay
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key
    from pi_tui.screen.app import ScreenApp

__all__ = ["Asked", "ask_component"]


async def ask_component(app: ScreenApp, factory: ComponentFactory, overlay: Overlay | None) -> Any:
    """Display a component until it is done, and return its result; None if the user dismissed it."""
    if overlay is not None:
        return await _ask_overlay(app, factory, overlay)
    return await _ask_instead(app, factory)


async def _ask_instead(app: ScreenApp, factory: ComponentFactory) -> Any:
    result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    await app.keyboard.wait_for_pause(result)
    if result.done():
        return None
    place = Place(app, app.board, app.draw_dialog, lambda value: _set(result, value), asks=True)
    if not place.fill(factory):
        return result.result() if result.done() else None
    asked = Asked(place)
    app.board.keep(place)
    app.open_dialog(asked)
    try:
        if place.box is not None:
            await app.mount(place.box, after=app.dialog_box)
        place.set_focused(focused=True)
        await asyncio.wait([result, asked.result], return_when=asyncio.FIRST_COMPLETED)
        return result.result() if result.done() else None
    finally:
        place.close()
        app.close_dialog(asked)


async def _ask_overlay(app: ScreenApp, factory: ComponentFactory, overlay: Overlay) -> Any:
    result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    await app.keyboard.wait_for_pause(result)
    if result.done():
        return None
    opened = OpenOverlay(app, overlay, lambda value: _set(result, value))
    if not opened.place.fill(factory):
        return result.result() if result.done() else None
    try:
        await app.overlays.open(opened)
        return await result
    finally:
        app.overlays.close(opened)


def _set(result: asyncio.Future[Any], value: Any) -> None:
    if not result.done():
        result.set_result(value)


class Asked(Dialog[Any]):
    """A component as a dialog. Escape and Ctrl+C dismiss it, unless it uses them itself."""

    is_tall = True

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place

    @property
    def draws_later(self) -> bool:
        """Whether the component shows the effect of a key only when it asks to be drawn, as one of another process."""
        return self.place.is_open and self.place.draws_later

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the rows of the component."""
        return self.place.rows(width)[:height] if self.place.is_open else []

    def key(self, key: Key, bindings: Bindings) -> None:
        """Pass a key to the component; Escape and Ctrl+C dismiss the component if it does not use them."""
        if not self.place.press(key) and dismisses(key, bindings):
            self.place.close()

    def paste(self, text: str) -> None:
        """Pass the characters of a pasted text to the component, one after the other."""
        self.place.paste(text)

    def mouse(self, event: MouseEvent) -> bool:
        """Pass a mouse event to the component."""
        return self.place.mouse(event)

    def finish(self, result: Any) -> None:
        """Close the component."""
        super().finish(result)
        self.place.close(result)
