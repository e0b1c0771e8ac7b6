"""A component in place of the editor: it draws the text and may take keys; the editor's model does the rest.

Before each key the component gets the text and the cursor, after it they are read again. A key that it does not use is
the editor's, so that completion, history and pastes work as ever.
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
    """The place of the editor: ``done`` with a text submits that, and the component stays."""

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
        place: Has the component.
        app: The application.
    """

    def __init__(self, place: Place, app: ScreenApp) -> None:
        self.place = place
        self._app = app

    def rows(self, width: int) -> list[Line]:
        """Return the rows, for the text as it is now."""
        self._give()
        return self.place.rows(width)

    def press(self, key: Key) -> bool:
        """Return whether the component used a key; what it made of the text is in the editor then."""
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
    """Return where the cursor is in the text with what was pasted."""
    return len(editor.pastes.expanded(editor.text.text[: editor.text.cursor]))


def _with_cursor(editor: Editor, cursor: int) -> Editor:
    """Return the editor with its cursor at an index of that text; before a paste, if that is inside of it."""
    end = 0
    for index, character in enumerate(editor.text.text):
        end += len(editor.pastes.expanded(character))
        if end > cursor:
            return editor.moved(index)
    return editor.moved(len(editor.text.text))
