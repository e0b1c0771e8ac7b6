"""Sessions with the real tools, ruff from this environment and a language server with faults."""

from __future__ import annotations

import asyncio
import os
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import pi_diagnostics
import pi_tools
from pi_hookspecs import ToolCallResult, hookimpl
from pi_testing import FakeLauncher, text, tool_call
from pi_testing.patience import PATIENCE

SERVER = Path(__file__).parent / "servers" / "fake_server.py"


class _Refusing:
    @hookimpl(trylast=True)
    def tool_call(self, event):
        return ToolCallResult(block=True, reason="no") if "forbidden" in str(event.input) else None


class _Services:
    def __init__(self, services):
        self.services = services

    @hookimpl
    def register_services(self):
        return self.services


def is_alive(pid):
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):  # it may end at any time
        return False


@pytest.fixture
def is_gone():
    """``await is_gone(pid)``: whether a process ends."""

    async def wait(pid):
        end = time.monotonic() + PATIENCE
        while is_alive(pid) and time.monotonic() < end:  # noqa: ASYNC110 - it is the system that is waited for
            await asyncio.sleep(0.02)
        return not is_alive(pid)

    return wait


@pytest.fixture
def launcher():
    return FakeLauncher()


@pytest.fixture
def services(launcher):
    return [launcher]


@pytest.fixture
def pi_plugins(services):
    return {"tools": pi_tools, "diagnostics": pi_diagnostics, "services": _Services(services), "guard": _Refusing()}


@pytest.fixture(autouse=True)
def programs(tmp_path_factory, monkeypatch):
    """The only folder of programs: it has ruff."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "ruff").symlink_to(Path(sysconfig.get_path("scripts"), "ruff"))
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def use_server(pi_host, tmp_path_factory):
    """``log = use_server("hang", timeout=0.1)``: files ``*.txt`` are checked by a server with these faults.

    Its process and the methods that it received are in the log, a line each.
    """

    def use(*faults, timeout=20):
        log = tmp_path_factory.mktemp("server") / "log"
        command = [sys.executable, "-I", "-S", str(SERVER), *faults, "--log", str(log)]
        server = {"command": command, "languages": {".txt": "plaintext"}}
        pi_host.settings.set("diagnostics", {"servers": {"fake": server}, "timeout": timeout})
        return log

    return use


@pytest.fixture
def result_of(pi_session, script):
    """``await result_of("write", ...)``: the text that the model gets of a call."""

    async def call(name, **arguments):
        script.turn(tool_call(name, **arguments)).turn(text("ok"))
        await pi_session.prompt("go")
        return script.requests[-1].tool_results[-1].text

    return call


@pytest.fixture
def edit(result_of):
    """``await edit("a.py", "old", "new")``: the text that the model gets of an edit."""

    async def call(path, old, new):
        return await result_of("edit", path=path, edits=[{"oldText": old, "newText": new}])

    return call
