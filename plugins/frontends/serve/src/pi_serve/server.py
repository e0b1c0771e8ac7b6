"""A session and its clients: each event goes to all, dialogs to those that control, and no client ends the session."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_core import CleanLines, FanOutUI, dumps, list_sessions, nested_sessions
from pi_hookspecs import PiError, UserError
from pi_rpc_kit.dispatch import Dispatcher
from pi_rpc_kit.requests import Asked, Refused, UiReply, parse
from pi_serve.client import Client, refused_unless_allowed
from pi_serve.feed import Feed
from pi_serve.hello import parse_hello
from pi_serve.settings import question_seconds
from pi_terminal_kit.words import session_title

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Collection, Iterable

    from pi_core import AgentSession
    from pi_hookspecs import AbortSignal
    from pi_serve.client import Link

__all__ = ["SessionServer"]

_HELLO_SECONDS = 10.0
"""Seconds to wait for the first line before a silent connection is closed."""

_MAX_CLIENTS = 100

_BURST = 16
"""Events of a run after which the server writes lines and reads commands, even during a very fast answer."""

_LAST_SECONDS = 2.0

_MOST_STORED = 30
"""Stored sessions that a client can choose from."""


class SessionServer:
    """Serves a session to all clients that connect.

    Args:
        session: The session, not started yet; it is shut down at the end.
        commands: The commands that clients may send; None allows all.
        idle_seconds: Seconds without a client and without work after which the server ends; None never ends it.
    """

    def __init__(
        self, session: AgentSession, *, commands: Collection[str] | None = None, idle_seconds: float | None = None
    ) -> None:
        self._session = session
        self._commands = commands
        self._idle_seconds = idle_seconds
        self._idle: asyncio.TimerHandle | None = None
        self._clients: dict[Client, asyncio.Task[None]] = {}
        self._connections = 0
        self._leaving: set[asyncio.Task[None]] = set()
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._feed = Feed(session)
        self._events = 0
        self.ui = FanOutUI(lambda problem: session.report_plugin_error("(client)", "dialog", problem))

    @property
    def session_id(self) -> str:
        """The id of the session that is served now; a command can replace the one that was served first."""
        return self._session.session_id

    @property
    def has_clients(self) -> bool:
        """Whether a client is connected, which may only observe."""
        return bool(self._clients)

    def end(self, exit_code: int) -> None:
        """Ask the server to end."""
        if not self._ended.done():
            self._ended.set_result(exit_code)

    async def serve(self) -> int:
        """Serve until a signal or a plugin ends the server; return the exit code.

        Raises:
            PiError: The session could not start.
        """
        self._session.subscribe(self._on_event)
        shutdown = asyncio.create_task(self._until_shutdown())
        try:
            await self._session.start()
            self.ui.wait = question_seconds(self._session.settings)  # not before: no client may be able to come yet
            self._wait_for_clients()
            return await self._ended
        finally:
            await self._stop(shutdown)

    async def _until_shutdown(self) -> None:
        await self._session.until_shutdown()
        self.end(0)

    def _wait_for_clients(self) -> None:
        """Begin to count the seconds without a client."""
        if self._idle is not None:
            self._idle.cancel()
        if self._idle_seconds is not None and not self._ended.done():
            self._idle = asyncio.get_running_loop().call_later(self._idle_seconds, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self._connections or self._session.is_streaming:
            self._wait_for_clients()
        else:
            self.end(0)

    async def stored_sessions(self) -> list[dict[str, Any]]:
        """Return the latest stored sessions of the folder, those of agents after their parents.

        Each has its id, its title, the path that ``switch_session`` takes, the time of its last message, and its
        depth, 0 for a session of the user's own.

        Raises:
            PiError: They cannot be read.
        """
        manager = self._session.session_manager
        if not manager.is_persisted:
            return []
        listed = partial(list_sessions, self._session.cwd, manager.session_dir, host=self._session.host)
        everything = await asyncio.to_thread(listed)
        clean = CleanLines.texts_for(self._session)
        return [
            {
                "session": each.id,
                "title": clean(session_title(each.name, each.first_message)),
                "path": each.path,
                "modified": each.modified.isoformat(),
                "depth": depth,
            }
            for each, depth in nested_sessions(everything[:_MOST_STORED], everything)[:_MOST_STORED]
        ]

    async def titles(self, folders: Iterable[str]) -> dict[str, str]:
        """Return the titles of the sessions of these folders by their ids; of those that are stored and can be read."""
        manager = self._session.session_manager

        def read() -> dict[str, str]:
            found: dict[str, str] = {}
            for folder in {*folders}:
                with suppress(PiError, OSError):
                    listed = list_sessions(folder, manager.session_dir, host=self._session.host)
                    found |= {each.id: session_title(each.name, each.first_message) for each in listed}
            return found

        if not manager.is_persisted:
            return {}
        titles: dict[str, str] = CleanLines.texts_for(self._session)(await asyncio.to_thread(read))
        return titles

    # Clients

    async def execute(self, line: bytes) -> bytes:
        """Execute a command of a client that has no connection, and return the response.

        The work that it starts continues when the caller is cancelled.
        """
        self._wait_for_clients()
        message = parse(line)
        if isinstance(message, UiReply):
            message = Refused(
                "extension_ui_response", "A dialog can be answered only over the connection that received it"
            )
        elif isinstance(message, Asked):
            message = refused_unless_allowed(message, self._commands)
        given: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        dispatcher = Dispatcher(self._session, given.set_result, self._ended)
        await dispatcher.carry_out(message)
        either: list[asyncio.Future[Any]] = [given, self._ended]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not given.done():
            dispatcher.refuse(message)
        return given.result()

    async def handle_connection(self, link: Link, lines: AsyncIterator[bytes | None]) -> None:
        """Serve a connection until its last line."""
        self._connections += 1
        try:
            if self._connections > _MAX_CLIENTS:
                raise UserError(f"{_MAX_CLIENTS} clients are already connected. Close one of them")  # noqa: TRY301
            client = await self._accept_hello(link, lines)
        except (UserError, TimeoutError, StopAsyncIteration) as error:
            late = f"No hello came within {_HELLO_SECONDS:.0f} seconds"
            why = str(error) if isinstance(error, UserError) else late
            link.write(dumps({"type": "error", "error": why}))
            link.end(why)
            self._connections -= 1
            return
        try:
            async for line in lines:
                await client.take(line)
        finally:
            self._connections -= 1
            await self._disconnected(client)

    async def _accept_hello(self, link: Link, lines: AsyncIterator[bytes | None]) -> Client:
        async with asyncio.timeout(_HELLO_SECONDS):
            hello = parse_hello(await anext(lines))
        client = Client(self._session, link, hello, self._ended, self._commands)
        manager = self._session.session_manager
        answer = {
            "type": "hello",
            "sessionId": self._session.session_id,
            "leaf": manager.leaf_id,
            "role": "observe" if hello.observes else "control",
            "cwd": str(self._session.cwd),
        }
        self._broadcast(self._feed.new_entries())
        client.catch_up([dumps(answer), *self._feed.catch_up(hello.since)])
        client.mark_sent(self._feed.last_id)
        self._clients[client] = asyncio.create_task(client.work())
        if client.ui is not None:
            client.remove_ui = self.ui.add(client.ui)
        return client

    async def _disconnected(self, client: Client) -> None:
        """Remove a client; the commands that it sent are executed, and the work that it started continues."""
        work = self._clients.pop(client)
        client.remove_ui()
        self._wait_for_clients()
        self._leaving.add(work)
        work.add_done_callback(self._leaving.discard)
        await client.leave()

    # Events

    def _on_event(self, event: Any, signal: AbortSignal | None) -> Awaitable[None] | None:
        if event.type == "session_start":
            self._broadcast(self._feed.reset())
        else:
            self._broadcast(self._feed.lines_of(event))
        if signal is None:
            return None
        self._events += 1
        return asyncio.sleep(0) if self._events % _BURST == 0 else None

    def _broadcast(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            stored = line.startswith(b'{"type":"entries"')
            for client in self._clients:
                client.send_line(line)
            if stored:
                last = self._feed.last_id
                for client in self._clients:
                    client.mark_sent(last)

    # The end

    async def _stop(self, shutdown: asyncio.Task[None]) -> None:
        self.end(0)
        if self._idle is not None:
            self._idle.cancel()
        shutdown.cancel()
        self._session.request_abort("Session ended")
        self._session.abort_bash()
        clients = [*self._clients]
        self.ui.end_dialogs("the session was ended")
        await self._session.dispose()
        for client in clients:
            await client.stop()
            client.disconnect("pi serve has ended")
        works = [*self._clients.values(), *self._leaving]
        for work in works:
            work.cancel()
        if works:
            await asyncio.wait(works, timeout=_LAST_SECONDS)
