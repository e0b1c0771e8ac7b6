"""A component that replaces the editor: it draws the text and may handle keys; the editor's model does the rest.

Before each key, the component receives the text and the cursor; afterwards, they are read back. The editor handles keys
that the component does not use, so that completion, history and pastes work as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.plugins_ui.place import Place

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.editor.state import Editor
    from pi_tui.keys.events import Key
    from pi_tui.screen.app import ScreenApp

__all__ = ["EditorComponent"]


class EditorPlace(Place):
    """The place of the editor: calling ``done`` with a text submits the text, and the component stays."""

    def done(self, result: Any = None) -> None:
        """Submit a text; remove the component without one."""
        if isinstance(result, str):
            self._in_thread(lambda: self._submit(result))
        else:
            super().done(result)

    def _submit(self, text: str) -> None:
        if self.is_open:
            self.app.set_text(text)
            self.app.submit()


class EditorComponent:
    """The component that replaces the editor.

    Args:
        place: The place that contains the component.
        app: The application.
    """

    def __init__(self, place: Place, app: ScreenApp) -> None:
        self.place = place
        self._app = app

    @property
    def is_ruled(self) -> bool:
        """Whether it is displayed between two rules; a component with ``draws_rules`` has its own."""
        return self.place.component.get("draws_rules", False) is not True

    def rows(self, width: int) -> list[Line]:
        """Return the rows for the current text."""
        self._give()
        return self.place.rows(width)

    def press(self, key: Key) -> bool:
        """Pass a key to the component and return whether it used it; apply its changes of the text to the editor."""
        self._give()
        before = self._app.editor
        used = self.place.press(key)
        if used and self.place.is_open and self._app.editor is before:
            self._take()
        return used

    def _give(self) -> None:
        component, editor = self.place.component, self._app.editor
        component.set("text", editor.value)
        component.set("cursor", _cursor_of(editor))

    def _take(self) -> None:
        component, editor = self.place.component, self._app.editor
        text = component.get("text", editor.value)
        cursor = component.get("cursor", None)
        if isinstance(text, str) and text != editor.value:
            editor = editor.put(text)
        if isinstance(cursor, int):
            editor = _with_cursor(editor, cursor)
        self._app.set_editor(editor)


def _cursor_of(editor: Editor) -> int:
    """Return the index of the cursor in the text with pasted texts expanded."""
    return len(editor.pastes.expanded(editor.text.text[: editor.text.cursor]))


def _with_cursor(editor: Editor, cursor: int) -> Editor:
    """Return the editor with its cursor at an index of the expanded text; before a paste that contains the index."""
    end = 0
    for index, character in enumerate(editor.text.text):
        end += len(editor.pastes.expanded(character))
        if end > cursor:
            return editor.moved(index)
    return editor.moved(len(editor.text.text))
