"""Sessions with the servers that a test configures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pi_core import create_agent_session
from pi_testing._session import session_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from pi_core import AgentSession, PluginHost
    from pi_testing import FakeTool, FakeUI, ScriptedProvider
    from pi_testing._options import PiOptions

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


@pytest.fixture
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
