"""Signals that end a process: the first in good order, the second at once, and none that is not ours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from textwrap import dedent

import pytest

from pi_core import OrderlyEnd

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
