"""A plugin with a ``pi_plugin.json`` is held to the hooks, tools and members of ``ctx`` that it names."""

from __future__ import annotations

import json

import pytest

from pi_core import create_agent_session
from pi_core.host.grants import GATED, is_granted, parse_grants
from pi_hookspecs import PiContext
from pi_testing import text, tool_call

SOURCE = """
SEEN = []

def make(name):
    async def run(call_id, params, signal, on_update, ctx):
        SEEN.append(ctx)
        await ctx.exec("true")
        return ToolResult.text("turned")
    return Tool(name=name, description="does", parameters={"type": "object"}, execute=run)

@hookimpl
def register_tools():
    return [make("ebb"), make("flow")]

@hookimpl
async def turn_start(event, ctx):
    SEEN.append("turn_start")

@hookimpl
async def turn_end(event, ctx):
    SEEN.append("turn_end")
    ctx.ui.notify("the tide turns")

@hookimpl
def activate(pi):
    pi.on("agent_start", lambda event, ctx: SEEN.append("agent_start"))
"""


@pytest.fixture
def tides(site):
    """Install a plugin with these grants, as an editable package; return its module's list of what was called."""

    def install(grants):
        package = site.folder / "tides_plugin"
        package.mkdir()
        (package / "__init__.py").write_text(f"from pi_hookspecs import *\nfrom pi_hookspecs import hookimpl\n{SOURCE}")
        (package / "pi_plugin.json").write_text(grants if isinstance(grants, str) else json.dumps({"grants": grants}))
        site.metadata("tides", {"tides": "tides_plugin"})
        return site.host()

    return install


async def calls(host, script, tmp_path, call="ebb"):
    """Run a prompt in which the model calls a tool; return what the plugin saw, the tool's result, and errors."""
    script.turn(tool_call(call)).turn(text("done"))
    host.add(script, "script")
    errors = []
    async with create_agent_session(cwd=tmp_path, host=host, settings=host.settings, model=script.model) as session:
        session.subscribe(lambda event: errors.append(event.error) if event.type == "extension_error" else None)
        await session.prompt("look")
        result = next(each for each in session.messages if each.role == "toolResult")
    import sys

    seen = [each if isinstance(each, str) else "ctx" for each in sys.modules["tides_plugin"].SEEN]
    return list(dict.fromkeys(seen)), result, errors


async def test_with_all_grants_everything_counts(tides, script, tmp_path):
    host = tides({"hooks": True, "tools": ["ebb"], "ctx": ["exec", "ui"]})

    seen, result, errors = await calls(host, script, tmp_path)

    assert seen == ["agent_start", "turn_start", "ctx", "turn_end"]
    assert not result.is_error
    assert errors == []


async def test_hooks_that_are_not_named_are_not_called(tides, script, tmp_path):
    host = tides({"hooks": ["turn_start"], "tools": ["ebb"], "ctx": ["exec"]})

    seen, _, _ = await calls(host, script, tmp_path)

    assert seen == ["turn_start", "ctx"]
    assert sorted(host.records["tides"].hooks) == ["activate", "turn_start"]


async def test_members_that_are_not_named_refuse_when_they_are_used(tides, script, tmp_path):
    host = tides({"hooks": True, "tools": True})

    _, result, errors = await calls(host, script, tmp_path)

    assert result.is_error
    assert "uses ctx.exec, and grants.ctx in its pi_plugin.json does not name it" in result.text
    assert any("uses ctx.ui" in each for each in errors)


def test_tools_that_are_not_named_are_not_registered(tides, problems):
    host = tides({"hooks": True, "tools": ["ebb"]})

    assert host.records["tides"].names("register_tools") == ["ebb"]
    assert (
        "tides",
        "register_tools",
        "tool 'flow' is left out: grants.tools in pi_plugin.json of the plugin does not name 'flow'",
    ) in problems(host)


@pytest.mark.parametrize("content", ["{", '{"grants": []}', '{"grants": {"hooks": [1]}}', "[]"])
def test_a_file_that_cannot_be_read_grants_nothing(tides, problems, content):
    host = tides(content)

    assert host.records["tides"].grants == {}
    assert "index" in [step for plugin, step, _ in problems(host) if plugin == "tides"]
    assert host.records["tides"].names("register_tools") == []


def test_a_plugin_without_the_file_is_held_to_nothing():
    assert parse_grants('{"name": "tides"}') is None
    assert is_granted(None, "ctx", "exec")


def test_gated_members_exist():
    from pi_hookspecs import PiAPI, ToolContext

    known = {*dir(PiContext), *dir(PiAPI), *dir(ToolContext), *PiContext.__annotations__}

    assert set(GATED) <= known | {"ui", "secrets", "sessions", "processes"}
