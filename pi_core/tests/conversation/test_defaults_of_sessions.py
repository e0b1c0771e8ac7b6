"""What settings decide for a new session: the tools it offers, and the reasoning effort of its model."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_hookspecs import hookimpl
from pi_testing import make_tool


class Files:
    """The coding tools, of which grep is off by default, and a tool of another kind."""

    @hookimpl
    def register_tools(self):
        tools = [make_tool(name) for name in ("read", "bash", "edit", "write", "todo")]
        return [*tools, make_tool("grep", default_active=False)]


@pytest.fixture
def session_with(tmp_path, pi_agent_dir, script):
    """Return a function that makes a session with these settings and options."""

    def make(settings, **options):
        settings = Settings.in_memory(settings, agent_dir=pi_agent_dir)
        return create_agent_session(
            cwd=tmp_path,
            settings=settings,
            session_manager=SessionManager.in_memory(tmp_path),
            host=PluginHost(settings, installed=False),
            plugins={"script": script, "files": Files()},
            model=script.model,
            **options,
        )

    return make


@pytest.mark.parametrize(
    ("setting", "tools", "offered"),
    [
        (None, None, ["read", "bash", "edit", "write", "todo"]),
        (["read", "grep"], None, ["read", "grep", "todo"]),
        ([], None, ["todo"]),
        (["*e*"], None, ["edit", "grep", "read", "write", "todo"]),
        (["read"], ["bash"], ["bash"]),
        (["read"], ["+bash"], ["read", "todo", "bash"]),
        (["+grep"], None, ["read", "bash", "edit", "write", "grep", "todo"]),
        (["-bash", "+grep"], None, ["read", "edit", "write", "grep", "todo"]),
        (["read", "bash", "-bash", "+grep"], None, ["read", "grep", "todo"]),
        (["-todo"], None, ["read", "bash", "edit", "write"]),
        (["-*"], None, []),
        (["+grep"], ["-read", "+bash"], ["bash", "edit", "write", "grep", "todo"]),
    ],
)
def test_the_setting_chooses_among_the_coding_tools(session_with, setting, tools, offered):
    session = session_with({} if setting is None else {"defaultTools": setting}, tools=tools)

    assert sorted(session.get_active_tools()) == sorted(offered)


@pytest.mark.parametrize(
    ("levels", "asked", "expected"),
    [
        ({"scripted/model": "high"}, None, "high"),
        ({"scripted/model": "high"}, "low", "low"),
        ({"other/model": "high"}, None, "minimal"),
        ({"scripted/model": "enormous"}, None, "minimal"),
    ],
)
def test_a_model_can_have_a_reasoning_effort_of_its_own(session_with, levels, asked, expected):
    settings = {"modelThinkingLevels": levels, "defaultThinkingLevel": "minimal"}

    assert session_with(settings, thinking_level=asked).thinking_level == expected
