"""A host that does not stream, though it was asked to: a whole answer is one, other JSON is none."""

from __future__ import annotations

import pytest

from pi_hookspecs import TextContent, ThinkingContent
from pi_testing.fake_servers import json_answer

WHOLE = {
    "id": "cmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "mistral-real",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                    {"type": "text", "text": "Grüße,\n\N{WAVING HAND SIGN}"},
                ],
                "tool_calls": [
                    {"id": "aB3dE6gH9", "function": {"name": "read", "arguments": '{"path":"a"}'}, "index": 0},
                    {"id": "bB3dE6gH9", "function": {"name": "read", "arguments": '{"path":"b"}'}, "index": 1},
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}


@pytest.fixture
def answer(server, make_model, chat, reply):
    """The message that an answer of JSON becomes."""

    async def message(body):
        server.answers(json_answer(200, body))
        return await reply(make_model(base_url=server.url), chat.user("Hi"))

    return message


async def test_an_answer_that_came_whole_is_read(answer):
    message = await answer(WHOLE)

    assert message.error_message is None
    assert message.content[:2] == (ThinkingContent("Hm."), TextContent("Grüße,\n\N{WAVING HAND SIGN}"))
    assert [(call.id, call.arguments) for call in message.tool_calls] == [
        ("aB3dE6gH9", {"path": "a"}),
        ("bB3dE6gH9", {"path": "b"}),
    ]
    assert (message.stop_reason, message.usage.input, message.usage.output) == ("toolUse", 11, 7)
    assert (message.response_id, message.response_model) == ("cmpl-1", "mistral-real")


@pytest.mark.parametrize("body", [{"ok": True}, {"object": "error", "message": "Oops"}, {"choices": []}, [WHOLE]])
async def test_other_json_with_status_200_is_no_answer(answer, body):
    message = await answer(body)

    assert message.stop_reason == "error"
    assert message.error_message.startswith("200 The server sent")
