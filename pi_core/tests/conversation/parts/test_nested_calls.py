"""``execute_tool`` alone: the guards of a call that a tool makes."""

from __future__ import annotations

import pytest

from pi_core.conversation.nested_calls import MAX_DEPTH, execute_tool
from pi_hookspecs import AbortSignal, PiError, ToolCall, ToolCallResult, ToolResult, ToolResultResult, UnknownName

SCHEMA = {"type": "object", "properties": {"hour": {"type": "integer"}}, "required": ["hour"]}


@pytest.fixture
def runtime_with(runtime_of, tool, answer):
    async def tide(params, signal, update):
        return ToolResult.text(f"tide at {params['hour']}")

    def make(*plugins):
        runtime = runtime_of(*plugins, tools=[tool("tide", tide, schema=SCHEMA)])
        runtime.agent.append_message(answer("calling"))
        return runtime

    return make


def run(runtime, arguments, name="tide", call_id="c1/1"):
    call = ToolCall(id=call_id, name=name, arguments=arguments)
    return execute_tool(runtime, call, AbortSignal(), print)


async def test_arguments_that_do_not_fit_are_a_failed_result(runtime_with):
    result = await run(runtime_with(), {"hour": "noon"})

    assert result.is_error
    assert "hour" in result.content[0].text


async def test_a_guard_refuses_it_as_it_would_a_call_of_the_model(runtime_with, plugin):
    block = ToolCallResult(block=True, reason="not at night")
    result = await run(runtime_with(plugin(tool_call=lambda event: block)), {"hour": 3})

    assert (result.is_error, result.content[0].text) == (True, "not at night")


async def test_plugins_may_change_arguments_and_result(runtime_with, plugin):
    def tool_call(event):
        event.input["hour"] = 4

    runtime = runtime_with(plugin(tool_call=tool_call, tool_result=lambda event: ToolResultResult(details=event.input)))
    result = await run(runtime, {"hour": 3})

    assert (result.content[0].text, result.details) == ("tide at 4", {"hour": 4})


async def test_a_plugin_may_give_the_result_in_place_of_the_tool(runtime_with, plugin):
    given = ToolCallResult(result=ToolResult.text("from the cache"))
    result = await run(runtime_with(plugin(tool_call=lambda event: given)), {"hour": 3})

    assert (result.is_error, result.content[0].text) == (False, "from the cache")


async def test_a_tool_that_the_model_is_not_offered_is_unknown(runtime_with):
    with pytest.raises(UnknownName, match="wind"):
        await run(runtime_with(), {}, name="wind")


async def test_calls_cannot_be_nested_without_end(runtime_with):
    with pytest.raises(PiError, match="deeper"):
        await run(runtime_with(), {"hour": 3}, call_id="c1" + "/1" * (MAX_DEPTH + 1))
