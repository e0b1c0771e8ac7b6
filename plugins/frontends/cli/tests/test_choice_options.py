"""Options that choose: the thinking level, the models to cycle through, and the tools."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

TELLING = """
from pi_hookspecs import MessageBuilder, Model, ProviderInfo, Tool, hookimpl


class Telling:
    \"\"\"Answers with how it was asked.\"\"\"

    api = "telling"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        yield builder.start()
        start = builder.text_start()
        yield start
        tools = ",".join(tool.name for tool in context.tools)
        yield builder.text(start.content_index, f"{model.id} {options.reasoning} [{tools}]")
        yield builder.text_end(start.content_index)
        yield builder.done()


@hookimpl
def register_providers():
    return [Telling()]


@hookimpl
def register_models():
    models = tuple(
        Model(id=id, name=id, api="telling", provider="telling", reasoning=True) for id in ("one", "two", "three")
    )
    return [ProviderInfo(id="telling", name="Telling", api="telling", keyless=True, models=models, default_model="one")]
"""


@pytest.fixture
def telling(pi, knows):
    knows("telling", TELLING)
    (pi.agent_dir / "settings.json").write_text('{"plugins": {"disabled": ["web"]}}')  # an extra, which may be there
    return pi


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["--model", "telling/one"], "one medium [read,bash,edit,write,process]"),
        (["--model", "telling/one", "--thinking", "high"], "one high [read,bash,edit,write,process]"),
        (["--model", "telling/one:low"], "one low [read,bash,edit,write,process]"),
        (["--model", "telling/one:low", "--thinking", "off"], "one None [read,bash,edit,write,process]"),
        (["--model", "telling/one", "-t", "grep,ls"], "one medium [grep,ls]"),
        (["--model", "telling/one", "--tools", "+grep,-bash"], "one medium [read,edit,write,process,grep]"),
        (["--model", "telling/one", "-xt", "bash,write"], "one medium [read,edit,process]"),
        (["--model", "telling/one", "-nt"], "one medium []"),
        (["--model", "telling/one", "-nbt"], "one medium []"),
        (["--models", "telling/tw*:high,telling/three"], "two high [read,bash,edit,write,process]"),
    ],
)
def test_what_is_chosen_reaches_the_request(telling, arguments, answer):
    done = telling.run(*arguments, "-p", "hi")

    assert (done.returncode, done.stdout) == (0, f"{answer}\n"), done.stderr


def test_an_unknown_level_is_reported_and_ignored(telling):
    done = telling.run("--model", "telling/one", "--thinking", "deeply", "-p", "hi")

    assert done.stdout.startswith("one medium")
    assert 'Invalid thinking level "deeply"' in done.stderr


def test_a_pattern_that_matches_no_model_is_reported(telling):
    done = telling.run("--model", "telling/one", "--models", "zebra*", "-p", "hi")

    assert done.returncode == 0
    assert 'No models match pattern "zebra*"' in done.stderr


def test_an_unknown_tool_is_reported(telling):
    done = telling.run("--model", "telling/one", "--tools", "grp", "-p", "hi")

    assert "Unknown tool: grp. Did you mean grep?" in done.stderr


def test_the_setting_for_models_scopes_a_new_session(telling):
    (telling.agent_dir / "settings.json").write_text(json.dumps({"enabledModels": ["telling/three"]}))

    assert telling.run("-p", "hi").stdout.startswith("three medium")


SERVER = (
    TELLING
    + """
from pi_hookspecs import tool


@hookimpl
def register_tools():
    def call():
        \"\"\"Do nothing.\"\"\"

    return [tool(call, name=f"mcp__tide__{name}") for name in ("high", "low")]
"""
)


@pytest.mark.parametrize(
    ("arguments", "tools"),
    [
        (["-t", "ls"], "ls,mcp__tide__high,mcp__tide__low"),
        (["-t", "ls,mcp__tide__low"], "ls,mcp__tide__low"),
        (["-t", "ls,-mcp__*"], "ls"),
        (["-t", "ls", "-xt", "mcp__*"], "ls"),
        (["-nt"], ""),
    ],
)
def test_tools_of_servers_stay_unless_the_selection_names_some(pi, arguments, tools):
    pi.install("telling", SERVER)

    done = pi.run("--model", "telling/one", *arguments, "-p", "hi")

    assert (done.stdout, done.stderr) == (f"one medium [{tools}]\n", "")
