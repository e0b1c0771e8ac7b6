"""The implementation of the editor's actions, by the ids in ``keys.actions``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pi_tui.editor.moves import left, right, rows_away, word_left, word_right

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_tui.editor.state import Editor
    from pi_tui.editor.text import Text

__all__ = ["EDITOR_ACTIONS", "act"]


def act(editor: Editor, action: str, *, width: int, page: int) -> Editor | None:
    """Return the editor after an action; None if the action is not one of the editor's.

    Args:
        editor: The editor.
        action: The id of the action.
        width: Cells of a row.
        page: Number of rows of a page.
    """
    if action in _MOVES:
        return editor.moved(_MOVES[action](editor.text))
    if action in _KILLS:
        return editor.killed(*_KILLS[action](editor.text))
    if action in _EDITS:
        return _EDITS[action](editor)
    if action in _ROWS:
        return _ROWS[action](editor, width, page)
    return None


def _up(editor: Editor, width: int, _page: int) -> Editor:
    """Move up; from the first row to its start, and from there, or while recalling history, to the previous entry."""
    found = rows_away(editor.text, -1, width, editor.goal, editor.labels)
    if found is not None:
        return editor.moved(*found)
    if editor.history.back or editor.text.cursor == 0:
        return editor.recalled(1) or editor
    return editor.moved(0)


def _down(editor: Editor, width: int, _page: int) -> Editor:
    """Move down; from the last row to its end, and while recalling history, to the next entry."""
    found = rows_away(editor.text, 1, width, editor.goal, editor.labels)
    if found is not None:
        return editor.moved(*found)
    return editor.recalled(-1) or editor.moved(len(editor.text.text))


def _page(editor: Editor, width: int, page: int, *, direction: int) -> Editor:
    found = rows_away(editor.text, direction * max(page, 1), width, editor.goal, editor.labels)
    return editor.moved(*found) if found is not None else editor


def _recall(editor: Editor, _width: int, _page: int, *, by: int) -> Editor:
    return editor.recalled(by) or editor


def _delete(editor: Editor, *, forward: bool) -> Editor:
    text = editor.text
    end = right(text) if forward else text.cursor
    start = text.cursor if forward else left(text)
    return editor.edited(text.without(start, end)) if end > start else editor


def _to_line_start(text: Text) -> tuple[int, int]:
    start = text.line_start
    return (start if start < text.cursor else left(text)), text.cursor


def _to_line_end(text: Text) -> tuple[int, int]:
    end = text.line_end
    return text.cursor, (end if end > text.cursor else right(text))


_MOVES: Mapping[str, Callable[[Text], int]] = {
    "tui.editor.cursorLeft": left,
    "tui.editor.cursorRight": right,
    "tui.editor.cursorWordLeft": word_left,
    "tui.editor.cursorWordRight": word_right,
    "tui.editor.cursorLineStart": lambda text: text.line_start,
    "tui.editor.cursorLineEnd": lambda text: text.line_end,
}

_KILLS: Mapping[str, Callable[[Text], tuple[int, int]]] = {
    "tui.editor.deleteWordBackward": lambda text: (word_left(text), text.cursor),
    "tui.editor.deleteWordForward": lambda text: (text.cursor, word_right(text)),
    "tui.editor.deleteToLineStart": _to_line_start,
    "tui.editor.deleteToLineEnd": _to_line_end,
}

_EDITS: Mapping[str, Callable[[Editor], Editor]] = {
    "tui.editor.deleteCharBackward": partial(_delete, forward=False),
    "tui.editor.deleteCharForward": partial(_delete, forward=True),
    "tui.editor.yank": lambda editor: editor.yank(),
    "tui.editor.yankPop": lambda editor: editor.yanked_again(),
    "tui.editor.undo": lambda editor: editor.undone(),
    "tui.input.newLine": lambda editor: editor.edited(editor.text.inserted("\n")),
    "tui.editor.jumpForward": lambda editor: editor.moved(editor.text.cursor)._replace(jumping="forward"),
    "tui.editor.jumpBackward": lambda editor: editor.moved(editor.text.cursor)._replace(jumping="backward"),
}

_ROWS: Mapping[str, Callable[[Editor, int, int], Editor]] = {
    "tui.editor.cursorUp": _up,
    "tui.editor.cursorDown": _down,
    "tui.editor.pageUp": partial(_page, direction=-1),
    "tui.editor.pageDown": partial(_page, direction=1),
    "tui.editor.historyPrevious": partial(_recall, by=1),
    "tui.editor.historyNext": partial(_recall, by=-1),
}

EDITOR_ACTIONS = frozenset({*_MOVES, *_KILLS, *_EDITS, *_ROWS})
"""The actions that ``act`` performs."""
