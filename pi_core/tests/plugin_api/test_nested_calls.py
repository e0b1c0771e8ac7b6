"""A tool that calls another is held to the same rules as the model."""

from __future__ import annotations

import pytest

from pi_hookspecs import ToolCallResult, ToolContext, ToolResult, ToolResultResult, tool
from pi_testing import make_tool, text, tool_call


@tool
async def twice(ctx: ToolContext, name: str = "echo") -> str:
    """Call a tool twice."""
    first = await ctx.execute_tool(name, {"n": 1})
    second = await ctx.execute_tool(name, {"n": 2})
    return f"{first.content[0].text} {second.content[0].text} {second.is_error} {ctx.tools}"


STRICT = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 1}}, "required": ["n"]}


@pytest.fixture
def outcome(activated, script):
    async def run(*factories, tools, arguments=None):
        session = await activated(*factories, tools=[twice, *tools])
        script.turn(tool_call("twice", **(arguments or {}))).turn(text("Done."))
        await session.prompt("go")
        return script.requests[1].tool_results[0].text

    return run


async def test_results_come_back(outcome):
    echo = make_tool("echo")

    assert await outcome(tools=[echo]) == "{\"n\": 1} {\"n\": 2} False ['twice', 'echo']"
    assert echo.calls == [{"n": 1}, {"n": 2}]


async def test_arguments_are_validated(outcome):
    result = await outcome(tools=[make_tool("echo", parameters=STRICT)])

    assert "True" in result


async def test_guards_and_reviews_are_asked(outcome):
    seen = []

    def guard(pi):
        @pi.on("tool_call")
        def check(event):
            seen.append((event.tool_call_id, event.tool_name))
            if event.tool_name == "echo" and event.input["n"] == 2:
                return ToolCallResult(block=True, reason="Once is enough.")
            return None

        @pi.on("tool_result")
        def review(event):
            return ToolResultResult(content=ToolResult.text("reviewed").content) if event.tool_name == "echo" else None

    result = await outcome(guard, tools=[make_tool("echo")])

    assert result.startswith("reviewed Once is enough. True")
    assert [name for _, name in seen] == ["twice", "echo", "echo"]
    assert seen[1][0] == f"{seen[0][0]}/1"


async def test_a_tool_that_is_not_offered_is_unknown(outcome):
    assert "Unknown tool: ech" in await outcome(tools=[make_tool("echo")], arguments={"name": "ech"})


async def test_a_tool_that_calls_itself_ends_somewhere(activated, script):
    @tool
    async def again(ctx: ToolContext) -> ToolResult:
        """Call itself."""
        return await ctx.execute_tool("again", {})

    session = await activated(tools=[again])
    script.turn(tool_call("again")).turn(text("Done."))
    await session.prompt("go")

    assert "8 deep" in script.requests[1].tool_results[0].text


async def test_updates_show_under_the_call(outcome, recorder):
    await outcome(tools=[make_tool("echo", updates=["half"])])

    updates = recorder.of("tool_execution_update")
    assert [(event.tool_name, event.partial_result.content[0].text) for event in updates] == [("twice", "half")] * 2
