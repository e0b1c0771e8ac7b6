"""The effect of a key on the editor, if nothing else has handled the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.editor.actions import act

if TYPE_CHECKING:
    from pi_tui.editor.state import Editor
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["press"]


def press(editor: Editor, key: Key, bindings: Bindings, *, width: int, page: int) -> Editor | None:
    """Return the editor after a key; None if the editor does not use the key.

    After a jump has begun, a key that types a character selects the target of the jump, even if the key has an action.

    Args:
        editor: The editor.
        key: The key.
        bindings: The key bindings.
        width: Cells of a row.
        page: Number of rows of a page.
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
