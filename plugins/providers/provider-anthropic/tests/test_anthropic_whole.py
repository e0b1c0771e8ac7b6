"""Hosts that do not stream, though they were asked to: a whole message is an answer, other JSON is none."""

from __future__ import annotations

import json

import pytest

from pi_hookspecs import TextContent, ThinkingContent, ToolCall
from pi_testing.fake_servers import Answer, json_answer

MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-real",
    "content": [
        {"type": "thinking", "thinking": "Hm.\nSo.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "Grüße, \N{WAVING HAND SIGN}", "citations": None},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a\nb", "deep": [1, None]}},
        {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 5},
}

transports = pytest.mark.parametrize(
    "transport", [None, pytest.param("sdk", marks=pytest.mark.slow)], ids=["kit", "sdk"]
)


@pytest.fixture(autouse=True)
def _with_the_sdk(request):
    if "transport" in request.fixturenames and request.getfixturevalue("transport") == "sdk":
        pytest.importorskip("anthropic")


@transports
async def test_a_message_that_came_whole_is_the_answer(ask, server, transport):
    server.answers(json_answer(200, MESSAGE))
    reply = await ask(transport=transport)

    assert reply.types[0] == "start"
    assert reply.types[-1] == "done"
    assert reply.message.content == (
        ThinkingContent("Hm.\nSo.", thinking_signature="c2ln"),
        ThinkingContent("", thinking_signature="b3BhcXVl", redacted=True),
        TextContent("Grüße, \N{WAVING HAND SIGN}"),
        ToolCall("toolu_1", "read", {"path": "a\nb", "deep": [1, None]}),
        ToolCall("toolu_2", "now", {}),
    )
    assert reply.message.stop_reason == "toolUse"
    assert (reply.message.response_id, reply.message.response_model) == ("msg_1", "claude-real")
    assert (reply.message.usage.input, reply.message.usage.output, reply.message.usage.cache_read) == (11, 7, 5)


@transports
async def test_a_refusal_that_came_whole_says_why(ask, server, transport):
    details = {"type": "refusal", "explanation": "Not this."}
    server.answers(json_answer(200, {**MESSAGE, "content": [], "stop_reason": "refusal", "stop_details": details}))
    reply = await ask(transport=transport)

    assert "Not this." in reply.error


@transports
@pytest.mark.parametrize(
    "body", [{"ok": True}, {"type": "error", "error": {"type": "api_error", "message": "Oops"}}, [MESSAGE]]
)
async def test_other_json_with_status_200_is_no_answer(ask, server, transport, body):
    server.answers(json_answer(200, body))
    reply = await ask(transport=transport)

    assert reply.error.startswith("200 The server sent")


async def test_a_message_without_a_reason_to_stop_is_not_complete(ask, server):
    server.answers(json_answer(200, {**MESSAGE, "stop_reason": None}))
    reply = await ask()

    assert "without a stop reason" in reply.error


async def test_a_message_that_is_cut_is_no_answer(ask, server):
    server.answers(json_answer(200, MESSAGE).cut(120))
    reply = await ask()

    assert reply.error.startswith("terminated: the connection was closed")
    assert reply.message.content == ()


async def test_half_a_surrogate_pair_in_a_message_is_left_out(ask, server):
    body = json.dumps({**MESSAGE, "content": [{"type": "text", "text": "so \ud83d."}]})
    server.answers(Answer(headers={"content-type": "application/json"}, pieces=(body.encode(),)))
    reply = await ask()

    assert reply.message.text == "so ."
