"""Tools that answer as the test says."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import Agent
from pi_hookspecs import Tool, ToolResult
from pi_testing import make_tool, text, tool_call


async def results_of(script, *tools):
    """Let the model call each tool once with ``{"a": 1}`` and return the results."""
    script.turn(*(tool_call(tool.name, a=1) for tool in tools)).turn(text("Done."))
    await Agent(stream=script.stream, model=script.model, tools=tools).prompt("Hi")
    return [(result.text, result.is_error) for result in script.requests[1].tool_results]


async def test_tool_echoes_its_arguments(script):
    tool = make_tool()

    assert isinstance(tool, Tool)
    assert await results_of(script, tool) == [('{"a": 1}', False)]
    assert tool.calls == [{"a": 1}]


async def test_a_tool_returns_its_scripted_answer(script):
    tools = [
        make_tool("plain", "hello"),
        make_tool("whole", ToolResult.text("bad", is_error=True)),
        make_tool("broken", ValueError("boom")),
        make_tool("computed", lambda params: f"a is {params['a']}"),
    ]

    assert await results_of(script, *tools) == [("hello", False), ("bad", True), ("boom", True), ("a is 1", False)]


async def test_tool_validates_against_its_schema(script):
    tool = make_tool(parameters={"type": "object", "properties": {}, "required": ["b"]})
    ((text, is_error),) = await results_of(script, tool)

    assert is_error
    assert text.startswith('Validation failed for tool "echo":')
    assert tool.calls == []


async def test_slow_tool_finishes_later(script, recorder):
    slow, fast = make_tool("slow", delay=0.02), make_tool("fast")
    agent = Agent(stream=script.stream, model=script.model, tools=[slow, fast])
    agent.subscribe(recorder)
    script.turn(tool_call("slow"), tool_call("fast")).turn(text("Done."))
    await agent.prompt("Hi")

    assert [event.tool_name for event in recorder.of("tool_execution_end")] == ["fast", "slow"]


async def test_abort_ends_a_tool_that_takes_for_ever(script, recorder):
    agent = Agent(stream=script.stream, model=script.model, tools=[make_tool(delay=float("inf"), updates=["..."])])
    agent.subscribe(recorder)
    script.turn(tool_call("echo"))
    running = asyncio.create_task(agent.prompt("Hi"))
    await recorder.wait_for("tool_execution_update")
    agent.abort()
    await running

    assert recorder.of("tool_execution_end")[0].is_error


@pytest.mark.parametrize("mode", ["sequential", "parallel", None])
def test_mode_is_the_tools_own(mode):
    assert make_tool(mode=mode).execution_mode == mode
