"""Requests of every API."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pi_core import create_agent_session

if TYPE_CHECKING:
    from pi_core import SessionManager

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def session_of(pi_host, tmp_path, monkeypatch):
    """Make a session of a file with these servers."""
    from drawn.served import PROVIDERS, TOOL, Served, search

    monkeypatch.setenv("AWS_REGION", "us-east-1")
    registered: list[str] = []

    def make(
        manager: SessionManager, urls: dict[str, str], calls: list[Any], model: str | None = None, **more: Any
    ) -> Any:
        plugins = {} if registered else {"served": Served(urls), **PROVIDERS, **more}
        registered.extend(plugins)
        return create_agent_session(
            cwd=tmp_path,
            host=pi_host,
            settings=pi_host.settings,
            model=model,
            thinking_level="low",
            tools=[TOOL],
            custom_tools=[search(calls)],
            session_manager=manager,
            plugins=plugins,
            environ={"FAKE_KEY": "key-0123456789"},
        )

    return make
