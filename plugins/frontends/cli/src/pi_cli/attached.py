"""``pi -p --attach``: sends a prompt to a session served by ``pi serve``, and prints the session's events as text.

With ``--ssh`` another computer serves it.
"""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pi_cli.event_rows import EventRows
from pi_cli.screen import Screen
from pi_core import event_from_wire, message_from_wire
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Sequence
    from pathlib import Path

    from pi_cli.options import Options, Prompt
    from pi_client import Event, ServedSession, UiRequest
    from pi_core import PluginHost
    from pi_hookspecs import AssistantMessage, SettingsView

__all__ = ["EventText", "Servers", "ask_served", "reporting_client_errors"]


_MAX_SHOWN = 20
"""Earlier entries that are displayed at the start."""

_ID = re.compile(r"(?=.*[0-9])[0-9a-f-]{6,36}")


class Servers:
    """The served sessions that a command line can name: those of this computer, or of one that ``ssh`` reaches.

    Args:
        settings: The settings, which have the agent directory.
        cwd: The folder whose session is meant when none is named; of no meaning on another computer.
        ssh: What ``ssh`` calls the other computer; None for this one.
    """

    def __init__(self, settings: SettingsView, cwd: Path, ssh: str | None = None) -> None:
        self._settings = settings
        self._cwd = cwd
        self._ssh = ssh

    @cached_property
    def _there(self) -> list[ServedSession]:
        from pi_client.ssh import served_on

        with _client_errors():
            return served_on(str(self._ssh))

    def reach(self) -> None:
        """Log in to the other computer, where one is meant; ``find`` then asks it nothing more.

        Raises:
            UserError: It cannot be reached.
        """
        if self._ssh is not None:
            _ = self._there

    def find(self, name: str | None) -> ServedSession:
        """Return the served session of a name; without one, that of the folder, or the only one of the other computer.

        Raises:
            UserError: There is none, there are several, or the other computer cannot be reached.
        """
        from pi_client import find_served
        from pi_client.served import choose_served

        with _client_errors():
            if self._ssh is None:
                return find_served(self._settings.agent_dir, name, self._cwd)
            return choose_served(self._there, name, f"on {self._ssh!r}")

    @contextmanager
    def socket_of(self, served: ServedSession) -> Iterator[str]:
        """Yield the path of a session's socket on this computer; a forwarded one ends with the context.

        Raises:
            UserError: The other computer cannot be reached.
        """
        if self._ssh is None:
            yield served.socket
            return
        from pi_client.ssh import forwarded

        with _client_errors(), forwarded(self._ssh, served) as here:
            yield here.socket


# One prompt


def ask_served(options: Options, host: PluginHost, cwd: Path) -> int:
    """Send the prompts of the command line to a served session, and print the answers; returns the exit code.

    Raises:
        UserError: Nothing is served, or there is no prompt.
    """
    from pi_cli.prompt_input import read_prompts, read_stdin

    messages = [*options.messages]
    servers = Servers(host.settings, cwd, options.ssh)
    named = _names_session(messages, servers)
    served = servers.find(messages.pop(0) if named else None)
    resize = host.settings.get_bool("images.autoResize", default=True)
    prompts = read_prompts(messages, options.files, read_stdin(sys.stdin), cwd, resize=resize)
    if not prompts:
        raise UserError('No prompt was given. Give one, as in pi -p --attach "What is in this folder?"')
    screen = Screen(sys.stdout, sys.stderr, color=options.color)
    with servers.socket_of(served) as socket:
        return asyncio.run(reporting_client_errors(_ask(socket, prompts, screen)))


def _names_session(messages: Sequence[str], servers: Servers) -> bool:
    """Whether the first of several messages, or the only one besides a prompt from stdin, names a session.

    Raises:
        UserError: It looks like an id, and no session of that id is served; or the other computer cannot be reached.
    """
    if not messages or (len(messages) == 1 and (sys.stdin is None or sys.stdin.isatty())):
        return False
    servers.reach()  # a failed login does not mean that the message is no name
    try:
        servers.find(messages[0])
    except UserError:
        if _ID.fullmatch(messages[0]):
            raise
        return False
    return True


async def reporting_client_errors(work: Awaitable[int]) -> int:
    """Return the result of ``work``; convert connection errors to errors for the user.

    Raises:
        UserError: The connection failed.
    """
    with _client_errors():
        return await work


@contextmanager
def _client_errors() -> Iterator[None]:
    """Convert the client's errors to errors for the user."""
    from pi_client import PiClientError

    try:
        yield
    except PiClientError as error:
        raise UserError(str(error)) from error


async def _ask(socket: str, prompts: Sequence[Prompt], screen: Screen) -> int:
    from pi_client import UNANSWERED, PiClient
    from pi_client.values import Image

    shown = EventText(screen)

    def leave_to_others(request: UiRequest) -> object:
        if request.is_dialog:
            title = " ".join(request.title.split())
            shown.warn(f"A question waits in the session: {title[:200]} Answer it with pi attach, or on its page")
        return UNANSWERED

    async with await PiClient.connect(socket, client="pi -p --attach", on_ui=leave_to_others) as client:
        for prompt in prompts:
            images = [Image(data=each.data, mime_type=each.mime_type) for each in prompt.images]
            async for event in client.stream(prompt.text, images):
                shown.take(event)
        answer = shown.answer.text if shown.answer else await client.get_last_assistant_text() or ""
    if shown.failed is not None:
        shown.report_failure(shown.failed)
        return 1
    if not screen.streams:
        screen.answer(answer)
    if screen.broken:
        raise BrokenPipeError
    if shown.cut is not None:
        shown.report_incomplete(shown.cut)
    return int(shown.cut is not None)


class EventText(EventRows):
    """Displays the events of a session that another process serves.

    Args:
        screen: Receives the text.
        whole: Whether to display the whole conversation: also earlier messages, and prompts, which another client may
            have sent.

    Attributes:
        answer: The last answer, while this is displayed.
        failed: The last answer if it failed.
        cut: The last answer if it was cut at the model's output limit.
        typed: Prompts that the user typed here, which are on the screen already.
    """

    def __init__(self, screen: Screen, *, whole: bool = False) -> None:
        super().__init__(screen)
        self._whole = whole
        self._has_joined = False
        self._waiting: list[str] = []
        self.answer: AssistantMessage | None = None
        self.failed: AssistantMessage | None = None
        self.cut: AssistantMessage | None = None
        self.typed: list[str] = []

    def take(self, event: Event) -> None:
        """Display one event, as it was received."""
        if event.type == "dropped":
            self.warn(str(event.data["error"]))
        elif event.type == "entries":
            if self._whole and (event.data.get("reset") or not self._has_joined):
                self._show_stored(event.data["entries"][-_MAX_SHOWN:])
            self._has_joined = True  # later entries come with events of their own
        elif (received := event_from_wire(event.data)) is not None:
            self.display(received)
            if self._whole and event.type == "message_start" and event.data.get("partial"):
                self.screen.text(received.message.text)

    def _on_message_end(self, event: Any) -> None:
        super()._on_message_end(event)
        message = event.message
        if message.role == "assistant":
            self.answer = message
            self.failed = message if message.stop_reason == "error" else None
            self.cut = message if message.stop_reason == "length" else None
        elif message.role == "user" and message.text in self.typed:
            self.typed.remove(message.text)
        elif message.role == "user" and self._whole:
            self.screen.line(f"> {message.text}")

    def _on_queue_update(self, event: Any) -> None:
        """Display messages that wait, unless they were typed here."""
        waiting = [*event.steering, *event.follow_up]
        for text in waiting if self._whole else ():
            if text not in self._waiting and text not in self.typed:
                self.screen.line(f"Queued: {text}", dim=True)
        self._waiting = waiting

    def _show_stored(self, entries: Sequence[dict[str, Any]]) -> None:
        from pi_hookspecs import AssistantMessage, UserMessage

        for message in (message_from_wire(each["message"]) for each in entries if each["type"] == "message"):
            if isinstance(message, UserMessage):
                self.screen.line(f"> {message.text}")
            elif isinstance(message, AssistantMessage) and message.text.strip():
                self.screen.text(message.text)
                self.screen.end_text()
