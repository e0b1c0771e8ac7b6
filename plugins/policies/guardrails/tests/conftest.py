"""Sessions with settings that a test makes itself, such as a broken file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_core import create_agent_session
from pi_testing.session import session_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from pi_core import AgentSession, PluginHost, Settings
    from pi_testing import FakeTool, FakeUI, ScriptedProvider
    from pi_testing.options import PiOptions

    SessionOf = Callable[[Settings], Awaitable[AgentSession]]


@pytest.fixture
async def session_of(
    *,
    tmp_path: Path,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    pi_options: PiOptions,
    pi_host: PluginHost,
    fake_tools: dict[str, FakeTool],
) -> AsyncIterator[SessionOf]:
    """Make a started session with the plugins under test and other settings than theirs."""
    sessions: list[AgentSession] = []

    async def make(settings: Settings) -> AgentSession:
        options = session_options(
            cwd=tmp_path, script=script, ui=fake_ui, options=pi_options, host=pi_host, fake_tools=fake_tools
        )
        sessions.append(create_agent_session(**{**options, "settings": settings}))
        await sessions[-1].start()
        return sessions[-1]

    yield make
    for session in sessions:
        await session.dispose()
