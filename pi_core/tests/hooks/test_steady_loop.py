"""What a plugin's task or callback raises does not end the event loop; what anybody else raises does."""

from __future__ import annotations

import asyncio
import signal
import sys
from functools import partial

import pytest

from pi_core.hooks.steady_loop import steady_loop, was_reported


def fails(error):
    raise error


@pytest.fixture
def reported():
    return []


@pytest.fixture
def run(reported):
    """``run(work, plugin="shelf")`` runs work in such a loop, in which everything is code of this plugin."""

    def run(work, plugin="shelf"):
        with asyncio.Runner(loop_factory=partial(steady_loop, lambda _error: plugin)) as runner:
            runner.get_loop().set_exception_handler(lambda _loop, context: reported.append(context["exception"]))
            return runner.run(work)

    return run


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt("broken")], ids=repr)
def test_work_goes_on_after_a_task_has_raised(run, reported, error):
    async def work():
        async def task():
            fails(error)

        failed = asyncio.ensure_future(task())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert failed.exception() is error
        return "done"

    assert run(work()) == "done"
    assert reported == [error]
    assert was_reported(error)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt("broken")], ids=repr)
def test_work_goes_on_after_a_callback_has_raised(run, reported, error):
    async def work():
        asyncio.get_running_loop().call_soon(fails, error)
        await asyncio.sleep(0.01)
        return "done"

    assert run(work()) == "done"
    assert reported == [error]


def test_the_work_itself_may_end_the_loop(run, reported):
    async def work():
        sys.exit(3)

    with pytest.raises(SystemExit):
        run(work())
    assert reported == []


def test_what_no_plugin_has_raised_ends_the_loop(run, reported):
    async def work():
        asyncio.get_running_loop().call_soon(fails, SystemExit(3))
        await asyncio.sleep(60)

    with pytest.raises(SystemExit):
        run(work(), plugin=None)
    assert reported == []


def test_a_signal_ends_the_loop(run, reported):
    async def work():
        asyncio.get_running_loop().call_soon(signal.default_int_handler, signal.SIGINT, None)
        await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        run(work())
    assert reported == []
