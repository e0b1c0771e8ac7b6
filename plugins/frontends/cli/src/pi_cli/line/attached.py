"""``pi attach lines``: a conversation in a session that another process serves, line by line."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_cli.attached import EventText, Servers, reporting_client_errors
from pi_cli.screen import Screen
from pi_hookspecs import WrongUse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from prompt_toolkit import PromptSession

    from pi_client import Event, PiClient, UiRequest
    from pi_core import PluginHost

__all__ = ["attach_lines"]

_HELP = """\
Usage: pi attach lines [SESSION]
       pi attach lines --ssh HOST [SESSION]

Talk in a session that pi serve serves, line by line: for terminals that cannot
show the full screen. SESSION is the beginning of its id, or the path of its
socket; without it, the session served in this folder.

  --ssh HOST   A session that pi serve serves on another computer, over your
               ssh; SESSION names it if there are several

What you type while pi works is sent at once. Ctrl-C stops the answer; when pi
is not working, Ctrl-C and Ctrl-D leave. The session continues without you.
"""


def attach_lines(arguments: Sequence[str], host: PluginHost) -> int:
    """Run a conversation in a served session until the user leaves; return the exit code.

    Raises:
        UserError: The arguments are wrong, nothing is served, or the server has ended.
    """
    if arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(_HELP)
        return 0
    rest = [*arguments]
    ssh = None
    if rest[:1] == ["--ssh"]:
        if len(rest) == 1:
            raise WrongUse("--ssh takes the name of a computer: pi attach lines --ssh HOST [SESSION]. See --help")
        ssh = rest[1]
        del rest[:2]
    if len(rest) > 1:
        raise WrongUse(
            f"pi attach lines takes one session, and {rest[1]!r} is a second one. See pi attach lines --help"
        )
    servers = Servers(host.settings, Path.cwd(), ssh)
    with servers.socket_of(servers.find(next(iter(rest), None))) as socket:
        return asyncio.run(reporting_client_errors(_talk(socket)))


async def _talk(socket: str) -> int:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.filters import Always
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.patch_stdout import patch_stdout

    from pi_cli.line.clusters import add_cluster_keys
    from pi_client import PiClient

    with patch_stdout(raw=True):
        screen = Screen(sys.stdout, sys.stdout)
        talk = _Talk(screen)
        async with await PiClient.connect(socket, client="pi attach lines", on_ui=talk.ask) as client:
            events = client.events()
            if (stored := await anext(events, None)) is not None:  # what is in progress follows
                talk.text.take(stored)
            state = await client.get_state()
            talk.working = state.is_streaming
            screen.line(
                f"Session {state.session_name or state.session_id}. Ctrl-D leaves; the session keeps running.", dim=True
            )
            watching = asyncio.ensure_future(talk.watch(events))
            talk.joined.set()
            try:
                keys = KeyBindings()
                add_cluster_keys(keys, Always())
                await talk.converse(client, PromptSession(key_bindings=keys))
            finally:
                watching.cancel()
    return 0


class _Talk:
    """A conversation: displays events, and sends what is typed as a prompt or as the answer to an open question.

    Args:
        screen: Where events and questions are shown.

    Attributes:
        working: Whether pi works on a prompt.
        text: Shows events.
        joined: Set once the conversation so far is on the screen, below which questions appear.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.text = EventText(screen, whole=True)
        self.working = False
        self.joined = asyncio.Event()
        self._questions: list[tuple[UiRequest, asyncio.Future[str]]] = []

    async def watch(self, events: AsyncIterator[Event]) -> None:
        """Show events until the server ends."""
        async for event in events:
            if event.type in ("agent_start", "agent_settled"):
                self.working = event.type == "agent_start"
            self.text.take(event)
        self._screen.line("The server has ended. Press Enter to leave.")

    async def converse(self, client: PiClient, session: PromptSession[str]) -> None:
        """Send input until the user leaves."""
        while True:
            try:
                line = await session.prompt_async("> ")
            except KeyboardInterrupt:
                if not self.working:
                    return
                await client.abort()
                continue
            except EOFError:
                return
            if not self.answer(line) and line.strip():
                await self._send(client, line)

    def answer(self, line: str) -> bool:
        """Answer the oldest open question; return False if there is none."""
        waiting = next((answer for _, answer in self._questions if not answer.done()), None)
        if waiting is None:
            return False
        waiting.set_result(line)
        return True

    async def _send(self, client: PiClient, line: str) -> None:
        from pi_client import CommandFailed

        self.text.typed.append(line)
        try:
            await client.prompt(line, streaming_behavior="steer" if self.working else None)
        except CommandFailed as error:
            self.text.typed.remove(line)
            self._screen.line(f"Error: {error}")

    async def ask(self, request: UiRequest) -> str | bool | None:
        """Ask the user; the next line is the answer, and an empty one dismisses the question."""
        if not request.is_dialog:
            if request.method == "notify":
                self._screen.line(str(request.data.get("message", "")))
            return None
        await self.joined.wait()
        await asyncio.sleep(0)  # what was in progress comes first
        question = (request, asyncio.get_running_loop().create_future())
        self._questions.append(question)
        try:
            while True:
                self._show(request)
                line = (await question[1]).strip()
                answer = _answer(request, line)
                if answer is not None or not line:
                    return answer
                question = (request, asyncio.get_running_loop().create_future())
                self._questions[0] = question
        except asyncio.CancelledError:
            self._screen.line("(answered elsewhere)", dim=True)
            raise
        finally:
            with suppress(ValueError):
                self._questions.remove(question)

    def _show(self, request: UiRequest) -> None:
        rows = [request.title, str(request.data.get("message", "")), str(request.data.get("prefill", ""))]
        rows += [f"  {number}. {option}" for number, option in enumerate(request.options, 1)]
        hints = {"select": "A number chooses", "confirm": "y or n", "editor": "The next line replaces the text"}
        hint = hints.get(request.method, "The next line is the answer")
        self._screen.line("\n".join([*filter(None, rows), f"({hint}; an empty line cancels)"]))


def _answer(request: UiRequest, line: str) -> str | bool | None:
    """Return the answer in a line; None if it is not a valid one."""
    if request.method == "confirm":
        return {"y": True, "yes": True, "n": False, "no": False}.get(line.lower())
    if request.method == "select":
        by_number = dict(enumerate(request.options, 1)).get(int(line)) if line.isdecimal() else None
        return by_number or (line if line in request.options else None)
    return line or None
