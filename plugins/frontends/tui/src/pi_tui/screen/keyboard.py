"""Dispatches keys to the parts of the screen.

The order: a plugin's overlay, an open dialog, the search, the completion list, a component that replaces the editor,
keys that cannot be overridden, plugins' keys, actions of the application and of the transcript, the editor.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from pi_hookspecs import canonical_key
from pi_tui.editor.press import press
from pi_tui.keys.actions import RESERVED
from pi_tui.lines.typed import text_width
from pi_tui.screen.escape import Ladders
from pi_tui.session.plugins import press_key, shortcuts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_tui.keys.events import Key
    from pi_tui.screen.app import ScreenApp

__all__ = ["Keyboard"]

_ALWAYS = frozenset(["app.clear", "app.exit"])
"""Actions that work even if a component replaces the editor."""

_SEARCH = "tui.altScreen.search"
"""Opens the search. While the editor has text, all keys of this action except the first belong to the editor."""

_PAUSE = 1.0
"""Seconds without a key for the editor after which a question may take the editor's place."""


class Keyboard:
    """The key handling of an application.

    Args:
        app: The application.

    Attributes:
        draws_later: Whether the last key went to a component that has not drawn yet what the key changes.
    """

    def __init__(self, app: ScreenApp) -> None:
        self._app = app
        self.draws_later = False
        self._edited_at: float | None = None
        """When the last key edited a text that is not sent yet; None if the last key did something else."""
        self._waiting: set[asyncio.Future[Any]] = set()
        self._ladders = Ladders(app, time.monotonic)
        self._actions: dict[str, Callable[[], object]] = {
            "app.interrupt": self._ladders.escape,
            "app.clear": self._ladders.clear,
            "app.suspend": app.suspend_process,
            "app.editor.external": app.edit_outside,
            "app.model.cycleForward": lambda: app.cycle_model(forward=True),
            "app.model.cycleBackward": lambda: app.cycle_model(forward=False),
            "app.model.select": lambda: app.run_command("model"),
            "app.session.new": lambda: app.run_command("new"),
            "app.session.tree": lambda: app.run_command("tree"),
            "app.session.fork": lambda: app.run_command("fork"),
            "app.session.resume": lambda: app.run_command("resume"),
            "app.thinking.cycle": app.cycle_thinking_level,
            "app.thinking.toggle": app.toggle_thinking,
            "app.tools.expand": lambda: app.set_expanded(expanded=not app.expanded),
            "app.message.copy": lambda: app.run_command("copy"),
            "app.message.followUp": lambda: app.submit(follow_up=True),
            "app.message.dequeue": app.take_back,
            "app.activities.open": app.open_activities,
            "tui.input.submit": app.submit,
            "tui.input.copy": self._ladders.copy,
            "tui.input.tab": lambda: app.completions.ask(app.editor, asked=True),
            "tui.altScreen.pageUp": lambda: app.transcript.scroll_pages(-1),
            "tui.altScreen.pageDown": lambda: app.transcript.scroll_pages(1),
            "tui.altScreen.halfPageUp": lambda: app.transcript.scroll_pages(-0.5),
            "tui.altScreen.halfPageDown": lambda: app.transcript.scroll_pages(0.5),
            "tui.altScreen.lineUp": lambda: app.transcript.scroll_rows(-1),
            "tui.altScreen.lineDown": lambda: app.transcript.scroll_rows(1),
            "tui.altScreen.previousPrompt": lambda: app.transcript.show_prompt(-1),
            "tui.altScreen.nextPrompt": lambda: app.transcript.show_prompt(1),
            _SEARCH: app.transcript.open_search,
            "app.clipboard.pasteImage": app.clipboards.paste,
            "tui.altScreen.top": app.transcript.show_top,
            "tui.altScreen.bottom": app.transcript.show_end,
        }

    def press(self, key: Key) -> None:
        """Handle a key."""
        self._edited_at = None
        self.draws_later = False
        if self._edits(key) and self._app.editor.text.text:
            self._edited_at = time.monotonic()

    async def wait_for_pause(self, question: asyncio.Future[Any]) -> None:
        """Wait until the user stops typing, so that a letter meant for the editor does not answer a question.

        Args:
            question: The result of the question; the wait ends when it is done.
        """
        self._waiting.add(question)
        try:
            while self._edited_at is not None and not question.done():
                left = self._edited_at + _PAUSE - time.monotonic()
                if left <= 0:
                    return
                await asyncio.wait([question], timeout=left)
        finally:
            self._waiting.discard(question)

    def dismiss_waiting(self) -> None:
        """Dismiss the questions that wait for a pause, because the application ends."""
        for each in self._waiting:
            if not each.done():
                each.set_result(None)

    def _edits(self, key: Key) -> bool:
        """Handle a key; return whether it went to the editor."""
        app = self._app
        if self._in_front(key):
            return False
        actions = app.bindings.actions(key.name, "main")
        if app.editor.jumping and key.text:
            actions = ()
        if self._editor_component(key, actions):
            return True
        if RESERVED.isdisjoint(actions) and self._plugin(key):
            return False
        for action in actions:
            if self._does(action, key):
                self._actions[action]()
                return False
        edited = press(app.editor, key, app.bindings, width=text_width(app.size.width), page=app.editor_page)
        if edited is None:
            return False
        app.set_editor(edited)
        return True

    def _in_front(self, key: Key) -> bool:
        """Pass a key to the part in front of the editor; return False if no such part uses it."""
        app = self._app
        if app.overlays.press(key, app.bindings):
            return True
        dialog = app.dialog
        if dialog is not None:
            dialog.key(key, app.bindings)
            self.draws_later = app.dialog is dialog and dialog.draws_later
            if not self.draws_later:
                app.draw_dialog()
            return True
        if app.transcript.search is not None and self._search(key):
            return True
        return app.completions.menu is not None and self._complete(key)

    def _does(self, action: str, key: Key) -> bool:
        """Whether the application handles an action now: some keys belong to the editor while it has text.

        If the editor is empty, ``app.exit`` is carried out here.
        """
        if action == "app.exit":
            if self._app.editor.text.text:
                return False
            self._app.leave()
            return False
        is_home = action == "tui.altScreen.top" and key.name == "home"
        if is_home or (action == _SEARCH and key.name != self._app.bindings.keys(action)[0]):
            return not self._app.editor.text.text
        if action == "tui.input.copy":
            pane = self._app.transcript
            return bool(pane.selection.text(pane.room[1]))
        if action == "tui.altScreen.bottom":
            return not self._app.transcript.anchored.follows
        return action in self._actions

    def _search(self, key: Key) -> bool:
        """Handle a key in the search; return False if the search does not use it, such as a key that scrolls."""
        pane, bindings = self._app.transcript, self._app.bindings
        closes = ("tui.altScreen.searchClose", _SEARCH, *(() if self._does("tui.input.copy", key) else ("app.clear",)))
        if any(bindings.does(key.name, action) for action in closes):
            pane.close_search()
            self._app.editor_box.refresh()  # takes the terminal's cursor back
            return True
        if pane.search is None or not pane.search.press(key, bindings, *pane.room):
            return False
        pane.update_rows()
        return True

    def _complete(self, key: Key) -> bool:
        """Handle a key in the completion list; return False if the list does not use it."""
        app, completions = self._app, self._app.completions
        in_list = app.bindings.actions(key.name, "list")
        if "tui.select.up" in in_list:
            completions.move(-1)
        elif "tui.select.down" in in_list:
            completions.move(1)
        elif app.bindings.does(key.name, "tui.input.tab"):
            app.set_editor(completions.taken(app.editor))
        elif app.bindings.does(key.name, "tui.input.submit"):
            taken = completions.taken(app.editor)
            text = taken.text.text.strip()
            is_command = text.startswith("/") and " " not in text
            completions.close()
            if taken.text.text.rstrip() == app.editor.text.text.rstrip():
                return False  # already complete, so the key sends it
            app.set_editor(taken, complete=not is_command)
            if is_command:
                app.submit()
        elif app.bindings.does(key.name, "app.interrupt"):
            completions.close()
        else:
            return False
        return True

    def _editor_component(self, key: Key, actions: Sequence[str]) -> bool:
        """Pass a key to the component that replaces the editor, except the keys of ``_ALWAYS``."""
        editor = self._app.board.editor
        if editor is None or not _ALWAYS.isdisjoint(actions):
            return False
        used = editor.press(key)
        if used:
            self._app.draw_editor()
        return used

    def _plugin(self, key: Key) -> bool:
        """Call the plugin that registered a key; return False if there is none."""
        name = canonical_key(key.name) if "+" in key.name else key.name
        if all(each.name != name for each in shortcuts(self._app.session)):
            return False
        self._app.start(press_key(self._app.session, name))
        return True
