"""Handles sent texts in order: prompts, shell commands and slash commands."""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from pi_hookspecs import AgentBusy, NoModel, PiError
from pi_terminal_kit.jobs import Jobs
from pi_tui.commands.table import own_commands
from pi_tui.dialogs.pane import Pane
from pi_tui.lines.custom import page_rows
from pi_tui.session.facts import problems_of, why_no_model
from pi_tui.session.lists import Lists
from pi_tui.view.local_events import BashEnded, BashStarted, CommandRunning, NoticeShown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from pi_core import Session
    from pi_hookspecs import CommandInfo, ImageContent, Line, NoticeLevel, UserInterface
    from pi_terminal_kit.jobs import Job
    from pi_tui.commands.table import Command
    from pi_tui.dialogs.base import Dialog
    from pi_tui.keys.bindings import Bindings
    from pi_tui.screen.clipboard import Clipboard
    from pi_tui.screen.themes import Themes
    from pi_tui.session.about import About

__all__ = ["INTERRUPTED", "Screen", "Talk", "Typed"]

T = TypeVar("T")

INTERRUPTED = "Interrupted by the user"
"""Why a prompt was aborted."""

_COMMAND_SECONDS = 0.3


class Typed(NamedTuple):
    """A text that the user has sent; a follow-up waits until the current answer is complete."""

    text: str
    follow_up: bool = False
    images: Sequence[ImageContent] = ()


class Screen(Protocol):
    """What ``Talk`` and slash commands require of the screen."""

    def take_event(self, event: Any) -> None:
        """Display an event."""
        ...

    def recording(self) -> AbstractContextManager[None]:
        """Return a context in which reports are kept if the conversation is replaced."""
        ...

    def refresh_facts(self) -> None:
        """Update the fields of the footer that no event contains."""
        ...

    def warn(self, *problems: str) -> None:
        """Display each new problem."""
        ...

    def show_thinking(self, *, shown: bool) -> None:
        """Display reasoning, or hide it."""
        ...

    def put_text(self, text: str) -> None:
        """Insert a text into the editor, before its current text."""
        ...

    def take_back(self) -> None:
        """Move queued messages back into the editor; another session would not send them."""
        ...

    def editor_is_empty(self) -> bool:
        """Whether the editor has no text."""
        ...

    def write_terminal(self, sequence: str) -> None:
        """Write an escape sequence to the terminal."""
        ...

    @property
    def first_problems(self) -> list[str]:
        """Problems in the front end's files, such as ``keybindings.json``."""
        ...

    @property
    def bindings(self) -> Bindings:
        """The key bindings."""
        ...

    async def ask(self, dialog: Dialog[T]) -> T | None:
        """Display a dialog and return its result; None if it was dismissed."""
        ...

    @property
    def themes(self) -> Themes:
        """The current theme and the available ones."""
        ...

    def draw_dialog(self) -> None:
        """Redraw the open dialog after a change in it."""
        ...

    @property
    def clipboards(self) -> Clipboard:
        """Copies and pastes."""
        ...

    def drawn(self) -> list[str]:
        """Return the rows of the screen as plain text."""
        ...

    def key_rows(self) -> list[tuple[str, str]]:
        """Return keys and descriptions of their actions; a row without a key is the heading of a group."""
        ...


class Talk:
    """The conversation from the user's side.

    Args:
        session: The session.
        screen: Displays the conversation.
        ui: Asks the user questions for commands.

    Attributes:
        own: The front end's own commands, by name.
        session_dir: The folder of sessions, if it is not the default.
        lists: The items of the lists that commands show.
    """

    def __init__(self, session: Session, screen: Screen, ui: UserInterface, session_dir: str | None = None) -> None:
        self.session = session
        self.lists = Lists(session)
        self.screen = screen
        self.ui = ui
        self.session_dir = session_dir
        self.own: dict[str, Command] = own_commands()
        self.jobs: Jobs[Typed] = Jobs(self._do, bool)
        self._may_begin = asyncio.Event()
        self._may_begin.set()
        self._known: dict[str, CommandInfo] = {}
        self._command_ids = count(1)
        self._refused = ""

    @cached_property
    def about(self) -> About:
        """What commands show of pi itself."""
        from pi_tui.session.about import About

        return About(self.session)

    @property
    def cwd(self) -> str:
        """The working directory; empty if the session is in another process."""
        return "" if self.session.local is None else os.fspath(self.session.local.cwd)

    # Sending

    def hold(self) -> None:
        """Keep what is sent until ``begin``: loading the session that starts would remove what it displays."""
        self._may_begin.clear()

    def begin(self) -> None:
        """Start with what was sent meanwhile."""
        self._may_begin.set()

    def send(self, typed: Typed) -> None:
        """Send a text once all earlier texts were accepted."""
        self.jobs.add(typed)

    def take_back(self) -> list[str]:
        """Withdraw the texts that are queued or not sent yet, and return them."""
        return [*self.session.take_user_texts(), *self.jobs.take_back()]

    @property
    def busy(self) -> bool:
        """Whether work is in progress that can be stopped."""
        session = self.session
        return bool(self.jobs) or session.is_streaming or session.is_bash_running or session.is_compacting

    async def end(self) -> None:
        """Stop all work."""
        self.session.abort_bash()
        self.session.abort_compaction()
        if self.session.is_streaming:
            self.session.request_abort(INTERRUPTED)
        await self.jobs.end()

    async def _do(self, job: Job[Typed]) -> None:
        text = job.typed.text.strip()
        try:
            await self._may_begin.wait()
            if text.startswith("!"):
                await self._bash(job, text[1:])
            elif text.startswith("/"):
                await self._slash(job, text)
            elif text or job.typed.images:
                await self._prompt(job, job.typed.text.lstrip("\n").rstrip())
        except asyncio.CancelledError:
            if not job.taken_back:
                self.notice("Operation aborted")
        except NoModel as error:
            self.notice(why_no_model(self.session) or str(error), "warning")
        except PiError as error:
            self.notice(str(error), "error")
        except Exception as error:  # noqa: BLE001 - a bug of pi must not end the conversation
            self.notice(f"Unexpected {type(error).__name__}: {str(error) or '(no message)'}", "error")
        self.screen.refresh_facts()
        self.screen.warn(*problems_of(self.session))

    async def _prompt(self, job: Job[Typed], text: str) -> None:
        typed = job.typed
        try:
            await self._send(job, text)
        except PiError:
            if job.is_prompt and not job.accepted.is_set():
                self.screen.put_text(typed.text)  # it was not sent, as there is no model or key
            raise

    async def _send(self, job: Job[Typed], text: str) -> None:
        session, typed = self.session, job.typed
        how: Literal["steer", "followUp"] = "followUp" if typed.follow_up else "steer"
        try:
            await session.prompt(
                text,
                images=typed.images,
                streaming_behavior=how if session.is_streaming else None,
                on_accepted=lambda _how: job.accepted.set(),
            )
        except AgentBusy:  # a plugin has started a prompt in the meantime
            await (session.follow_up if typed.follow_up else session.steer)(text, typed.images)
            job.accepted.set()

    async def _bash(self, job: Job[Typed], command: str) -> None:
        excluded = command.startswith("!")
        command = command.removeprefix("!").strip()
        job.is_prompt = False
        job.accepted.set()
        if not command:
            return
        command_id = f"tui-{next(self._command_ids)}"
        self.screen.take_event(BashStarted(id=command_id, command=command, excluded=excluded))
        try:
            message = await self.session.execute_bash(command, exclude_from_context=excluded, id=command_id)
        except PiError as error:
            self.screen.take_event(BashEnded(id=command_id, error=str(error)))
        except asyncio.CancelledError:
            self.screen.take_event(BashEnded(id=command_id, error="Cancelled"))
            raise
        else:
            self.screen.take_event(BashEnded(id=command_id, message=message))

    async def _slash(self, job: Job[Typed], text: str) -> None:
        name, _, argument = text[1:].partition(" ")
        own = self.own.get(name)
        is_forwarded = own is not None and argument.strip() in own.forwarded
        if (own is None or is_forwarded) and name not in self._known:
            await self.look_up_commands()
        known = self._known.get(name)
        if is_forwarded and known is not None:
            own = None
        if own is None and ((known is not None and known.source != "extension") or text == self._refused):
            await self._prompt(job, text)  # a template, a skill, or a path that is not a command
            return
        job.is_prompt = False
        if own is not None:
            job.accepted.set()  # later texts must not wait while the command asks a question
            with self._displayed(name):
                await own.run(self, argument.strip())
        elif known is not None:
            with self._displayed(name):
                await self._prompt(job, text)
        else:
            self._refuse(name, text)

    @contextmanager
    def _displayed(self, name: str) -> Iterator[None]:
        """Display that a command is running if it takes longer than ``_COMMAND_SECONDS``."""
        running, over = CommandRunning(name=name), CommandRunning()
        timer = asyncio.get_running_loop().call_later(_COMMAND_SECONDS, self.screen.take_event, running)
        try:
            with self.screen.recording():
                yield
        finally:
            timer.cancel()
            self.screen.take_event(over)

    def _refuse(self, name: str, text: str) -> None:
        again = ""
        why = self.about.why_no_command(name) or f"Unknown command: /{name}. /help lists the commands."
        if self.screen.editor_is_empty():
            self._refused = text
            self.screen.put_text(text)
            again = " Enter sends it to the model as it is."
        self.notice(f"{why}{again}", "warning")

    # Notices and commands

    def notice(self, text: str, level: NoticeLevel = "info") -> None:
        """Display a notice."""
        self.screen.take_event(NoticeShown(text=text, level=level))

    async def page(self, text: str, *, markdown: bool = False) -> None:
        """Display a text in a pane that scrolls, until the user closes it."""

        def draw(width: int) -> list[Line]:
            return page_rows(text, width, markdown=markdown, cwd=self.cwd)

        await self.screen.ask(Pane(draw, self.screen.bindings))

    async def look_up_commands(self) -> None:
        """Update the list of commands of plugins, templates and skills."""
        self._known = {each.name: each for each in await self.session.get_commands()}

    def known_commands(self) -> list[tuple[str, str]]:
        """Return the names and descriptions of all commands, the front end's own first."""
        own = [(name, command.description) for name, command in self.own.items()]
        return own + [(each.name, each.description or "") for each in self._known.values() if each.name not in self.own]
