"""What a hook call costs, compared with a bare ``await`` and a bare pluggy call: ``uv run python bench/dispatch.py``.

CPU time per call, the best of five rounds, in one process. The events are made before the clock runs, as the engine
makes none where nothing listens. Bars: at most 1 us without an implementation, at most 5 us for one asynchronous
implementation that does not suspend.
"""

from __future__ import annotations

import asyncio
import tempfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pluggy
from _measure import cpu_per_step, show

from pi_core import PluginHost, Settings
from pi_hookspecs import ToolCallEvent, TurnStartEvent, hookimpl
from pi_hookspecs.specs.tools import tool_call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core import HookDispatcher

CALLS = 50_000
CTX: Any = SimpleNamespace(signal=None)
TURN = TurnStartEvent()
CALL = ToolCallEvent(tool_call_id="c", tool_name="t", input={"path": "a"})


class Async:
    """A plugin whose hooks are coroutine functions."""

    @hookimpl
    async def tool_call(self, event, ctx):  # noqa: ANN001, ANN201 - as a plugin's author writes it
        """Have no opinion."""

    @hookimpl
    async def turn_start(self, event, ctx):  # noqa: ANN001, ANN201 - as above
        """Do nothing."""


class Plain:
    """A plugin whose hook is a plain function."""

    @hookimpl
    def tool_call(self, event, ctx):  # noqa: ANN001, ANN201 - as above
        """Have no opinion."""


class Suspends:
    """A plugin that waits for the loop once."""

    @hookimpl
    async def tool_call(self, event, ctx):  # noqa: ANN001, ANN201 - as above
        """Let others run."""
        await asyncio.sleep(0)


def dispatcher(*plugins: object) -> HookDispatcher:
    host = PluginHost(Settings.in_memory({}, agent_dir=tempfile.gettempdir()), installed=False)
    for number, plugin in enumerate(plugins):
        host.add(plugin, f"plugin-{number}")
    return host.dispatcher(print)


def asking(*plugins: object) -> Callable[[int], Awaitable[None]]:
    async def work(steps: int) -> None:
        hooks = dispatcher(*plugins)
        for _ in range(steps):
            await hooks.call(tool_call, CALL, CTX)
        hooks.close()

    return work


def telling(*plugins: object) -> Callable[[int], Awaitable[None]]:
    async def work(steps: int) -> None:
        hooks = dispatcher(*plugins)
        for _ in range(steps):
            await hooks.notify(TURN, CTX)
        hooks.close()

    return work


async def looking(steps: int) -> None:
    listens = dispatcher().listens
    for _ in range(steps):
        listens("tool_call")


async def bare_await(steps: int) -> None:
    call = Async().tool_call
    for _ in range(steps):
        await call(CALL, CTX)


async def bare_timeout(steps: int) -> None:
    call = Async().tool_call
    for _ in range(steps):
        async with asyncio.timeout(30):
            await call(CALL, CTX)


async def bare_pluggy(steps: int) -> None:
    manager = pluggy.PluginManager("pi")
    manager.register(Plain())
    call = manager.hook.tool_call
    for _ in range(steps):
        call(event=CALL, ctx=CTX)


async def bare_task(steps: int) -> None:
    call = Async().tool_call
    for _ in range(steps):
        await asyncio.create_task(call(CALL, CTX))


def main() -> None:
    measured: list[tuple[str, Callable[[int], Awaitable[None]], float | None]] = [
        ("peer: await a coroutine", bare_await, None),
        ("peer: one plain implementation through pluggy", bare_pluggy, None),
        ("peer: await under asyncio.timeout", bare_timeout, None),
        ("peer: await a task of its own", bare_task, None),
        ("no implementation: look-up", looking, 1.0),
        ("no implementation: ask", asking(), 1.0),
        ("no implementation: notify", telling(), 1.0),
        ("one async implementation that does not suspend: ask", asking(Async()), 5.0),
        ("one async implementation that does not suspend: tell", telling(Async()), 5.0),
        ("one plain implementation: ask", asking(Plain()), 5.0),
        ("one async implementation that suspends: ask", asking(Suspends()), None),
        ("ten async implementations: ask", asking(*(Async() for _ in range(10))), 50.0),
    ]
    rows = [(what, cpu_per_step(work, CALLS), bar) for what, work, bar in measured]
    show("Hook dispatch, CPU per call", "us", rows)


if __name__ == "__main__":
    main()
