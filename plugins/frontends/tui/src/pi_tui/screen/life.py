"""The application's life cycle: start-up, the first prompts, shutdown and crashes."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from pi_tui.editor.history import History
from pi_tui.screen.talk import Typed
from pi_tui.session.facts import problems_of, why_no_model
from pi_tui.view.reduce import reduce

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from textual.app import App
    from textual.timer import Timer

    from pi_core import Session
    from pi_hookspecs import NoticeLevel
    from pi_terminal_kit.prompt_history import PromptFile
    from pi_terminal_kit.streams import StrayLines
    from pi_tui.dialogs.base import Dialog
    from pi_tui.editor.state import Editor
    from pi_tui.plugins_ui.overlays import Overlays
    from pi_tui.screen.keyboard import Keyboard
    from pi_tui.screen.talk import Talk
    from pi_tui.view.state import State

    _App = App[int]
else:
    _App = object

__all__ = ["Life"]

_HELD_SECONDS = 0.1

_END_SECONDS = 5.0
"""Seconds within which the application must end."""


class Reports:
    """Reports while a command runs or a session starts: loading a conversation removes them, so they are added again.

    Those of a command include what the end of the former session reports, such as the processes that it ended.
    """

    def __init__(self) -> None:
        self._events: list[Any] = []
        self._is_starting = False
        self._commands = 0

    def begin(self) -> None:
        """Record reports from now on."""
        self._is_starting = True

    def take(self, event: Any) -> None:
        """Record an event if it is a report and may have to be displayed again."""
        if event.type in ("session_switch", "session_fork"):
            self.begin()
        elif event.type == "local_notice":
            if self._is_starting or self._commands:
                self._events.append(event)
        elif event.type == "extension_error" and self._is_starting:  # afterwards, the session lists failures itself
            self._events.append(event)

    def put_back(self, state: State) -> None:
        """Add the recorded reports to a loaded conversation."""
        for event in self._events:
            reduce(state, event, time.monotonic())

    @contextmanager
    def of_command(self) -> Iterator[None]:
        """Record the reports of a command that may replace the conversation."""
        self._commands += 1
        try:
            yield
        finally:
            self._commands -= 1
            if not self._commands and not self._is_starting:
                self._events.clear()

    def end(self) -> None:
        """Drop the reports, since the session has started."""
        self._events.clear()
        self._is_starting = False


class Life(_App):
    """The part of the application that starts and ends it.

    Attributes:
        crash: The error that ended the application.
        begins_with: The name of the command to run first; empty for none.
        is_held: Whether the terminal still displays the first frame.
        is_loaded: Whether the conversation was loaded.
        is_talking: Whether the session has started and not ended yet.
        reports: The reports of plugins while the session starts.
    """

    session: Session
    talk: Talk
    editor: Editor
    history: PromptFile | None
    dialogs: list[Dialog[Any]]
    overlays: Overlays
    keyboard: Keyboard
    first_problems: list[str]

    def notice(self, text: str, level: NoticeLevel = "info") -> None:
        """Display a notice."""
        raise NotImplementedError

    def load(self) -> None:
        """Load the conversation."""
        raise NotImplementedError

    def start(self, work: Awaitable[Any]) -> None:
        """Run work in the background."""
        raise NotImplementedError

    def put_text(self, text: str) -> None:
        """Insert a text into the editor."""
        raise NotImplementedError

    def leave(self) -> None:
        """Leave the session."""
        raise NotImplementedError

    def warn(self, *problems: str) -> None:
        """Display each new problem."""
        raise NotImplementedError

    def start_life(self) -> None:
        """Initialize the attributes."""
        self.crash: Exception | None = None
        self.begins_with = ""
        self.is_talking = self.is_loaded = self.is_held = False
        self._ready_event = asyncio.Event()
        self._unsubscribe: Callable[[], None] | None = None
        self._held = ExitStack()
        self.reports = Reports()

    def hold(self) -> None:
        """Keep the first frame on the terminal while the session starts, since each redraw writes the whole screen."""
        self._held.enter_context(self.batch_update())
        self.is_held = True
        self.talk.hold()

    def release(self) -> None:
        """Draw the screen, and every change from now on."""
        if self.is_held:
            self.is_held = False
            self._held.close()
            self.screen.refresh(layout=True)

    def _hold_no_longer(self) -> None:
        """Display the current state, since the session takes long to start."""
        if self.is_held:
            self._load_once()
            self.release()

    def _load_once(self) -> None:
        if not self.is_loaded:
            self.load()

    def on_ready(self) -> None:
        """Note that the application can draw; if the session takes long to start, draw before it has started."""
        self.set_timer(_HELD_SECONDS, self._hold_no_longer)
        self._ready_event.set()

    async def until_ready(self, running: asyncio.Future[Any]) -> None:
        """Wait until dialogs can be displayed; raise the error if the application ends earlier."""
        waiting = asyncio.ensure_future(self._ready_event.wait())
        try:
            await asyncio.wait([waiting, running], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if running.done():
            running.result()

    def as_current(self) -> AbstractContextManager[None]:
        """Return a context in which timers and widgets can be created, also by tasks that the session starts there."""
        return self._context()

    def set_timer(self, *arguments: Any, **options: Any) -> Timer:
        """Start a timer; also for a task that began before the application, such as the one that watches extensions."""
        with self._context():
            return super().set_timer(*arguments, **options)

    def set_interval(self, *arguments: Any, **options: Any) -> Timer:
        """Start a repeated timer, as ``set_timer`` does."""
        with self._context():
            return super().set_interval(*arguments, **options)

    def begin(self, unsubscribe: Callable[[], None]) -> None:
        """Store the function that unsubscribes from events, and record the reports of the session's start."""
        self._unsubscribe = unsubscribe
        self.reports.begin()

    async def talk_until_end(self, prompts: Iterable[Any], running: asyncio.Future[Any]) -> None:
        """Send the prompts of the command line; return when the session is to end or the application has ended."""
        prompts = [*prompts]
        self.is_talking = True
        self._load_once()  # has no effect if an event has already loaded it
        self.reports.end()
        self.release()
        self.talk.begin()
        self.warn(*self.first_problems, *problems_of(self.session))
        why = why_no_model(self.session)
        if why is not None and not prompts:  # otherwise, the first prompt says it
            self.notice(why, "warning")
        await self.talk.look_up_commands()
        self.start(self._begin_talking(prompts))
        ending = asyncio.ensure_future(self.session.shutdown_requested.wait())
        try:
            await asyncio.wait([ending, running], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()

    async def _begin_talking(self, prompts: Sequence[Any]) -> None:
        """Run the first command, then send the prompts; if no session was chosen, put them into the editor."""
        if self.begins_with:
            await self.talk.own[self.begins_with].run(self.talk, "")
        if self.begins_with and prompts and not self.session.get_branch():
            self.put_text("\n\n".join(each.text for each in prompts))
            return
        for prompt in prompts:
            self.talk.send(Typed(prompt.text, images=prompt.images, follow_up=True))

    async def close(self, running: asyncio.Future[Any]) -> None:
        """Stop current work, and end the application."""
        self.is_talking = False
        self.overlays.close_all()
        self.keyboard.dismiss_waiting()
        for dialog in [*self.dialogs]:
            dialog.finish(None)  # otherwise, a command that waits for an answer would not end
        await self.talk.end()
        if self._unsubscribe is not None:
            self._unsubscribe()
        if not running.done():
            self.exit()
            await asyncio.wait([running], timeout=_END_SECONDS)
        if not running.done():
            running.cancel()
            await asyncio.wait([running], timeout=_END_SECONDS)

    def read_history(self, file: Path, clean: Callable[[str], str | None] = str) -> None:
        """Read the texts sent in earlier runs, and store those sent in this run, without secrets.

        Args:
            file: The file of sent texts.
            clean: Returns a text without secrets, or None if it must not be stored.
        """
        from pi_terminal_kit.prompt_history import PromptFile

        self.history = PromptFile(file, lambda problem: self.notice(problem, "warning"), clean)
        self.editor = self.editor._replace(history=History.of(self.history.read()))

    def capture(self, stream: StrayLines) -> None:
        """Let printed text go to a stream, which knows who prints; Textual has replaced Python's streams."""
        for capture in (self._capture_stdout, self._capture_stderr):
            capture.write = stream.write  # type: ignore[assignment, method-assign]

    def print_line(self, lines: str) -> None:
        """Display printed lines as a notice."""
        if lines.strip():
            self.notice(lines)

    def on_terminal_gone(self) -> None:
        """Leave the session, since the terminal was closed."""
        self.leave()

    def _fatal_error(self) -> None:
        """Store the error to raise it later; Textual would print it with the values of all variables."""
        self.crash = self._exception
        self._close_messages_no_wait()
