"""The API's events become ours: blocks, calls, usage and stop reasons."""

from __future__ import annotations

import pytest

from pi_hookspecs import ThinkingContent
from pi_testing.fake_servers.bedrock import (
    message,
    message_events,
    redacted_thinking,
    stream,
    text,
    thinking,
    tool_use,
)


async def test_text_thinking_and_calls_come_in_order(ask, server):
    server.answers(message(thinking("Hm", ".", signature="c2ln"), text("Hel", "lo"), tool_use("t1", "read", path="a")))
    reply = await ask()

    assert reply.types == [
        "start",
        *("thinking_start", "thinking_delta", "thinking_delta", "thinking_end"),
        *("text_start", "text_delta", "text_delta", "text_end"),
        *("toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_end"),
        "done",
    ]
    assert reply.message.content[0] == ThinkingContent("Hm.", thinking_signature="c2ln")
    assert reply.message.stop_reason == "toolUse"


async def test_redacted_thinking_is_kept(ask, server):
    server.answers(message(redacted_thinking("b3BhcXVl"), text("so")))
    reply = await ask()

    assert reply.message.content[0] == ThinkingContent("", thinking_signature="b3BhcXVl", redacted=True)


async def test_redacted_thinking_in_parts_is_one(ask, server):
    block = redacted_thinking("b3A=")
    block.deltas.append({"reasoningContent": {"redactedContent": "YXF1ZQ=="}})
    server.answers(message(block, text("so")))
    reply = await ask()

    assert reply.message.content[0].thinking_signature == "b3BhcXVl"


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "error"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
    ],
)
async def test_stop_reasons(ask, server, prompt, reason):
    server.answers(message(text("so"), stop=prompt))
    reply = await ask()

    assert (reply.message.stop_reason, reply.message.raw_stop_reason) == (reason, prompt)


@pytest.mark.parametrize("prompt", ["guardrail_intervened", "content_filtered", "malformed_tool_use", "something_new"])
async def test_stop_reasons_that_are_errors_name_themselves_and_keep_the_text(ask, server, prompt):
    server.answers(message(text("so"), stop=prompt))
    reply = await ask()

    assert repr(prompt) in reply.error
    assert reply.message.text == "so"


@pytest.mark.parametrize("empty", [{"text": ""}, {"reasoningContent": {"text": ""}}, {"reasoningContent": {}}])
async def test_an_empty_block_takes_no_index(ask, server, empty):
    blocks = (empty, {"text": "so"})
    deltas = [("contentBlockDelta", {"contentBlockIndex": number, "delta": each}) for number, each in enumerate(blocks)]
    server.answers(stream([*deltas, ("messageStop", {"stopReason": "end_turn"})]))
    reply = await ask()

    assert [event.content_index for event in reply.events if event.type == "text_delta"] == [0]
    assert reply.message.text == "so"


async def test_usage_has_cached_tokens_and_their_price(ask, server):
    usage = {"inputTokens": 100, "outputTokens": 42, "cacheReadInputTokens": 1000, "cacheWriteInputTokens": 500}
    usage["cacheDetails"] = [{"ttl": "5m", "inputTokens": 200}, {"ttl": "1h", "inputTokens": 300}]
    server.answers(message(text("a"), usage=usage))
    usage = (await ask()).message.usage

    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (100, 42, 1000, 500)
    assert (usage.cache_write_1h, usage.total_tokens) == (300, 1642)
    assert usage.cost.cache_write == pytest.approx((200 * 3.75 + 300 * 2 * 3) / 1_000_000)


async def test_an_answer_without_metadata_is_complete(ask, server):
    server.answers(stream(message_events(text("so"))[:-1]))
    reply = await ask()

    assert (reply.message.stop_reason, reply.message.text) == ("stop", "so")


async def test_a_name_that_was_replaced_comes_back(ask, server, context, tool):
    server.answers(message(tool_use("t1", "my_tool", path="a")))
    reply = await ask(context(tools=(tool("my.tool"),)))

    assert reply.message.tool_calls[0].name == "my.tool"


async def test_what_the_api_may_add_later_is_passed_over(ask, server):
    events = message_events(text("so"))
    events.insert(1, ("somethingNew", {"a": 1}))
    events.insert(3, ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"citation": {"title": "x"}}}))
    events.insert(4, ("contentBlockStart", {"contentBlockIndex": 9, "start": {"image": {"format": "png"}}}))
    server.answers(stream(events))

    assert (await ask()).message.text == "so"


CALL = ("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t1", "name": "read"}}})


@pytest.mark.parametrize(
    "events",
    [
        [("messageStart", {"role": "assistant"})] * 2,
        [CALL, CALL],
        [("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t1"}}})],
        [("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}})],
        [CALL, ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "so"}})],
        [("contentBlockDelta", {"delta": {"text": "so"}})],
        [CALL, ("messageStop", {"stopReason": "tool_use"})],
    ],
    ids=["begun twice", "call begun twice", "no name", "no call", "other kind", "no index", "no end"],
)
async def test_a_stream_without_order_is_an_error(ask, server, events):
    server.answers(stream(events))
    reply = await ask()

    assert "Bedrock stream is broken" in reply.error
    assert reply.message.tool_calls == ()


async def test_json_that_only_python_reads_is_read(ask, server):
    events = message_events(text("so \ud83d", "\ude00"))
    server.answers(stream(events))

    assert (await ask()).message.text == "so \N{GRINNING FACE}"
