"""The user's actions on the screen: type, send and withdraw, choose, hide and expand, suspend, exit."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pi_hookspecs import PiError
from pi_terminal_kit.settings import EXTERNAL_EDITOR, HIDE_THINKING
from pi_tui.declared_settings import DOUBLE_ESCAPE
from pi_tui.editor.complete.words import WordSource
from pi_tui.editor.state import Editor
from pi_tui.keys.actions import ACTIONS
from pi_tui.keys.conflicts import find_shortcut_conflicts
from pi_tui.keys.hints import key_hint
from pi_tui.screen.clipboard import Clipboard, Images
from pi_tui.screen.completion import Completions
from pi_tui.screen.talk import Talk, Typed
from pi_tui.session.plugins import shortcuts
from pi_tui.view.local_events import NoticeShown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from textual.app import App

    from pi_core import Session
    from pi_hookspecs import AutocompleteProvider, NoticeLevel
    from pi_terminal_kit.prompt_history import PromptFile
    from pi_tui.dialogs.base import Dialog
    from pi_tui.keys.actions import Action, Place
    from pi_tui.keys.bindings import Bindings
    from pi_tui.plugins_ui.interface import Interface
    from pi_tui.plugins_ui.overlays import Overlays
    from pi_tui.screen.themes import Themes
    from pi_tui.screen.transcript import Transcript
    from pi_tui.view.state import State

    _App = App[int]
else:
    _App = object

__all__ = ["Controls"]

T = TypeVar("T")

_OF_EDITOR = "tui.editor."
_SCROLLING = ("tui.altScreen.pageUp", "tui.altScreen.pageDown")
"""Actions whose keys the editor at the prompt never gets, whatever its own actions are bound to."""

_FIRST = ("app.", "tui.input.")
"""How the names of the actions begin that are listed before those that move the cursor and scroll."""

_PLACES: Mapping[Place, str] = {
    "main": "At the prompt",
    "search": "In the search of the conversation",
    "list": "In lists",
    "sessions": "In the list of sessions",
    "models": "In the list of models",
    "thinking": "In the list of thinking levels",
    "tree": "In the tree",
}


class Controls(_App):
    """The part of the application that carries out keys and commands; the subclass draws.

    Attributes:
        editor: The state of the editor.
        expanded: Whether blocks are displayed in full.
        thinking_hidden: Whether reasoning is collapsed to one line.
        dialogs: Open dialogs; the first is displayed.
        history: Stores sent texts; None stores nothing.
        clipboards: Copies and pastes.
        images: Pasted images.
        first_problems: Problems in the front end's files, found at the start.
    """

    session: Session
    state: State
    transcript: Transcript
    bindings: Bindings
    themes: Themes
    overlays: Overlays
    interface: Interface

    def start_controls(self, session_dir: str | None, environ: Mapping[str, str]) -> None:
        """Initialize the attributes, with an empty editor."""
        self.editor = Editor()
        self.expanded = False
        self.thinking_hidden = HIDE_THINKING.read(self.session.settings)
        self.dialogs: list[Dialog[Any]] = []
        self.history: PromptFile | None = None
        self.clipboards, self.images = Clipboard(self, environ), Images()
        self.first_problems: list[str] = []
        self._warned: set[str] = set()
        self.talk = Talk(self.session, self, self.interface, session_dir)
        self.completions = Completions(
            self.talk, self.draw_editor, self._take_completion, lambda: self.editor.history.sent
        )
        self._started_work: set[asyncio.Future[Any]] = set()

    # Problems

    def warn(self, *problems: str) -> None:
        """Display each new problem; problems that differ only in milliseconds are the same."""
        for problem in problems:
            if self._is_new(problem):
                self.notice(problem, "warning")

    def remember_failure(self, event: Any) -> None:
        """Do not warn again of a plugin's failure, which its own event has already reported."""
        self._is_new(f"Plugin {event.extension_path!r} ({event.event}): {event.error}")

    def _is_new(self, problem: str) -> bool:
        key = re.sub(r"after \d+ ms", "", problem)
        if key in self._warned:
            return False
        self._warned.add(key)
        return True

    # Implemented by the part that draws

    def take_event(self, event: Any) -> None:
        """Handle an event of the session or of the front end."""
        raise NotImplementedError

    def refresh_facts(self) -> None:
        """Update the fields of the footer that no event contains."""
        raise NotImplementedError

    def recording(self) -> AbstractContextManager[None]:
        """Return a context in which reports are kept if the conversation is replaced."""
        raise NotImplementedError

    def draw_editor(self) -> None:
        """Draw the editor."""
        raise NotImplementedError

    def draw_dialog(self) -> None:
        """Draw the open dialog, or the editor if no dialog is open."""
        raise NotImplementedError

    def drawn(self) -> list[str]:
        """Return the rows of the screen as plain text."""
        raise NotImplementedError

    def draw_all(self) -> None:
        """Draw everything."""
        raise NotImplementedError

    def transcript_to_end(self) -> None:
        """Scroll to the end of the conversation and follow it."""
        raise NotImplementedError

    def write_terminal(self, sequence: str) -> None:
        """Write an escape sequence to the terminal."""
        raise NotImplementedError

    # The editor

    @property
    def editor_page(self) -> int:
        """The rows by which the page keys move in the editor."""
        return max(self.size.height // 3, 1)

    def set_editor(self, editor: Editor, *, complete: bool = True) -> None:
        """Replace the state of the editor, and look for completions."""
        changed = editor.text.text != self.editor.text.text
        self.editor = editor
        if complete and (changed or self.completions.menu is not None):
            self.completions.ask(editor)
        self.draw_editor()

    def _take_completion(self) -> None:
        """Insert the selected completion."""
        taken = self.completions.taken(self.editor)
        self.completions.close()
        self.set_editor(taken)

    def take_paste(self, text: str) -> None:
        """Insert a pasted text into the part of the screen that receives keys."""
        dialog = self.dialog
        if self.overlays.focused is not None:
            self.overlays.focused.place.paste(text)
        elif dialog is not None:
            dialog.paste(text)
            self.draw_dialog()
        elif self.transcript.search is not None:
            self.transcript.search.paste(text, *self.transcript.room)
            self.transcript.update_rows()
        else:
            self.set_editor(self.editor.pasted(text))

    def paste(self, text: str) -> None:
        """Insert a text at the editor's cursor."""
        self.set_editor(self.editor.pasted(text))

    def get_text(self) -> str:
        """Return the text of the editor."""
        return self.editor.value

    def set_text(self, text: str) -> None:
        """Replace the text of the editor."""
        self.set_editor(self.editor.put(text), complete=False)

    def put_text(self, text: str) -> None:
        """Insert a text into the editor, before its current text."""
        self.set_text("\n\n".join(filter(None, [text, self.editor.value])))

    def editor_is_empty(self) -> bool:
        """Whether the editor has no text."""
        return not self.editor.text.text

    def edit_outside(self) -> None:
        """Edit the text of the editor in the user's own editor."""
        self.start(self._edit_outside())

    async def _edit_outside(self) -> None:
        from pi_terminal_kit.outside_editor import EditorFailed
        from pi_tui.screen.outside import edited

        setting = EXTERNAL_EDITOR.read(self.session.settings)
        try:
            self.set_text(await edited(self.editor.value, setting, self.suspend))
        except EditorFailed as error:
            self.notice(f"{error}. Your text is unchanged.", "warning")

    # Sending

    def submit(self, *, follow_up: bool = False) -> None:
        """Send the text of the editor: now, before the next request, or as a follow-up."""
        self.completions.close()
        if not self.editor.value.strip():
            if not follow_up:
                self.open_activities()
            return
        self.editor, text = self.editor.sent()
        if self.history is not None:
            self.history.append(text)
        self.transcript_to_end()
        self.transcript.selection.clear()
        self.talk.send(Typed(text, follow_up, self.images.of(text)))
        self.draw_editor()

    def run_command(self, name: str) -> None:
        """Run a slash command of the front end."""
        self.talk.send(Typed(f"/{name}"))

    def open_activities(self) -> None:
        """List what runs and what waits, if anything does."""
        if self.state.activities:
            self.start(self._open_activities())

    async def _open_activities(self) -> None:
        from pi_tui.dialogs.activities import ActivityList

        def run(command: str) -> None:
            self.run_command(command.removeprefix("/"))

        command = await self.ask(ActivityList(self.state.activities, lambda: self.state.queue, run))
        if command:
            run(command)

    def take_back(self) -> None:
        """Move queued messages back into the editor, before its current text."""
        texts = self.talk.take_back()
        if not texts:
            return
        self.put_text("\n\n".join(texts))
        many = "" if len(texts) == 1 else "s"
        self.notice(f"Restored {len(texts)} queued message{many} to editor")

    # Models, display, keys and themes

    def cycle_model(self, *, forward: bool) -> None:
        """Switch to the next model, or to the previous one."""
        self.start(self._cycle_model(forward=forward))

    async def _cycle_model(self, *, forward: bool) -> None:
        changed = await self.session.cycle_model("forward" if forward else "backward")
        self.report(f"Switched to {changed.model.id}" if changed is not None else "Only one model available")
        self.refresh_facts()

    def cycle_thinking_level(self) -> None:
        """Switch to the next thinking level."""
        self.start(self._cycle_thinking_level())

    async def _cycle_thinking_level(self) -> None:
        level = await self.session.cycle_thinking_level()
        self.report(f"Thinking level: {level}" if level is not None else "This model has one thinking level")
        self.refresh_facts()

    def toggle_thinking(self) -> None:
        """Switch between displayed and hidden reasoning."""
        self.show_thinking(shown=self.thinking_hidden)

    def show_thinking(self, *, shown: bool) -> None:
        """Display reasoning, or hide it."""
        self.thinking_hidden = not shown
        self.report(f"Thinking blocks: {'hidden' if self.thinking_hidden else 'visible'}")
        self.draw_all()

    def set_expanded(self, *, expanded: bool) -> None:
        """Display all blocks in full, or only the beginning of long ones."""
        if expanded != self.expanded:
            self.expanded = expanded
            self.transcript.anchored.toggled.clear()
            self.report(f"Tool output: {'expanded' if expanded else 'collapsed'}")
            self.draw_all()

    def escaped_twice(self) -> None:
        """Run the command that the setting ``doubleEscapeAction`` names, if it exists."""
        action = DOUBLE_ESCAPE.read(self.session.settings)
        if action in self.talk.own:
            self.run_command(action)

    def key_rows(self) -> list[tuple[str, str]]:
        """Return keys and descriptions of their actions; a row without a key is the heading of a group."""
        rows = []
        for place, title in _PLACES.items():
            actions = [each for each in ACTIONS.values() if each.places[0] == place]
            actions.sort(key=lambda each: not each.id.startswith(_FIRST))
            found = [self._keys_row(each) for each in actions]
            rows += [("", title), *filter(None, found)] if any(found) else []
        plugins = [(each.name, f"{each.description} ({each.plugin})") for each in shortcuts(self.session)]
        return [*rows, *([("", "Keys of plugins"), *plugins] if plugins else [])]

    def _keys_row(self, action: Action) -> tuple[str, str] | None:
        scrolling = {key for each in _SCROLLING for key in self.bindings.keys(each)}
        own = [
            key for key in self.bindings.keys(action.id) if not action.id.startswith(_OF_EDITOR) or key not in scrolling
        ]
        keys = "/".join(key_hint(key, self.bindings.platform) for key in own)
        return (keys, action.description) if keys else None

    def shortcut_problems(self) -> list[str]:
        """Return the conflicts between keys of plugins and keys of actions."""
        keys = [(each.name, each.plugin) for each in shortcuts(self.session)]
        return [str(each) for each in find_shortcut_conflicts(self.bindings, keys)]

    def add_words(self, provider: AutocompleteProvider) -> Callable[[], None]:
        """Add a provider of completions; return a function that removes it."""
        return self.completions.add(WordSource(provider))

    def load_themes(self) -> None:
        """Load the available themes, and display the configured one."""
        self.start(self._load_themes())

    async def _load_themes(self) -> None:
        problem = await self.themes.load()
        if problem is not None:
            self.notice(problem, "warning")

    def notice(self, text: str, level: NoticeLevel = "info") -> None:
        """Display a notice."""
        self.take_event(NoticeShown(text=text, level=level))

    def report(self, text: str) -> None:
        """Display the effect of a key; this replaces an earlier report at the end of the conversation."""
        self.take_event(NoticeShown(text=text, replaces=True))

    # Dialogs

    @property
    def dialog(self) -> Dialog[Any] | None:
        """The dialog that is displayed and receives the keys."""
        return self.dialogs[0] if self.dialogs else None

    def open_dialog(self, dialog: Dialog[Any]) -> None:
        """Display a dialog, after earlier dialogs are closed."""
        self.dialogs.append(dialog)
        self.overlays.hold(held=True)
        self.completions.close()
        self.draw_dialog()

    async def ask(self, dialog: Dialog[T]) -> T | None:
        """Display a dialog and return its result; None if it was dismissed."""
        self.open_dialog(dialog)
        try:
            return await dialog.result
        finally:
            self.close_dialog(dialog)

    def close_dialog(self, dialog: Dialog[Any]) -> None:
        """Remove a dialog."""
        if dialog in self.dialogs:
            self.dialogs.remove(dialog)
            if not self.dialogs:
                self.overlays.hold(held=False)
            self.draw_dialog()

    # Background work, suspension and exit

    def start(self, work: Awaitable[Any]) -> None:
        """Run work in the background; if it fails, display the error as a notice."""
        task = asyncio.ensure_future(self._reported(work))
        self._started_work.add(task)
        task.add_done_callback(self._started_work.discard)

    async def _reported(self, work: Awaitable[Any]) -> None:
        try:
            await work
        except PiError as error:
            self.notice(str(error), "error")

    def suspend_process(self) -> None:
        """Stop this process until the shell continues it; then redraw everything."""
        if sys.platform == "win32":
            return
        with self.suspend():
            os.kill(os.getpid(), signal.SIGSTOP)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Return the terminal while the block runs; take it back and draw everything, however the block ends."""
        failed = None
        with super().suspend():
            try:
                yield
            except BaseException as error:  # noqa: BLE001 - raised again once the terminal is pi's
                failed = error
        self.draw_again()
        if failed is not None:
            raise failed

    def draw_again(self) -> None:
        """Draw everything on a terminal that shows something else."""
        self.refresh(layout=True)
        self.draw_all()

    def leave(self) -> None:
        """Leave the session, which ends the application."""
        self.session.shutdown_requested.set()
