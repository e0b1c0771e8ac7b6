"""Hosts that do not stream, though they were asked to: a whole answer is one, other JSON is none."""

from __future__ import annotations

import pytest

from pi_hookspecs import TextContent, ThinkingContent, ToolCall
from pi_testing.fake_servers import json_answer
from pi_testing.fake_servers.openai import FakeOpenAI

COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-real",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Grüße,\n\N{WAVING HAND SIGN}",
                "refusal": None,
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}},
                    {"id": "call_2", "type": "function", "function": {"name": "read", "arguments": '{"path":"b"}'}},
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}

REASONING = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}

RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "gpt-real",
    "output": [
        REASONING,
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Grüße,\n\N{WAVING HAND SIGN}", "annotations": []}],
        },
        {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "read", "arguments": '{"path":"a"}'},
        {"id": "fc_2", "type": "function_call", "call_id": "call_2", "name": "read", "arguments": '{"path":"b"}'},
    ],
    "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
}

WHOLE = {"openai-completions": COMPLETION, "openai-responses": RESPONSE}


@pytest.fixture(params=[None, pytest.param("sdk", marks=pytest.mark.slow)], ids=["kit", "sdk"])
def answer(request, make_model, chat, reply):
    """The message that an answer of JSON becomes: ``await answer(api, body)``."""
    if request.param == "sdk":
        pytest.importorskip("openai")

    async def message(api, body):
        async with FakeOpenAI() as server:
            server.answers(json_answer(200, body))
            model = make_model(api, base_url=server.base_url)
            return await reply(model, chat.user("Hi"), transport=request.param)

    return message


@pytest.mark.parametrize("api", WHOLE)
async def test_an_answer_that_came_whole_is_read(answer, api):
    message = await answer(api, WHOLE[api])

    assert message.error_message is None
    assert message.stop_reason == "toolUse"
    thinking, text, *calls = message.content
    assert isinstance(thinking, ThinkingContent)
    assert thinking.thinking == "Hm."
    assert isinstance(text, TextContent)
    assert text.text == "Grüße,\n\N{WAVING HAND SIGN}"
    assert all(isinstance(call, ToolCall) for call in calls)
    assert [(call.id.partition("|")[0], call.name, call.arguments) for call in calls] == [
        ("call_1", "read", {"path": "a"}),
        ("call_2", "read", {"path": "b"}),
    ]
    assert (message.usage.input, message.usage.output) == (11, 7)
    assert message.response_model == "gpt-real"


async def test_a_response_that_was_too_long_stops_for_length(answer):
    cut = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": RESPONSE["output"][:2],
    }
    message = await answer("openai-responses", {**RESPONSE, **cut})

    assert (message.stop_reason, message.text) == ("length", "Grüße,\n\N{WAVING HAND SIGN}")


async def test_a_response_that_failed_says_why(answer):
    failed = {"status": "failed", "output": [], "error": {"code": "server_error", "message": "Out of order"}}
    message = await answer("openai-responses", {**RESPONSE, **failed})

    assert message.stop_reason == "error"
    assert "server_error: Out of order" in message.error_message


@pytest.mark.parametrize("api", WHOLE)
@pytest.mark.parametrize(
    "body",
    [
        {"ok": True},
        {"error": {"message": "Oops"}},
        {"choices": []},
        {"choices": [{"text": "an older API"}]},
        {"object": "response", "status": "queued", "output": []},
    ],
)
async def test_other_json_with_status_200_is_no_answer(answer, api, body):
    message = await answer(api, body)

    assert message.stop_reason == "error"
    assert message.error_message.startswith("200 The server sent")
