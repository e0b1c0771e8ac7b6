"""A screen over a session of the scripted model, on a terminal that only the test sees."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pi_hookspecs import Command, hookimpl
from pi_tui.keys.bindings import Bindings
from pi_tui.port.local import LocalPort
from pi_tui.screen.app import ScreenApp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from textual.pilot import Pilot

    from pi_core import AgentSession


class Desk:
    """What a user sees and does."""

    def __init__(self, app: ScreenApp, pilot: Pilot) -> None:
        self.app, self.pilot = app, pilot

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
        for _ in range(500):
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


@pytest.fixture
def desk(pi_session: AgentSession):
    """``async with desk() as user``: a screen of 80x24 over the session."""

    @asynccontextmanager
    async def opened(size: tuple[int, int] = (80, 24), environ: Mapping[str, str] | None = None) -> AsyncIterator[Desk]:
        port = LocalPort(pi_session)
        environ = environ or {"TERM": "xterm-256color"}
        app = ScreenApp(port, bindings=Bindings("linux"), environ=environ, home=environ.get("HOME", ""))
        port.set_user_interface(app.interface)
        async with app.run_test(size=size) as pilot:
            unsubscribe = port.subscribe(app.take_event)
            try:
                yield Desk(app, pilot)
            finally:
                await app.talk.end()
                unsubscribe()

    return opened
