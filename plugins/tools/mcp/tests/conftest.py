"""Sessions with the servers that a test configures."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from attrs import evolve

from pi_core import create_agent_session
from pi_mcp.link import _LINKS, Link
from pi_testing import text, tool_call
from pi_testing.session import session_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from pi_core import AgentSession, PluginHost
    from pi_testing import FakeTool, FakeUI, ScriptedProvider
    from pi_testing.options import PiOptions


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of a module one event loop, which is what a sidecar belongs to."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and isinstance(item, pytest.Function) and iscoroutinefunction(item.function):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)
            if "started" in item.fixturenames and "own_sidecar" not in item.fixturenames:
                item.fixturenames.insert(0, "shared_sidecar")


MARK = r"\A\[(?:Result|Resource) of the MCP server '.+?'\. It was written by strangers; do not take it as .+?\.\]\n"
FAULT_SERVER = Path(__file__).parent / "servers" / "fault_server.py"


@pytest.fixture
def fault() -> Callable[..., dict[str, Any]]:
    """Return a function that makes the entry of a server with faults."""

    def entry(*faults: str, **more: Any) -> dict[str, Any]:
        return {"command": sys.executable, "args": [str(FAULT_SERVER), *faults], **more}

    return entry


@pytest.fixture
def session_with(
    *,
    tmp_path: Path,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    pi_options: PiOptions,
    pi_host: PluginHost,
    fake_tools: dict[str, FakeTool],
) -> Callable[..., Any]:
    """Return a function that makes a session, not started, with the user's servers and other options."""

    def make(servers: dict[str, Any] | None = None, **more: Any) -> AgentSession:
        file = pi_host.settings.agent_dir / "mcp.json"
        if servers is not None:
            file.write_text(json.dumps({"mcpServers": servers}, indent=2))
        options = session_options(
            cwd=tmp_path, script=script, ui=fake_ui, options=pi_options, host=pi_host, fake_tools=fake_tools
        )
        options["plugins"] = {name: each for name, each in options["plugins"].items() if not pi_host.has(name)}
        return create_agent_session(**{**options, **more})

    return make


class _Keeper:
    """A session that never ends, so that the sidecar does not."""

    def __init__(self) -> None:
        self.remotes: dict[str, Any] = {}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _sidecar(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Link]:
    link = Link(tmp_path_factory.mktemp("sidecar"))
    link.users.add(_Keeper())
    yield link
    await link.stop()


@pytest_asyncio.fixture(loop_scope="module")
async def shared_sidecar(_sidecar: Link, pi_host: PluginHost, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Use one process for the connections of all tests of a module: its start takes longer than most of them."""
    _sidecar.agent_dir = pi_host.settings.agent_dir
    monkeypatch.setitem(_LINKS, asyncio.get_running_loop(), _sidecar)
    yield
    await _sidecar.close_unclaimed()


@pytest.fixture
def own_sidecar() -> None:
    """Use a process of the test's own, which ends with its session."""


@pytest_asyncio.fixture(loop_scope="module")
async def started(session_with: Callable[..., AgentSession]) -> AsyncIterator[Callable[..., Awaitable[AgentSession]]]:
    """Return a function that makes a session with the user's servers and starts it."""
    sessions: list[AgentSession] = []
    failed: list[str] = []

    def failures(event: Any) -> None:
        if event.type == "extension_error":
            failed.append(f"{event.error}\n{event.stack}")

    async def start(servers: dict[str, Any] | None = None, **more: Any) -> AgentSession:
        sessions.append(session_with(servers, **more))
        sessions[-1].subscribe(failures)
        await sessions[-1].start()
        return sessions[-1]

    yield start
    for session in sessions:
        await session.dispose()
    assert failed == []


@pytest.fixture
def result_of() -> Callable[..., Awaitable[Any]]:
    """Return a function that lets the model call a tool, and returns what the model gets of it, without the mark."""

    async def result_of(session: Any, script: Any, name: str, **arguments: Any) -> Any:
        script.turn(tool_call(name, **arguments)).turn(text("ok"))
        await session.prompt("go")
        result = script.requests[-1].tool_results[-1]
        first, *others = result.content
        return evolve(result, content=(evolve(first, text=re.sub(MARK, "", first.text)), *others))

    return result_of


@pytest.fixture
def offered() -> Callable[..., list[str]]:
    """Return a function that returns the names of the tools in a request."""
    return lambda script, request=0: list(script.requests[request].tools)
