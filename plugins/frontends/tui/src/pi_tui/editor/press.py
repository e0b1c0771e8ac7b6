"""What a key does to the editor, once nothing else has taken it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.editor.actions import act

if TYPE_CHECKING:
    from pi_tui.editor.state import Editor
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["press"]


def press(editor: Editor, key: Key, bindings: Bindings, *, width: int, page: int) -> Editor | None:
    """Return the editor after a key; None for a key that means nothing to it.

    A character that is looked for after a jump was begun is one even if its key does something else.

    Args:
        editor: The editor.
        key: The key.
        bindings: What keys do.
        width: Cells of a row.
        page: Rows of a page.
    """
    if key.action == "release":
        return None
    if editor.jumping and key.text:
        return editor.typed(key.text)
    for action in bindings.actions(key.name, "main"):
        done = act(editor, action, width=width, page=page)
        if done is not None:
            return done
    if key.text:
        return editor.typed(key.text)
    return editor._replace(jumping="") if editor.jumping and key.name == "escape" else None
