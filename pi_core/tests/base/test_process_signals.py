"""Signals that end a process: the first in good order, the second at once, and none that is not ours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from textwrap import dedent

import pytest

from pi_core import OrderlyEnd, Stopped, run_until_signal
from pi_testing.patience import PATIENCE

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
            await asyncio.sleep(600)
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

    def ignored():
        print("signalled", flush=True)
        return True

    async def work():
        with OrderlyEnd(ignored):
            print("ready", flush=True)
            while True:
                await asyncio.sleep(0.05)

    asyncio.run(work())
"""


def test_the_second_signal_ends_what_does_not_end():
    with subprocess.Popen([sys.executable, "-c", dedent(HANGS)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.terminate()
        process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.terminate()

        assert process.wait(PATIENCE) != 0


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_cancels_a_commands_work_which_cleans_up_before_the_command_ends(name, code):
    done: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), getattr(signal, name))
            await asyncio.sleep(600)
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


def test_work_whose_clean_up_fails_was_stopped_by_the_signal():
    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(600)
        finally:
            raise OSError("the folder is gone")

    with pytest.raises(Stopped) as stopped:
        run_until_signal(work())

    assert stopped.value.exit_code == 143
    assert isinstance(stopped.value.__cause__, OSError)


INTERRUPTED = """
    import asyncio, os, signal, sys, time
    from threading import Timer
    from pi_core.base.process.signals import Stopped, raising_on_signals, run_until_signal

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    async def part(number):
        try:
            await asyncio.sleep(600)
        finally:
            for step in range(6):
                if number == 1 and sys.argv[1:] == [str(step)]:
                    interrupt()
                await asyncio.to_thread(sum, range(10_000))
            raise OSError("the folder is gone")

    async def work():
        asyncio.get_running_loop().call_soon(interrupt)
        WORK

    try:
        with raising_on_signals():
            run_until_signal(work())
    except Stopped as stopped:
        raise SystemExit(stopped.exit_code)
"""

PARTS = """
        parts = [asyncio.create_task(part(number)) for number in range(3)]
        try:
            await asyncio.gather(*parts)
        finally:
            for each in parts:
                each.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
"""

LEFT_BEHIND = """
        global parts
        parts = [asyncio.create_task(part(number)) for number in range(3)]
        await asyncio.sleep(600)
"""

IN_A_THREAD = """
        Timer(0.3, interrupt).start()
        await asyncio.to_thread(time.sleep, 60)
"""


def interrupted(work: str, *arguments: str) -> tuple[int, str]:
    """Run a program whose work is interrupted, and again by itself; return its exit code and standard error."""
    program = dedent(INTERRUPTED.replace("        WORK\n", work))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("step", range(6))
@pytest.mark.parametrize("work", [PARTS, LEFT_BEHIND], ids=["awaited", "left behind"])
def test_a_second_signal_at_any_moment_of_the_clean_up_leaves_no_traceback(work, step):
    assert interrupted(work, str(step)) == (130, "")


def test_a_second_signal_ends_what_a_thread_still_does():
    assert interrupted(IN_A_THREAD) == (130, "")
