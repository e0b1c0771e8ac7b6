"""The places in which plugins draw around the conversation: widgets, header, footer and the editor itself."""

from __future__ import annotations

from traceback import format_exception
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_tui.lines.around_editor import MOST_ROWS
from pi_tui.plugins_ui.editor_component import EditorComponent, EditorPlace
from pi_tui.plugins_ui.place import Place
from pi_tui.session.plugins import report_drawing
from pi_tui.view.changes import Changes
from pi_tui.view.local_events import WidgetChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import ComponentFactory, Line, MouseEvent, WidgetPlacement
    from pi_tui.screen.app import ScreenApp

__all__ = ["Board"]


class Board:
    """The permanent places of an application, which stay until they are replaced or removed.

    Args:
        app: The application.

    Attributes:
        editor: The component that replaces the editor; None for the screen's own editor.
        editor_factory: The factory that created it.
    """

    def __init__(self, app: ScreenApp) -> None:
        self._app = app
        self._widgets: dict[str, Place] = {}
        self._dirty: dict[Place, None] = {}
        self.editor: EditorComponent | None = None
        self.editor_factory: ComponentFactory | None = None
        self._header: Place | None = None
        self._footer: Place | None = None
        self._places: list[Place] = []

    # Drawing

    def redraw(self, place: Place) -> None:
        """Draw a place with the next frame."""
        if place.is_open:
            self._dirty[place] = None
            self._app.frames.want(Changes.of("components"))

    def draw(self) -> None:
        """Draw the places that have changed."""
        dirty, self._dirty = self._dirty, {}
        for place in dirty:
            if place.is_open:
                place.draw()

    def redraw_all(self) -> None:
        """Draw all places with the next frame, because the size or the colours changed."""
        self._places = [place for place in self._places if place.is_open]
        for place in self._places:
            self.redraw(place)

    def keep(self, place: Place) -> None:
        """Draw a place with the next frame, and again whenever the size or the colours change."""
        self._places.append(place)
        self.redraw(place)

    def failed(self, place: Place, error: Exception) -> None:
        """Report that a place's widget raised an error."""
        message = f"Its widget raised {type(error).__name__}: {str(error) or '(no message)'}. It was removed."
        report_drawing(self._app.session, place.plugin, message, "".join(format_exception(error)))

    # Widgets

    def set_widget(self, key: str, factory: ComponentFactory | None, placement: WidgetPlacement) -> None:
        """Display a component under a key; None removes the key's component."""
        self._remove_widget(key)
        if factory is None:
            return
        place = Place(
            self._app, self, lambda: self._draw_widget(key, place, placement), lambda _: self._gone(key, place)
        )
        where = {"after": self._app.above} if placement == "aboveEditor" else {"before": self._app.footer_box}
        if self._filled(place, factory, where):
            self._widgets[key] = place
            if place.box is not None:
                place.box.styles.max_height = MOST_ROWS

    def mouse(self, placement: WidgetPlacement, event: MouseEvent) -> bool:
        """Pass a mouse event to the component under the pointer; return whether the component used it."""
        row = event.y
        for key, widget in self._app.state.widgets.items():
            if widget.placement == placement:
                height = min(len(widget.lines), MOST_ROWS)
                if row < height:
                    place = self._widgets.get(key)
                    return place is not None and place.mouse(evolve(event, y=row))
                row -= height
        return False

    def _remove_widget(self, key: str) -> None:
        place = self._widgets.pop(key, None)
        if place is not None:
            place.close()

    def _draw_widget(self, key: str, place: Place, placement: WidgetPlacement) -> None:
        if place.box is None:
            rows = place.rows(self._app.width)
            if place.is_open:  # it may have been removed after failing too often
                self._app.take_event(WidgetChanged(key=key, lines=tuple(rows), placement=placement))

    def _gone(self, key: str, place: Place) -> None:
        if self._widgets.get(key) in (place, None):
            self._widgets.pop(key, None)
            self._app.take_event(WidgetChanged(key=key))

    # Header, footer and editor

    def set_header(self, factory: ComponentFactory | None) -> None:
        """Display a component in place of the header; None displays the header again."""
        self._header = self._replaced(self._header, factory, self._app.draw_head, {"before": self._app.transcript})

    def set_footer(self, factory: ComponentFactory | None) -> None:
        """Display a component in place of the footer; None displays the footer again."""
        self._footer = self._replaced(self._footer, factory, self._app.draw_footer, {"after": self._app.footer_box})

    def header_rows(self, width: int) -> list[Line] | None:
        """Return the rows of the component that replaces the header; None if there is none."""
        return _rows(self._header, width)

    def footer_rows(self, width: int) -> list[Line] | None:
        """Return the rows of the component that replaces the footer; None if there is none."""
        return _rows(self._footer, width)

    def set_editor(self, factory: ComponentFactory | None) -> None:
        """Display a component in place of the editor; None displays the editor again.

        Raises:
            TypeError: The factory returned a Textual widget, which has no text that the editor's keys could change.
        """
        if self.editor is not None:
            self.editor.place.close()
        self.editor, self.editor_factory = None, None
        if factory is not None:
            place = EditorPlace(self._app, self, self._app.draw_editor, self._editor_done)
            if place.fill(factory):
                if place.box is not None:
                    place.close()
                    raise TypeError("a widget of Textual cannot replace the editor; a component with render(width) can")
                self.keep(place)
                self.editor, self.editor_factory = EditorComponent(place, self._app), factory
        self._app.draw_editor()

    def _editor_done(self, _result: object) -> None:
        self.editor, self.editor_factory = None, None
        self._app.draw_editor()

    def _replaced(
        self, before: Place | None, factory: ComponentFactory | None, draw: Callable[[], object], where: dict[str, Any]
    ) -> Place | None:
        if before is not None:
            before.close()
        place = Place(self._app, self, draw, lambda _: draw()) if factory is not None else None
        return place if place is not None and factory is not None and self._filled(place, factory, where) else None

    def _filled(self, place: Place, factory: ComponentFactory, where: dict[str, Any]) -> bool:
        if not place.fill(factory):
            return False
        if place.box is not None:
            self._app.mount(place.box, **where)
        self.keep(place)
        return True


def _rows(place: Place | None, width: int) -> list[Line] | None:
    rows = place.rows(width) if place is not None and place.is_open else None
    return rows if place is not None and place.is_open else None
