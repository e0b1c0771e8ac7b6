"""Which plugin has written to stdout, from stacks and tasks."""

from __future__ import annotations

import asyncio
import sys
import threading
from types import FunctionType

import pytest

from pi_core.host.owners import CodeOwners
from pi_core.host.writers import OutputWriters, printing_plugin


class Owners(CodeOwners):
    """Knows plugins by the beginning of a module's name."""

    def __init__(self):
        super().__init__(host=None)

    def plugin_of(self, frame):
        name = frame.f_globals.get("__name__", "")
        return name.removeprefix("of_") if name.startswith("of_") else None

    def is_default(self, plugin):
        return plugin == "tui"

    def is_pi(self, frame):
        return frame.f_globals.get("__name__") == "engine"


def code_of(module: str, function):
    """Return a function as if a module defined it."""
    return FunctionType(function.__code__, {**function.__globals__, "__name__": module}, closure=function.__closure__)


@pytest.mark.parametrize(
    ("modules", "plugin"),
    [
        (["engine", "of_weather"], "weather"),
        (["engine", "of_weather", "urllib"], "weather"),
        (["engine", "of_weather", "engine"], None),
        (["of_weather", "engine", "of_tides"], "tides"),
        (["engine", "urllib"], None),
        (["engine", "of_tui"], None),
    ],
)
async def test_the_innermost_code_of_a_plugin_has_printed_unless_pi_s_is_further_in(modules, plugin):
    found = []

    def look():
        found.extend((printing_plugin(Owners(), sys._getframe(1)), OutputWriters(Owners()).on_stack(sys._getframe(1))))

    for module in reversed(modules):

        def call(inner=look):
            inner()

        look = code_of(module, call)
        look.__defaults__ = call.__defaults__
    look()

    assert found == [plugin, plugin]


async def candidates():
    return await asyncio.to_thread(OutputWriters(Owners()).candidates)


async def test_a_plugin_that_waits_is_found_in_its_task():
    async def wait():
        await asyncio.sleep(100)

    waiting = asyncio.create_task(code_of("of_weather", wait)())
    await asyncio.sleep(0)

    assert await candidates() == ["weather"]
    waiting.cancel()


async def test_one_that_waits_for_a_program_is_named_instead_of_others():
    async def wait():
        await asyncio.sleep(100)

    processes = []

    async def run():
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=-1)
        processes.append(process)
        try:
            await process.wait()
        finally:
            process.stdin.close()

    others = [asyncio.create_task(code_of("of_weather", wait)()), asyncio.create_task(code_of("of_tides", wait)())]
    await asyncio.sleep(0)
    assert sorted(await candidates()) == ["tides", "weather"]
    running = asyncio.create_task(code_of("of_boats", run)())
    while not processes or await candidates() != ["boats"]:  # noqa: ASYNC110 - no event says that it waits
        await asyncio.sleep(0.01)

    for each in (*others, running):
        each.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await processes[0].wait()


async def test_code_in_a_thread_is_found():
    ended, begun = threading.Event(), threading.Event()

    def wait():
        begun.set()
        ended.wait()

    threading.Thread(target=code_of("of_weather", wait)).start()
    begun.wait()

    assert await candidates() == ["weather"]
    ended.set()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python says only since 3.12 that a thread starts")
async def test_the_plugin_of_a_thread_that_has_ended_is_found_by_its_start():
    writers = OutputWriters(Owners())

    def work():
        """Return at once."""

    def begin():
        thread = threading.Thread(target=work)
        thread.start()
        return thread

    code_of("of_weather", begin)().join()

    assert await asyncio.to_thread(writers.candidates) == ["weather"]


async def test_the_plugin_of_a_program_that_it_does_not_wait_for_is_found_by_its_start():
    writers = OutputWriters(Owners())

    async def begin():
        return await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")

    process = await asyncio.create_task(code_of("of_boats", begin)())
    await process.wait()

    assert await asyncio.to_thread(writers.candidates) == ["boats"]


async def test_what_pi_starts_is_nobody_else_s():
    writers = OutputWriters(Owners())

    async def begin():
        return await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")

    process = await asyncio.create_task(code_of("engine", begin)())
    await process.wait()

    assert await asyncio.to_thread(writers.candidates) == []
