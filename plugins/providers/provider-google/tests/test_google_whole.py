"""Hosts that do not stream, though they were asked to: a whole answer, or a list of chunks, is one."""

from __future__ import annotations

import pytest

from pi_hookspecs import ThinkingContent
from pi_testing.fake_servers.google import FakeGoogle, answer_events, call, json_answer, text, thought

EVENTS = answer_events(thought("Hm."), text("Grüße,\n", "\N{WAVING HAND SIGN}"), call("read", path="a"))


def in_one(events):
    """All parts of the chunks in the last one, as an answer that is not a stream has them."""
    parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
    last = events[-1]
    return {**last, "candidates": [{**last["candidates"][0], "content": {"role": "model", "parts": parts}}]}


@pytest.fixture(params=[None, pytest.param("sdk", marks=pytest.mark.slow)], ids=["kit", "sdk"])
def answer(request, make_model, chat, reply):
    """The message that an answer of JSON becomes."""
    if request.param == "sdk":
        pytest.importorskip("google.genai")

    async def message(body):
        async with FakeGoogle() as server:
            server.answers(json_answer(200, body))
            return await reply(make_model(base_url=server.base_url), chat.user("Hi"), transport=request.param)

    return message


@pytest.mark.parametrize("body", [in_one(EVENTS), EVENTS], ids=["one answer", "a list of chunks"])
async def test_an_answer_that_came_whole_is_read(answer, body):
    message = await answer(body)

    assert message.error_message is None
    assert isinstance(message.content[0], ThinkingContent)
    assert message.text == "Grüße,\n\N{WAVING HAND SIGN}"
    assert [(each.name, each.arguments) for each in message.tool_calls] == [("read", {"path": "a"})]
    assert message.stop_reason == "toolUse"


async def test_a_blocked_prompt_that_came_whole_says_why(answer):
    message = await answer({"promptFeedback": {"blockReason": "SAFETY"}})

    assert "Google blocked the prompt (SAFETY)" in message.error_message


@pytest.mark.parametrize("body", [{"ok": True}, [], [{"error": {"message": "Oops"}}]])
async def test_other_json_with_status_200_is_no_answer(answer, body):
    message = await answer(body)

    assert message.stop_reason == "error"
    assert ("Oops" if "Oops" in str(body) else "application/json") in message.error_message
