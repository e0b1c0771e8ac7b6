"""A screen over a session of the scripted model, on a terminal that only the test sees."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, nullcontext
from contextvars import Context
from typing import TYPE_CHECKING, Any

import pytest

from pi_client import PiClient
from pi_client.lines import LineReader
from pi_hookspecs import Command, hookimpl
from pi_rpc.outbox import Outbox
from pi_rpc.server import Server
from pi_rpc_kit.remote import RemoteSession
from pi_rpc_kit.remote_ui import Asker
from pi_rpc_kit.ui import RpcUI
from pi_serve.server import SessionServer
from pi_serve.unix_socket import listening
from pi_testing.patience import PATIENCE
from pi_tui.keys.bindings import Bindings
from pi_tui.screen.app import ScreenApp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from textual.pilot import Pilot

    from pi_core import AgentSession, Session


class Desk:
    """What a user sees and does."""

    def __init__(self, app: ScreenApp, pilot: Pilot) -> None:
        self.app, self.pilot = app, pilot
        self._ending = asyncio.ensure_future(app.session.shutdown_requested.wait())

    def leave(self) -> None:
        """Look no more."""
        self._ending.cancel()

    @property
    def is_over(self) -> bool:
        """Whether the session is to be ended."""
        return self._ending.done()

    @property
    def rows(self) -> list[str]:
        """The rows of the screen, without spaces at their ends."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        """All rows."""
        return "\n".join(self.rows)

    @property
    def typed(self) -> str:
        """What is typed in the editor."""
        return self.app.editor.value

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the screen is drawn."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str, *then: str) -> None:
        """Type a text, and press keys after it."""
        self.app.take_paste(text)
        await self.press(*then)

    async def sees(self, *expected: str) -> str:
        """Return the screen as soon as all of these texts are on it."""
        return await self.when(lambda: all(each in self.text for each in expected), expected)

    async def when(self, condition: Callable[[], bool], what: object = "it") -> str:
        """Return the screen as soon as a condition holds."""
        for _ in range(6000):
            if condition():
                return self.text
            await self.pilot.pause(0.01)
        raise AssertionError(f"{what!r} does not come on\n{self.text}")


class Draws:
    """A plugin whose command does what a test says, with its ``ctx``."""

    def __init__(self) -> None:
        self.does: Callable[[Any], Any] = bool
        self.results: list[Any] = []

    @hookimpl
    def register_commands(self) -> list[Command]:
        """Add the command."""

        async def run(_arguments: str, ctx: Any) -> None:
            answer = self.does(ctx)
            self.results.append(await answer if hasattr(answer, "__await__") else answer)

        return [Command("draw", handler=run)]

    async def lets(self, user: Desk, does: Callable[[Any], Any]) -> None:
        """Let the plugin do something."""
        self.does = does
        await user.type("/draw", "enter")


_DRAWS = Draws()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the plugin of ``draws`` to the sessions of the tests that use it."""
    for item in items:
        if "draws" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.pi(plugins=[_DRAWS]))


@pytest.fixture
def draws() -> Draws:
    """A plugin of the session that does what the test says."""
    _DRAWS.results.clear()
    return _DRAWS


_ONLY_HERE = frozenset(
    [
        "test_login_asks_in_dialogs_and_stores_what_it_got",
        "test_tab_takes_the_only_path_there_is_also_in_a_command",
    ]
)
"""Tests of what the protocol does not know."""

_QUICK = frozenset(
    [
        "test_a_prompt_and_its_answer_are_on_the_screen",
        "test_escape_stops_the_answer_and_puts_what_is_queued_into_the_editor",
    ]
)
"""Tests that always run over the protocol, too; the others do with the slow ones."""


@asynccontextmanager
async def served(session: AgentSession) -> AsyncIterator[RemoteSession]:
    """Serve a session as ``pi --mode rpc`` does, and return the session of a client of it."""
    (server_in, to_server), (from_server, server_out) = os.pipe(), os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**26)
    reading, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_server, "rb", 0)
    )
    writing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(to_server, "wb", 0))
    outbox = Outbox(server_out, lambda: server.end(141))
    session.ui, session.has_ui = RpcUI(outbox), True
    server = Server(session, outbox, session.ui)
    server.reader = LineReader(server_in, server.on_lines, server.on_end_of_input)
    server.reader.start()
    serving = asyncio.ensure_future(server.serve())
    asker = Asker()
    client = PiClient.over(reader, asyncio.StreamWriter(writing, protocol, reader, loop), asker.answer)
    remote = RemoteSession(client, session.settings, asker)
    await remote.begin()
    try:
        yield remote
    finally:
        server.end(0)
        await asyncio.wait([serving], timeout=PATIENCE)
        reading.close()
        writing.close()
        os.close(server_out)


@asynccontextmanager
async def screen_of(
    session: Session, size: tuple[int, int], environ: Mapping[str, str], folder: Path
) -> AsyncIterator[Desk]:
    """A screen of a session that is in a folder.

    Without a ``HOME`` the footer shows the folder as ``~``: the path of a temporary folder has digits in it that tests
    look for in the conversation.
    """
    home = environ.get("HOME", str(folder))
    app = ScreenApp(session, bindings=Bindings("linux"), environ=environ, home=home)
    session.ui, session.has_ui = app.interface, True
    async with app.run_test(size=size) as pilot:
        unsubscribe = session.subscribe(app.take_event)
        if isinstance(session, RemoteSession):
            app.load()
            session.follow()
        user = Desk(app, pilot)
        try:
            yield user
        finally:
            user.leave()
            for dialog in [*app.dialogs]:
                dialog.finish(None)  # the command that opened it waits for it
            await app.talk.end()
            unsubscribe()


@pytest.fixture
def attached(pi_session: AgentSession, socket_path: Path):
    """``async with attached("Go", script.stalled) as user``: a client's screen of a session that has a prompt already.

    The session is served at a socket; the screen comes when the coroutine is done.
    """

    @asynccontextmanager
    async def opened(prompt: str, until: Callable[[], Awaitable[object]]) -> AsyncIterator[Desk]:
        server = SessionServer(pi_session)
        pi_session.ui, pi_session.has_ui = server.ui, True
        asker = Asker()
        async with listening(server, socket_path):
            serving = asyncio.create_task(server.serve())
            async with await PiClient.connect(socket_path, on_ui=asker.answer) as client:
                await client.prompt(prompt)
                await until()
            async with await PiClient.connect(socket_path, on_ui=asker.answer) as client:
                remote = RemoteSession(client, pi_session.settings, asker)
                await asyncio.create_task(remote.begin(), context=Context())  # there is no application yet
                async with screen_of(remote, (80, 24), {"TERM": "xterm-256color"}, pi_session.cwd) as user:
                    yield user
            server.end(0)
            await serving

    return opened


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what one does on the screen over the protocol, too."""
    if "desk" in metafunc.fixturenames and metafunc.module.__name__.endswith("test_talking"):
        is_here = metafunc.function.__name__ in _ONLY_HERE
        marks = [] if metafunc.function.__name__ in _QUICK else [pytest.mark.slow]
        remote = [] if is_here else [pytest.param("remote", marks=marks)]
        metafunc.parametrize("where", ["here", *remote], indirect=True)


@pytest.fixture
def where(request: pytest.FixtureRequest) -> str:
    """Where the session is: ``here``, or ``remote``."""
    return getattr(request, "param", "here")


@pytest.fixture
def desk(pi_session: AgentSession, where: str):
    """``async with desk() as user``: a screen of 80x24 over the session."""

    @asynccontextmanager
    async def opened(size: tuple[int, int] = (80, 24), environ: Mapping[str, str] | None = None) -> AsyncIterator[Desk]:
        pi_session.session_manager.notices.clear()  # the start has displayed that this session is in memory
        async with (
            served(pi_session) if where == "remote" else nullcontext(pi_session) as session,
            screen_of(session, size, environ or {"TERM": "xterm-256color"}, pi_session.cwd) as user,
        ):
            yield user

    return opened
