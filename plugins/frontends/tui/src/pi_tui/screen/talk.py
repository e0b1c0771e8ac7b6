"""What the user sends: prompts, commands of the shell and slash commands, in the order in which they were sent."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from pi_hookspecs import PiError
from pi_terminal_kit.jobs import Jobs
from pi_tui.commands.table import own_commands
from pi_tui.view.local_events import BashEnded, BashStarted, CommandRunning, NoticeShown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_hookspecs import ImageContent, NoticeLevel, UserInterface
    from pi_terminal_kit.jobs import Job
    from pi_tui.commands.table import Command
    from pi_tui.dialogs.base import Dialog
    from pi_tui.keys.bindings import Bindings
    from pi_tui.port.protocol import Known, Port
    from pi_tui.screen.clipboard import Clipboard
    from pi_tui.screen.themes import Themes

__all__ = ["Screen", "Talk", "Typed"]

T = TypeVar("T")

_COMMAND_SECONDS = 0.3


class Typed(NamedTuple):
    """What the user has sent; a follow-up waits until the answer that is being made is done."""

    text: str
    follow_up: bool = False
    images: Sequence[ImageContent] = ()


class Screen(Protocol):
    """What the conversation asks of the screen."""

    def take_event(self, event: Any) -> None:
        """Display an event."""
        ...

    def refresh_facts(self) -> None:
        """Read the figures of the footer again."""
        ...

    def put_text(self, text: str) -> None:
        """Put a text into the editor, before what is there."""
        ...

    def editor_is_empty(self) -> bool:
        """Whether nothing is typed."""
        ...

    def write_terminal(self, sequence: str) -> None:
        """Write an escape sequence to the terminal."""
        ...

    @property
    def first_problems(self) -> list[str]:
        """What is wrong with files of the front end, such as ``keybindings.json``."""
        ...

    @property
    def bindings(self) -> Bindings:
        """What keys do."""
        ...

    async def ask(self, dialog: Dialog[T]) -> T | None:
        """Display a dialog and return its result; None if it was dismissed."""
        ...

    @property
    def themes(self) -> Themes:
        """The theme, and which ones there are."""
        ...

    def draw_dialog(self) -> None:
        """Draw the open dialog again: something in it changed."""
        ...

    @property
    def clipboards(self) -> Clipboard:
        """Copies and pastes."""
        ...

    def drawn(self) -> list[str]:
        """Return the rows of the screen as text."""
        ...

    def key_rows(self) -> list[tuple[str, str]]:
        """Return keys and what they do."""
        ...


class Talk:
    """The conversation from the user's side.

    Args:
        port: The session.
        screen: What displays it.
        ui: Asks the user what a command needs to know.

    Attributes:
        own: The front end's own commands.
        session_dir: Folder of sessions, if it is not the usual one.
    """

    def __init__(self, port: Port, screen: Screen, ui: UserInterface, session_dir: str | None = None) -> None:
        self.port = port
        self.screen = screen
        self.ui = ui
        self.session_dir = session_dir
        self.own: dict[str, Command] = own_commands()
        self.jobs: Jobs[Typed] = Jobs(self._do, bool)
        self._known: dict[str, Known] = {}
        self._command_ids = count(1)
        self._refused = ""

    # Sending

    def send(self, typed: Typed) -> None:
        """Send a text, as soon as those before it were accepted."""
        self.jobs.add(typed)

    def take_back(self) -> list[str]:
        """Return what is queued or not sent yet; it is not sent any more."""
        return [*self.port.take_queued(), *self.jobs.take_back()]

    @property
    def busy(self) -> bool:
        """Whether something is being done that can be stopped."""
        port = self.port
        return bool(self.jobs) or port.is_streaming or port.is_bash_running or port.is_compacting

    async def end(self) -> None:
        """Stop everything."""
        self.port.abort_bash()
        self.port.abort_compaction()
        if self.port.is_streaming:
            self.port.abort()
        await self.jobs.end()

    async def _do(self, job: Job[Typed]) -> None:
        text = job.typed.text.strip()
        try:
            if text.startswith("!"):
                await self._bash(job, text[1:])
            elif text.startswith("/"):
                await self._slash(job, text)
            elif text or job.typed.images:
                await self._prompt(job, job.typed.text.lstrip("\n").rstrip())
        except asyncio.CancelledError:
            if not job.taken_back:
                self.notice("Operation aborted")
        except PiError as error:
            self.notice(str(error), "error")
        except Exception as error:  # noqa: BLE001 - a bug of pi must not end the conversation
            self.notice(f"Unexpected {type(error).__name__}: {str(error) or '(no message)'}", "error")
        self.screen.refresh_facts()

    async def _prompt(self, job: Job[Typed], text: str) -> None:
        typed = job.typed
        await self.port.prompt(text, typed.images, follow_up=typed.follow_up, accepted=job.accepted.set)

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
            message = await self.port.bash(command, command_id, excluded=excluded)
        except PiError as error:
            self.screen.take_event(BashEnded(id=command_id, error=str(error)))
        except asyncio.CancelledError:
            self.screen.take_event(BashEnded(id=command_id, error="Cancelled"))
            raise
        else:
            self.screen.take_event(BashEnded(id=command_id, message=message))

    async def _slash(self, job: Job[Typed], text: str) -> None:
        name, _, argument = text[1:].partition(" ")
        if name not in self.own and name not in self._known:
            await self.look_up_commands()
        known, own = self._known.get(name), self.own.get(name)
        if own is None and ((known is not None and known.expands) or text == self._refused):
            await self._prompt(job, text)  # a template, a skill, or a path that is no command
            return
        job.is_prompt = False
        if own is not None:
            job.accepted.set()  # a question of the command must not hold back what is typed meanwhile
            with self._displayed(name):
                await own.run(self, argument.strip())
        elif known is not None:
            with self._displayed(name):
                await self._prompt(job, text)
        else:
            self._refuse(name, text)

    @contextmanager
    def _displayed(self, name: str) -> Iterator[None]:
        """Say that a command is running, once it takes so long that one would wonder."""
        running, over = CommandRunning(name=name), CommandRunning()
        timer = asyncio.get_running_loop().call_later(_COMMAND_SECONDS, self.screen.take_event, running)
        try:
            yield
        finally:
            timer.cancel()
            self.screen.take_event(over)

    def _refuse(self, name: str, text: str) -> None:
        again = ""
        if self.screen.editor_is_empty():
            self._refused = text
            self.screen.put_text(text)
            again = " Enter sends it to the model as it is."
        self.notice(f"Unknown command: /{name}. /help lists the commands.{again}", "warning")

    # Notices and commands

    def notice(self, text: str, level: NoticeLevel = "info") -> None:
        """Display a line."""
        self.screen.take_event(NoticeShown(text=text, level=level))

    async def look_up_commands(self) -> None:
        """Ask the plugins which commands there are now."""
        self._known = {each.name: each for each in await self.port.commands()}

    def known_commands(self) -> list[tuple[str, str]]:
        """Return names and descriptions of the commands, the front end's own first."""
        own = [(name, command.description) for name, command in self.own.items()]
        return own + [(each.name, each.description) for each in self._known.values() if each.name not in self.own]
