"""A working directory, a context, and a way to call a tool in it as the agent does."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

import pi_tools
from pi_hookspecs import AbortController, Model
from pi_tools.commands.background import end_session


class Settings(dict):
    def get(self, key, default=None):
        return super().get(key, default)


class Notices(list):
    def notify(self, message, level="info"):
        self.append((level, message))


@pytest.fixture
def ctx(tmp_path):
    return SimpleNamespace(
        cwd=tmp_path,
        session=SimpleNamespace(id=f"session-{tmp_path.name}", file=None),
        model=Model(id="rules", name="Rules", api="offline", provider="offline", input=("text", "image")),
        thinking_level="off",
        settings=Settings(),
        ui=Notices(),
    )


@pytest.fixture
async def call(ctx):
    """``await call("read", path="a")``: the result; raising is the call's failure."""
    tools = {tool.name: tool for tool in pi_tools.register_tools()}

    async def run(name, /, *, tool=None, signal=None, updates=None, **arguments):
        chosen = tool or tools[name]
        if chosen.prepare_arguments:
            arguments = chosen.prepare_arguments(arguments)
        on_update = (updates if updates is not None else []).append
        return await chosen.execute("call-1", arguments, signal or AbortController().signal, on_update, ctx)

    yield run
    await end_session(ctx.session.id)


@pytest.fixture
def text(call):
    """``await text("ls")``: the text of the result."""

    async def run(name, /, **arguments):
        result = await call(name, **arguments)
        return result.content[0].text

    return run


@pytest.fixture
def failure(call):
    """``await failure("ls", path="x")``: the message of a call that must fail."""

    async def run(name, /, **arguments):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the message is what is compared
            await call(name, **arguments)
        return str(caught.value)

    return run


@contextmanager
def _nobody():
    """Be a user whom modes concern; root, whom they do not, lends its process to nobody, all threads of it."""
    root = os.getuid() == 0
    if root:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if root:
            os.setresuid(0, 0, 0)


@pytest.fixture
def plain_user(ctx):
    """``with plain_user: ...`` runs without root's rights; the working directory is one that it may enter."""
    with TemporaryDirectory() as folder:
        ctx.cwd = Path(folder)
        ctx.cwd.chmod(0o777)
        yield _nobody()


def _alive(token):
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if token in line and state not in b"ZX":
                found.append(f"{folder.name} {line}")
    return found


@pytest.fixture
def alive():
    """``alive(token)``: the processes whose command line holds the token, without zombies."""
    return _alive


async def _until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110 - it is the system that is waited for
        await asyncio.sleep(0.02)


@pytest.fixture
def until():
    """``await until(lambda: ...)``: wait for a condition without a signal; the test continues after a minute."""

    async def wait(condition):
        await _until(condition, 60)

    return wait


@pytest.fixture
def none_left():
    """``await none_left(token)``: what is still there after a while; the system needs a moment to end processes."""

    async def wait(token, seconds=60.0):
        await _until(lambda: not _alive(token), seconds)
        return _alive(token)

    return wait


@pytest.fixture
def token(tmp_path):
    """A number of seconds that no other test sleeps."""
    return f"3600.{abs(hash(str(tmp_path))) % 10**9:09d}"
