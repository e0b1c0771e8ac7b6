"""Limits of a prompt: what would go beyond is not begun, and the conversation can go on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import UsageLimits
from pi_core.conversation.usage_limits import UsageMeter
from pi_hookspecs import (
    AgentBeforeSettleResult,
    AgentBusy,
    AssistantMessage,
    Context,
    SideRequest,
    ToolCall,
    ToolContext,
    ToolResult,
    Usage,
    UsageLimitExceeded,
    UserMessage,
    hookimpl,
    tool,
)
from pi_testing import make_tool, stall, text, tool_call, usage


@pytest.fixture
def look():
    return make_tool("look", "a cat")


def answered(messages):
    """Whether every call of a conversation has its result."""
    calls = [call.id for message in messages if message.role == "assistant" for call in message.tool_calls]
    return calls == [message.tool_call_id for message in messages if message.role == "toolResult"]


async def test_requests_are_limited_before_the_next_one(session_of, script, look, recorder):
    session = session_of(tools=[look])
    script.turn(tool_call("look"), usage(input=10, output=2)).turn(tool_call("look"), usage(input=20, output=3))

    with pytest.raises(UsageLimitExceeded, match="requests=2") as caught:
        await session.prompt("look", limits=UsageLimits(requests=2))

    assert len(script.requests) == 2
    assert (caught.value.limit, caught.value.requests, caught.value.tool_calls) == ("requests", 2, 2)
    assert (caught.value.usage.input, caught.value.usage.output) == (30, 5)
    assert answered(session.messages)
    assert recorder.types[-1] == "agent_settled"


async def test_the_conversation_goes_on_after_a_limit(session_of, script, look):
    session = session_of(tools=[look])
    script.turn(tool_call("look")).turn(text("Sorry."))
    with pytest.raises(UsageLimitExceeded):
        await session.prompt("look", limits=UsageLimits(requests=1))

    answer = await session.prompt("go on")

    assert answer.text == "Sorry."
    assert script.requests[-1].user_text == "go on"


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (UsageLimits(input_tokens=130), "input_tokens"),
        (UsageLimits(output_tokens=20), "output_tokens"),
        (UsageLimits(total_tokens=150), "total_tokens"),
        (UsageLimits(cost=0.001), "cost"),
    ],
)
async def test_tokens_and_cost_are_limited(session_of, script, look, limits, name):
    session = session_of(tools=[look])
    script.turn(tool_call("look"), usage(input=100, cache_read=30, output=20, cost=0.002))

    with pytest.raises(UsageLimitExceeded) as caught:
        await session.prompt("look", limits=limits)

    assert caught.value.limit == name
    assert len(script.requests) == 1


async def test_an_answer_that_is_there_is_returned_whatever_it_took(session_of, script):
    session = session_of()
    script.turn(text("A long answer."), usage(input=1000, output=500))

    answer = await session.prompt("tell", limits=UsageLimits(requests=1, output_tokens=5))

    assert answer.text == "A long answer."


async def test_no_request_at_all_is_a_limit_too(session_of, script):
    session = session_of()

    with pytest.raises(UsageLimitExceeded):
        await session.prompt("hi", limits=UsageLimits(requests=0))

    assert not script.requests


async def test_the_calls_of_one_answer_run_together_or_not_at_all(session_of, script, look):
    session = session_of(tools=[look])
    script.turn(tool_call("look")).turn(tool_call("look"), tool_call("look"))

    with pytest.raises(UsageLimitExceeded) as caught:
        await session.prompt("look", limits=UsageLimits(tool_calls=2))

    assert len(look.calls) == 1
    assert (caught.value.limit, caught.value.tool_calls) == ("tool_calls", 1)
    assert answered(session.messages)
    assert session.messages[-2].is_error
    assert "The usage limit tool_calls=2 is reached" in session.messages[-2].text


async def test_calls_that_tools_make_count(session_of, script, look):
    @tool
    async def twice(ctx: ToolContext) -> str:
        """Look twice."""
        results = [await ctx.execute_tool("look", {}) for _ in range(2)]
        return " ".join(result.content[0].text for result in results)

    session = session_of(tools=[look, twice])
    script.turn(tool_call("twice"))

    with pytest.raises(UsageLimitExceeded):
        await session.prompt("look", limits=UsageLimits(tool_calls=2))

    result = next(message for message in session.messages if message.role == "toolResult")
    assert result.text.startswith("a cat Not run: The usage limit tool_calls=2 is reached")


async def test_work_inside_tools_counts(session_of, script):
    @tool
    async def think(ctx: ToolContext) -> ToolResult:
        """Ask another model."""
        return ToolResult.text("hm", usage=Usage(input=500, output=5))

    session = session_of(tools=[think])
    script.turn(tool_call("think"), usage(input=10, output=1))

    with pytest.raises(UsageLimitExceeded) as caught:
        await session.prompt("think", limits=UsageLimits(input_tokens=510))

    assert caught.value.usage.input == 510


async def test_side_requests_count_and_are_stopped(session_of, script):
    asked = []

    class Aside:
        @hookimpl
        async def turn_end(self, event, ctx):
            context = Context(messages=(UserMessage(content="aside"),))
            asked.append(await ctx.complete(context, SideRequest(purpose="aside")))

    session = session_of(Aside(), tools=[make_tool("look", "a cat")])
    script.turn(tool_call("look")).turn(text("aside"), usage(input=7)).turn(tool_call("look")).turn(text("never"))

    with pytest.raises(UsageLimitExceeded) as caught:
        await session.prompt("look", limits=UsageLimits(requests=3))

    assert caught.value.requests == len(script.requests) == 3
    assert caught.value.usage.input == 7
    assert [answer.stop_reason for answer in asked] == ["stop", "aborted", "aborted"]


async def test_plugins_cannot_run_on_beyond_a_limit(session_of, script):
    class Insists:
        @hookimpl
        def agent_before_settle(self, event):
            return AgentBeforeSettleResult(continue_=True)

    session = session_of(Insists())
    for number in range(3):
        script.turn(text(str(number)))

    with pytest.raises(UsageLimitExceeded):
        await session.prompt("hi", limits=UsageLimits(requests=3))

    assert len(script.requests) == 3


async def test_a_queued_text_has_no_limits_of_its_own(session_of, script):
    session = session_of()
    script.turn(text("one"), stall())

    async for event in session.stream("first"):
        if event.type == "message_update":
            with pytest.raises(AgentBusy, match="steer"):
                await session.prompt("second", limits=UsageLimits(requests=1), streaming_behavior="steer")
            break


async def test_limits_end_with_their_prompt(session_of, script):
    session = session_of()
    script.turn(text("1")).turn(text("2"))
    await session.prompt("first", limits=UsageLimits(requests=1))
    assert session.runtime.gate.call is None

    assert (await session.prompt("second")).text == "2"


@pytest.mark.parametrize("limits", [{"requests": -1}, {"requests": 1.5}, {"cost": "1"}, {"tool_calls": True}])
def test_a_limit_that_is_none_is_refused_with_its_value(limits):
    ((name, value),) = limits.items()

    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        UsageLimits(**limits)


steps = st.one_of(
    st.just("request"),
    st.integers(1, 4).map(lambda calls: ("batch", calls)),
    st.just("nested"),
    st.builds(Usage, input=st.integers(0, 9), output=st.integers(0, 9)),
)
counts = st.none() | st.integers(0, 6)


@given(
    limits=st.builds(UsageLimits, requests=counts, tool_calls=counts, input_tokens=counts, output_tokens=counts),
    steps=st.lists(steps, max_size=20),
)
def test_requests_and_calls_never_pass_their_limits_and_nothing_begins_after_one_was_reached(limits, steps):
    meter = UsageMeter(limits)
    for step in steps:
        over = meter.exceeded
        if isinstance(step, Usage):
            meter.add(step)
        elif step == "request":
            begun = meter.requests
            try:
                meter.begin_request()
            except UsageLimitExceeded as error:
                assert error is meter.exceeded  # noqa: PT017 - it is the same for good
            assert (meter.requests == begun + 1) == (meter.exceeded is None)
        elif step == "nested":
            assert (meter.refuse_nested_call() is None) == (meter.exceeded is None)
        else:
            calls = tuple(ToolCall(str(number), "look", {}) for number in range(step[1]))
            answer = AssistantMessage(content=calls, api="a", provider="p", model="m")
            refusals = {meter.refuse_call(answer) is None for _ in calls}
            assert refusals == {meter.exceeded is None}
        assert meter.requests <= (6 if limits.requests is None else limits.requests) or limits.requests is None
        assert limits.tool_calls is None or meter.tool_calls <= limits.tool_calls
        assert over is None or meter.exceeded is over
