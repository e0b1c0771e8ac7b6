"""Signals that end a process: the first in good order, the second at once, and none that is not ours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from textwrap import dedent

import pytest

from pi_core import OrderlyEnd, run_until_signal
from pi_core.base.process.signals import Stopped

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
async def test_the_first_signal_asks_for_the_end_and_says_what_to_exit_with(name, code):
    asked = asyncio.Event()

    def stop() -> bool:
        asked.set()
        return True

    with OrderlyEnd(stop) as end:
        os.kill(os.getpid(), getattr(signal, name))
        await asked.wait()

    assert end.exit_code == code


async def test_without_work_to_stop_the_task_is_cancelled():
    with OrderlyEnd(lambda: False) as end:
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(60)
        end.cleaning_up()

    assert end.exit_code == 143


async def test_handlers_are_put_back_and_what_is_ignored_stays_ignored():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    hangup = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with OrderlyEnd(lambda: True) as end:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
    finally:
        signal.signal(signal.SIGHUP, hangup)

    assert end.exit_code is None
    assert {number: signal.getsignal(number) for number in before} == before


async def test_in_another_thread_nothing_is_handled():
    async def inside() -> object:
        with OrderlyEnd(lambda: True):
            return signal.getsignal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)

    assert await asyncio.to_thread(lambda: asyncio.run(inside())) is before


HANGS = """
    import asyncio
    from pi_core.base.process.signals import OrderlyEnd

    async def work():
        with OrderlyEnd(lambda: True):
            print("ready", flush=True)
            while True:
                await asyncio.sleep(0.05)

    asyncio.run(work())
"""


def test_the_second_signal_ends_what_does_not_end():
    with subprocess.Popen([sys.executable, "-c", dedent(HANGS)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.terminate()

        assert process.wait(60) != 0


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_cancels_a_commands_work_which_cleans_up_before_the_command_ends(name, code):
    done: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), getattr(signal, name))
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            done.append("cleaned up")

    with pytest.raises(Stopped) as stopped:
        run_until_signal(work())

    assert stopped.value.exit_code == code
    assert done == ["cleaned up"]


def test_work_that_no_signal_ends_returns_its_result_or_raises_its_error():
    async def fails() -> None:
        raise ValueError("no")

    async def cancels_itself() -> None:
        raise asyncio.CancelledError

    assert run_until_signal(asyncio.sleep(0, "result")) == "result"
    with pytest.raises(ValueError, match="no"):
        run_until_signal(fails())
    with pytest.raises(asyncio.CancelledError):
        run_until_signal(cancels_itself())


CLEANS_UP = """
    import asyncio, os, signal, sys
    from pi_core.base.process.signals import Stopped, raising_on_signals, run_until_signal

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    async def part(number):
        try:
            await asyncio.sleep(60)
        finally:
            for step in range(6):
                if number == 1 and step == int(sys.argv[1]):
                    interrupt()
                await asyncio.to_thread(sum, range(10_000))
            raise OSError("the folder is gone")

    async def work():
        parts = [asyncio.create_task(part(number)) for number in range(3)]
        asyncio.get_running_loop().call_soon(interrupt)
        try:
            await asyncio.gather(*parts)
        finally:
            for each in parts:
                each.cancel()
            await asyncio.gather(*parts, return_exceptions=True)

    try:
        with raising_on_signals():
            run_until_signal(work())
    except Stopped as stopped:
        raise SystemExit(stopped.exit_code)
"""


@pytest.mark.parametrize("step", range(6))
def test_a_second_signal_at_any_moment_of_the_clean_up_leaves_no_traceback(step):
    done = subprocess.run(
        [sys.executable, "-c", dedent(CLEANS_UP), str(step)], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.returncode, done.stderr) == (130, "")
