"""The stream itself: order of events, abort, hooks of the request, usage, and that nothing is ever raised."""

from __future__ import annotations

import asyncio
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import (
    AbortController,
    AssistantMessage,
    Context,
    ImageContent,
    StreamOptions,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UnknownContent,
    UnknownMessage,
    UserMessage,
)
from pi_provider_offline.provider import PROVIDER, OfflineRules
from pi_testing import for_each


async def stream(messages, tools=(), **options):
    context = Context(system_prompt="Be brief.", messages=tuple(messages), tools=tuple(tools))
    return [event async for event in OfflineRules().stream(PROVIDER.models[0], context, StreamOptions(**options))]


def ask(text):
    return [UserMessage(content=text)]


async def test_events_come_in_the_order_of_the_contract(make_tool):
    events = await stream(ask("list the files and read a.txt"), [make_tool("ls"), make_tool("read")])

    types = [event.type for event in events]
    once = [kind for place, kind in enumerate(types) if kind not in types[place - 1 : place]]
    assert once == [
        "start",
        *("thinking_start", "thinking_delta", "thinking_end"),
        *("text_start", "text_delta", "text_end"),
        *("toolcall_start", "toolcall_delta", "toolcall_end"),
        *("toolcall_start", "toolcall_delta", "toolcall_end"),
        "done",
    ]


async def test_deltas_add_up_to_the_message(make_tool):
    events = await stream(
        ask("write a.txt: 'some longer text, so that its arguments come in more than one piece'"), [make_tool("write")]
    )

    message = events[-1].message
    for kind, content in (("thinking_delta", message.content[0].thinking), ("text_delta", message.content[1].text)):
        assert "".join(event.delta for event in events if event.type == kind) == content
    pieces = [event.delta for event in events if event.type == "toolcall_delta"]
    assert len(pieces) > 1
    assert json.loads("".join(pieces)) == message.tool_calls[0].arguments
    assert message.stop_reason == "toolUse"


async def test_thinking_and_answer_state_that_this_is_no_model():
    message = (await stream(ask("hello")))[-1].message

    assert "rule-based stand-in, not a language model" in message.content[0].thinking
    assert "rule-based stand-in, not a language model" in message.text


async def test_usage_is_estimated_and_costs_nothing():
    message = (await stream(ask("hello")))[-1].message

    length = len(message.content[0].thinking) + len(message.text)
    assert message.usage.input == math.ceil(len("Be brief." + "hello") / 4)
    assert message.usage.output == math.ceil(length / 4)
    assert message.usage.total_tokens == message.usage.input + message.usage.output
    assert message.usage.cost.total == 0


async def test_abort_before_the_start_ends_the_stream_at_once():
    control = AbortController()
    control.abort()

    events = await stream(ask("hello"), signal=control.signal)

    assert [event.type for event in events] == ["error"]
    assert events[0].reason == "aborted"
    assert events[0].error.error_message == "Request was aborted"


async def test_abort_in_the_middle_keeps_the_partial_answer():
    control = AbortController()
    context = Context(messages=tuple(ask("hello")))
    events = []
    async for event in OfflineRules().stream(PROVIDER.models[0], context, StreamOptions(signal=control.signal)):
        events.append(event)
        if event.type == "text_delta":
            control.abort()

    assert events[-1].reason == "aborted"
    assert events[-1].error.text == "".join(event.delta for event in events if event.type == "text_delta") == "I "


async def test_other_tasks_get_their_turn_during_the_stream():
    control = AbortController()
    asyncio.get_running_loop().call_soon(control.abort)

    events = await stream(ask("hello"), signal=control.signal)

    assert events[-1].reason == "aborted"


async def test_payload_hook_sees_plain_data_and_may_change_the_request(make_tool):
    seen = []

    async def on_payload(payload, model):
        seen.append(json.loads(json.dumps(payload)))
        return {**payload, "request": "read other.txt"}

    events = await stream(ask("read a.txt"), [make_tool("read")], on_payload=on_payload)

    assert seen[0] == {
        "model": "rules",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "read a.txt"}],
        "tools": ["read"],
        "request": "read a.txt",
    }
    assert [call.arguments for call in events[-1].message.tool_calls] == [{"path": "other.txt"}]


@pytest.mark.parametrize("answer", [None, {}, {"request": 5}, "text", {"messages": []}])
async def test_other_answers_of_the_payload_hook_change_nothing(make_tool, answer):
    async def on_payload(payload, model):
        return answer

    events = await stream(ask("read a.txt"), [make_tool("read")], on_payload=on_payload)

    assert [call.arguments for call in events[-1].message.tool_calls] == [{"path": "a.txt"}]


async def test_the_response_hook_is_called_before_the_answer_begins():
    order = []

    async def on_response(status, headers):
        order.append((status, headers))

    context = Context(messages=tuple(ask("hello")))
    options = StreamOptions(on_response=on_response)
    order += [event.type async for event in OfflineRules().stream(PROVIDER.models[0], context, options)]

    assert order[:2] == [(200, {}), "start"]


async def test_failure_inside_ends_the_stream_with_an_error():
    async def on_payload(payload, model):
        raise RuntimeError("the hook broke")

    events = await stream(ask("hello"), on_payload=on_payload)

    assert [event.type for event in events] == ["error"]
    assert events[0].error.stop_reason == "error"
    assert events[0].error.error_message == "the hook broke"


ODD = {
    "no messages": [],
    "only a system message": [SystemMessage(content="be nice")],
    "empty user message": [UserMessage(content=())],
    "only an image": [UserMessage(content=(ImageContent("aGk=", "image/png"),))],
    "unknown block": [UserMessage(content=(UnknownContent("video"), TextContent("hello")))],
    "unknown role": [UnknownMessage(role="oracle", extra={"content": 5})],
    "answer last": [AssistantMessage(api="a", provider="b", model="c", content=(TextContent("hi"),))],
    "unanswered foreign call": [
        AssistantMessage(api="a", provider="b", model="c", content=(ToolCall("x", "read"),), stop_reason="toolUse")
    ],
    "lone result": [ToolResultMessage(tool_call_id="x", tool_name="read")],
    "result with an image": [
        ToolResultMessage(tool_call_id="x", tool_name="read", content=(ImageContent("aGk=", "image/png"),))
    ],
}


@for_each("kind", ODD)
async def test_odd_conversation_gets_an_honest_answer(kind):
    last = (await stream(ODD[kind]))[-1]

    assert last.type == "done"
    assert "I can list files" in last.message.text


USERS = st.builds(
    lambda text: UserMessage(content=text),
    st.text(max_size=40) | st.sampled_from(["read a", "run `x`", "write a: b, then read a"]),
)
CALLS = st.builds(
    lambda turn, number, mark: ToolCall(f"call_{turn}_{number}_{mark:08x}", "read", {}),
    *(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)),
)
ANSWERS = st.builds(
    lambda calls, reason: AssistantMessage(api="a", provider="b", model="c", content=tuple(calls), stop_reason=reason),
    *(st.lists(CALLS, max_size=3), st.sampled_from(["stop", "toolUse", "error", "aborted", "length"])),
)
RESULTS = st.builds(
    lambda call, text, bad: ToolResultMessage(
        tool_call_id=call.id, tool_name="read", content=(TextContent(text),), is_error=bad
    ),
    *(CALLS, st.text(max_size=30), st.booleans()),
)


@given(
    messages=st.lists(st.one_of(USERS, ANSWERS, RESULTS), max_size=12),
    tools=st.lists(st.sampled_from(["read", "bash", "write"]), unique=True),
)
def test_no_conversation_is_an_error(make_tool, messages, tools):
    last = asyncio.run(stream(messages, map(make_tool, tools)))[-1]

    assert last.type == "done"
