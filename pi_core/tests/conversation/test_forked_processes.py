"""Programs that fork keep working: workers that begin a session of their own, and those that go on with one at rest.

A child that returns into pi ends before it does anything with what it shares with its parent.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pi_core.base.process.forks import ForkGuard

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")

PROGRAM = """
import asyncio, os
from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl

MODEL = Model(id="m", name="M", api="played", provider="p")

class Fake:
    api = "played"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        start = builder.text_start()
        yield start
        yield builder.text(start.content_index, context.messages[-1].text)
        yield builder.text_end(start.content_index)
        yield builder.done()

class Plugin:
    @hookimpl
    def register_providers(self):
        return [Fake()]

    @hookimpl
    def register_models(self):
        return [ProviderInfo(id="p", name="P", api="played", keyless=True, models=(MODEL,))]

    @hookimpl
    async def turn_start(self, event):
        await asyncio.sleep(0)
        raise ValueError("reported, and no reason to end")

def session():
    settings = Settings.in_memory({}, agent_dir="agent")
    host = PluginHost(settings, installed=False)
    return create_agent_session(settings=settings, host=host, plugins={"fake": Plugin()}, model=MODEL)

async def answer(session, text):
    return (await session.prompt(text)).text

def fork(work):
    child = os.fork()
    if child == 0:
        print(work(), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
"""

BEFORE_IT_STARTS = """
made = session()
fork(lambda: asyncio.run(answer(made, "worker")))
print(asyncio.run(answer(made, "parent")), flush=True)
"""

AT_REST = """
made = session()
print(asyncio.run(answer(made, "parent")), flush=True)
fork(lambda: asyncio.run(answer(made, "worker")))
"""

OF_ITS_OWN_INSIDE_A_RUN = """
async def main():
    made = session()
    print(await answer(made, "parent"), flush=True)
    fork(lambda: asyncio.run(answer(session(), "worker")))
    await made.dispose()

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "printed"),
    [
        (BEFORE_IT_STARTS, ["worker", "parent"]),
        (AT_REST, ["parent", "worker"]),
        (OF_ITS_OWN_INSIDE_A_RUN, ["parent", "worker"]),
    ],
    ids=["before it starts", "at rest", "of its own inside a run"],
)
def test_a_worker_answers_with_a_session(tmp_path: Path, work: str, printed: list[str]) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + work], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == printed


LEAVING_A_COMPLETION = """
def activate(pi):
    pi.register_command("go", print, complete=complete)

def complete(text):
    child = os.fork()
    if child == 0:
        raise SystemExit(7)
    _, status = os.waitpid(child, 0)
    return [str(os.waitstatus_to_exitcode(status))]

async def main():
    settings = Settings.in_memory({}, agent_dir="agent")
    host = PluginHost(settings, installed=False)
    async with create_agent_session(
        settings=settings, host=host, plugins={"fake": Plugin()}, model=MODEL, extension_factories=[activate]
    ) as made:
        print(made.completions.words("go", ""), os.getpid(), flush=True)

asyncio.run(main())
"""


def test_a_process_that_leaves_a_completion_with_an_exit_ends_with_its_code(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + LEAVING_A_COMPLETION],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.startswith("('7',) "), done.stderr
    assert done.stdout.count("\n") == 1, "the child went on as a second session"


async def test_a_child_does_not_read_what_was_sent_to_its_parent() -> None:
    loop = asyncio.get_running_loop()
    guard = ForkGuard(lambda: None)
    guard.attach()
    ours, theirs = socket.socketpair()
    read: asyncio.Future[bytes] = loop.create_future()

    def fork() -> None:
        child = os.fork()
        if child:
            os.waitpid(child, 0)

    def receive() -> None:
        try:
            read.set_result(ours.recv(100))
        except BlockingIOError as error:
            read.set_exception(error)

    try:
        ours.setblocking(False)
        theirs.send(b"the answer")
        loop.call_soon(fork)
        loop.call_soon(receive)

        assert await read == b"the answer"
    finally:
        guard.release()
        ours.close()
        theirs.close()
