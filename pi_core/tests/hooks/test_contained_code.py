"""The block that plugin code runs in: what is contained and reported, and what passes."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest

from pi_core.hooks.containment import Contained, reported


@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(3), StopIteration(), asyncio.CancelledError()], ids=repr
)
def test_whatever_a_plugin_raises_is_contained(error):
    failures = []

    with Contained(failures.append):
        raise error

    assert failures == [error]


@pytest.mark.parametrize("error", [GeneratorExit(), LookupError("meant for the caller")], ids=repr)
def test_what_is_not_the_plugins_failure_passes(error):
    failures = []

    with pytest.raises(type(error)), Contained(failures.append, passing=LookupError):
        raise error

    assert failures == []


def test_ctrl_c_passes_and_a_keyboard_interrupt_that_a_plugin_raises_does_not():
    failures = []

    with pytest.raises(KeyboardInterrupt), Contained(failures.append):
        signal.default_int_handler(signal.SIGINT, None)
    with Contained(failures.append):
        raise KeyboardInterrupt("broken")

    assert [str(each) for each in failures] == ["broken"]


def test_ctrl_c_that_a_plugin_passes_on_after_cleaning_up_passes():
    failures = []

    def passes_on():
        try:
            signal.default_int_handler(signal.SIGINT, None)
        except KeyboardInterrupt:
            failures.clear()
            raise

    with pytest.raises(KeyboardInterrupt), Contained(failures.append):
        passes_on()

    assert failures == []


def test_a_failure_is_reported_with_plugin_step_place_and_stack():
    reports = []

    with reported(lambda *report: reports.append(report), "shelf", "command", "in command /go"):
        sys.exit("no books")

    ((plugin, step, message, stack),) = reports
    assert (plugin, step) == ("shelf", "command")
    assert message.startswith(f"Plugin 'shelf' failed in command /go: SystemExit: no books (in {__file__}, line ")
    assert stack.startswith("Traceback")
    assert 'sys.exit("no books")' in stack


async def test_a_task_that_is_cancelled_from_outside_ends():
    failures, entered = [], asyncio.Event()

    async def work():
        with Contained(failures.append):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert failures == []


async def test_a_cancelled_future_that_a_plugin_waits_for_is_its_failure():
    failures = []
    future = asyncio.get_running_loop().create_future()
    future.cancel()

    with Contained(failures.append):
        await future

    assert [type(each) for each in failures] == [asyncio.CancelledError]
