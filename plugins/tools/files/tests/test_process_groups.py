"""Where there is no supervisor: process groups."""

from __future__ import annotations

import asyncio
import os

import pytest

from pi_hookspecs import AbortController, Aborted
from pi_process_kit.grouped import GroupStarter
from pi_tools import LocalBashOperations
from pi_tools.commands.background import end_session, running

pytestmark = pytest.mark.slow


@pytest.fixture
def execute(tmp_path):
    async def run(command, *, timeout=None, signal=None, **options):  # noqa: ASYNC109 - ends a command
        output = []
        operations = LocalBashOperations(start=GroupStarter(), session="group", **options)
        code = await operations.exec(
            command,
            str(tmp_path),
            on_data=output.append,
            signal=signal or AbortController().signal,
            timeout=timeout,
            env=dict(os.environ),
        )
        return code, b"".join(output).decode()

    return run


async def test_output_and_exit_codes(execute):
    assert await execute("echo a; exit 3") == (3, "a\n")
    assert await execute("kill -9 $$") == (137, "")


async def test_a_timeout_ends_the_group_and_the_family(execute, token, none_left):
    with pytest.raises(TimeoutError):
        await execute(f"sleep {token} & setsid sleep {token} & sleep {token}", timeout=0.5)

    assert await none_left(token) == []


async def test_an_abort_ends_the_group(execute, token, alive, none_left, until):
    controller = AbortController()
    task = asyncio.create_task(execute(f"sleep {token} | sleep {token}", signal=controller.signal))
    await until(lambda: alive(token))
    controller.abort()

    with pytest.raises(Aborted):
        await task
    assert await none_left(token) == []


async def test_background_processes_end_with_the_session(execute, token, alive, none_left):
    assert await execute(f"sleep {token} & echo x") == (0, "x\n")
    assert len(alive(token)) == 1
    assert len(running("group")) == 1

    await end_session("group")

    assert await none_left(token) == []


async def test_or_with_the_command(execute, token, none_left):
    await execute(f"sleep {token} & echo x", keep_background=False)

    assert await none_left(token) == []
