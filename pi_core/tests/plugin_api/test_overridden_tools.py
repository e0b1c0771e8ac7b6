"""A tool that replaces another one delegates to it; hidden tools are there for other tools."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import ToolCallResult, ToolContext, ToolResult, hookimpl, tool
from pi_testing import make_tool, text, tool_call


class Brings:
    """A plugin of these tools."""

    def __init__(self, *tools):
        self.tools = tools

    @hookimpl
    def register_tools(self):
        return list(self.tools)


def delegating(mark):
    """Return a ``look`` that puts a mark in front of what the one that it has replaced answers."""

    @tool
    async def look(ctx: ToolContext) -> str:
        """Look."""
        overridden = ctx.overridden_tool("look")
        if overridden is None:
            return f"{mark}, which replaces nothing"
        result = await ctx.execute_tool(overridden.reference, {})
        return f"{mark} > {result.content[0].text}"

    return look


def calling(name):
    """Return a tool ``call`` that calls another one by a name."""

    @tool
    async def call(ctx: ToolContext) -> ToolResult:
        """Call a tool."""
        return await ctx.execute_tool(name, {})

    return call


@pytest.fixture
async def session_with(tmp_path, pi_agent_dir, script):
    """Start a session of these plugins, in load order."""
    made = []

    async def start(settings=None, **options):
        plugins = {"script": script} | {name: each for name, each in options.items() if isinstance(each, Brings)}
        rest = {name: each for name, each in options.items() if name not in plugins}
        settings = Settings.in_memory(settings or {}, agent_dir=pi_agent_dir)
        host = PluginHost(settings, installed=False)
        session = create_agent_session(
            cwd=tmp_path, settings=settings, host=host, plugins=plugins, model=script.model, **rest
        )
        made.append(session)
        await session.start()
        return session

    yield start
    for session in made:
        await session.dispose()


@pytest.fixture
def answer_of(script):
    """Let the model call a tool and return what it is answered."""

    async def ask(session, name):
        script.turn(tool_call(name)).turn(text("Done."))
        await session.prompt("go")
        return script.requests[-1].tool_results[-1].text

    return ask


async def test_a_tool_delegates_to_the_one_that_it_has_replaced(session_with, answer_of):
    session = await session_with(first=Brings(make_tool("look", "first")), second=Brings(delegating("second")))

    assert await answer_of(session, "look") == "second > first"


async def test_each_of_several_delegates_to_the_one_before_it(session_with, answer_of):
    session = await session_with(
        first=Brings(make_tool("look", "first")),
        second=Brings(delegating("second")),
        third=Brings(delegating("third")),
    )

    assert await answer_of(session, "look") == "third > second > first"


async def test_the_setting_that_prefers_a_plugin_turns_the_order_round(session_with, answer_of):
    session = await session_with(
        {"plugins": {"prefer": {"tool:look": "first"}}},
        first=Brings(delegating("first")),
        second=Brings(make_tool("look", "second")),
    )

    assert await answer_of(session, "look") == "first > second"


async def test_a_tool_added_at_run_time_delegates_to_the_registered_one(session_with, answer_of):
    session = await session_with(
        first=Brings(make_tool("look", "first")),
        extension_factories=[lambda pi: pi.register_tool(delegating("added"))],
    )

    assert await answer_of(session, "look") == "added > first"


async def test_a_tool_of_the_program_delegates_to_a_plugins(session_with, answer_of):
    session = await session_with(first=Brings(make_tool("look", "first")), custom_tools=[delegating("program's")])

    assert await answer_of(session, "look") == "program's > first"


async def test_a_tool_that_replaces_nothing_reads_that(session_with, answer_of):
    session = await session_with(first=Brings(delegating("first")))

    assert await answer_of(session, "look") == "first, which replaces nothing"


async def test_a_guard_of_the_name_is_asked_about_the_replaced_tool(session_with, answer_of):
    seen = []

    def guard(pi):
        @pi.on("tool_call")
        def check(event):
            seen.append((event.tool_name, event.tool.plugin))
            return ToolCallResult(block=True, reason="Not the first.") if event.tool.plugin == "first" else None

    session = await session_with(
        first=Brings(make_tool("look", "first")), second=Brings(delegating("second")), extension_factories=[guard]
    )

    assert await answer_of(session, "look") == "second > Not the first."
    assert seen == [("look", "second"), ("look", "first")]


async def test_a_hidden_tool_is_called_by_other_tools(session_with, answer_of):
    hidden = make_tool("inner", "from inside", exposure="hidden")
    session = await session_with(first=Brings(hidden, calling("inner")))

    assert await answer_of(session, "call") == "from inside"


@pytest.mark.parametrize("excluded", ["inner", "first:inner", "in*"])
async def test_what_the_user_excluded_is_not_called_either(session_with, answer_of, excluded):
    hidden = make_tool("inner", exposure="hidden")
    session = await session_with(first=Brings(hidden, calling("first:inner")), exclude_tools=[excluded])

    assert "Unknown tool: first:inner" in await answer_of(session, "call")
    assert hidden.calls == []


@pytest.mark.parametrize("fields", [{"default_active": False}, {"exposure": "deferred"}], ids=str)
async def test_a_tool_that_is_not_active_is_not_called(session_with, answer_of, fields):
    inactive = make_tool("inner", **fields)
    session = await session_with(first=Brings(inactive, calling("first:inner")))

    assert "Unknown tool: first:inner" in await answer_of(session, "call")
    assert inactive.calls == []
