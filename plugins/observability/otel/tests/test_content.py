"""Messages in spans: only on request, without secrets, as JSON of limited size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pi_otel
from pi_hookspecs import (
    AssistantMessage,
    Context,
    ImageContent,
    SideRequest,
    TextContent,
    ToolResultMessage,
    UserMessage,
    hookimpl,
    tool,
)
from pi_otel.content import LIMIT, messages_json, output_json, plain_json, text_json
from pi_testing import text, tool_call

SECRET = 'sk-"tide"\n1234567'


def redact(value):
    return value.replace(SECRET, "[redacted]")


class Numbers:
    """Takes customers' numbers out of texts."""

    @hookimpl
    def register_services(self):
        return [self]

    def redact(self, text, settings, secrets):
        return text.replace("C-10042", "[customer]")


@tool
async def shelf(name: str) -> str:
    """List a shelf."""
    return f"{name}: Odes"


@pytest.fixture
def secret(monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "key-1234567890")


@pytest.mark.pi(plugins={"otel": pi_otel, "numbers": Numbers()}, settings={"otel": {"content": True}})
async def test_what_plugins_take_out_of_texts_is_in_no_span(seen, pi_session, script):
    script.turn(text("C-10042 pays."))

    await pi_session.prompt("What does C-10042 do?")

    spans = str([dict(each.attributes) for each in await seen.spans()])
    assert "C-10042" not in spans
    assert spans.count("[customer]") == 2


@pytest.mark.pi(tools=[shelf], settings={"otel": {"content": True}})
async def test_with_the_setting_the_spans_have_what_was_said(secret, seen, pi_session, script):
    script.turn(tool_call("shelf", name="a", call_id="1")).turn(text("Odes."))

    await pi_session.prompt("What is in a? My key is key-1234567890.")

    spans = await seen.spans()
    first, last = [each for each in spans if each.name == "chat model"]
    (call,) = [each for each in spans if each.name == "execute_tool shelf"]
    (asked,) = json.loads(first.attributes["gen_ai.input.messages"])
    assert asked == {"role": "user", "parts": [{"type": "text", "content": "What is in a? My key is [redacted]."}]}
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"name": "a"}
    assert json.loads(call.attributes["gen_ai.tool.call.result"]) == [{"type": "text", "content": "a: Odes"}]
    response = json.loads(last.attributes["gen_ai.input.messages"])[-1]
    assert response["parts"] == [{"type": "tool_call_response", "id": "1", "response": ["a: Odes"]}]
    (said,) = json.loads(last.attributes["gen_ai.output.messages"])
    assert said == {"role": "assistant", "parts": [{"type": "text", "content": "Odes."}], "finish_reason": "stop"}
    assert json.loads(first.attributes["gen_ai.system_instructions"])[0]["type"] == "text"


class Titles:
    """Asks the model for a title after each run."""

    @hookimpl
    async def agent_end(self, event, ctx):
        question = Context(system_prompt="Be short.", messages=(UserMessage(content="Title of key-1234567890?"),))
        await ctx.complete(question, SideRequest(purpose="title"))


@pytest.mark.pi(plugins=[pi_otel, Titles()], settings={"otel": {"content": True}})
async def test_requests_outside_the_conversation_have_their_own_messages(secret, seen, pi_session, script):
    script.turn(text("Hello.")).turn(text("A title"))

    await pi_session.prompt("Hi")

    *_, title = [each.attributes for each in await seen.spans() if each.name == "chat model"]
    assert title["pi.request.purpose"] == "title"
    assert "Be short." in title["gen_ai.system_instructions"]
    (asked,) = json.loads(title["gen_ai.input.messages"])
    (said,) = json.loads(title["gen_ai.output.messages"])
    assert asked["parts"] == [{"type": "text", "content": "Title of [redacted]?"}]
    assert (said["parts"], said["finish_reason"]) == ([{"type": "text", "content": "A title"}], "stop")
    assert title["gen_ai.response.finish_reasons"] == ("stop",)


@pytest.mark.pi(settings={"otel": {"content": True}})
async def test_messages_of_an_unknown_form_do_not_refuse_the_request(seen, pi_session, script, monkeypatch):
    monkeypatch.setattr("pi_otel.content._part", lambda block, redact: block.no_such_field)
    monkeypatch.setattr("pi_otel.content._text", lambda text: text.no_such_field)
    script.turn(text("Hello."))

    answer = await pi_session.prompt("Hi")

    assert answer.text == "Hello."
    assert "gen_ai.input.messages" not in (await seen.named("chat model")).attributes


def test_an_image_is_its_size_and_type():
    message = UserMessage(content=(TextContent("Look"), ImageContent(data="QUJD", mime_type="image/png")))

    (shown,) = json.loads(messages_json([message], redact))

    assert shown["parts"][1] == {"type": "image", "mime_type": "image/png", "bytes": 3}


def test_the_oldest_messages_are_left_out_first():
    messages = [UserMessage(content=f"{number} " + "x" * 10_000) for number in range(9)]

    shown = json.loads(messages_json(messages, redact))

    assert [each["parts"][0]["content"][0] for each in shown] == ["6", "7", "8"]


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=30)), st.integers(0, 5), st.integers(1, 9000))
def test_every_attribute_is_json_without_secrets_and_not_too_large(texts, place, times):
    texts = [*texts[:place], SECRET, *texts[place:]]
    said = "".join(texts) * times
    data = {said[:50] or "a": {"deep": [said, {SECRET: 5}]}}
    answer = AssistantMessage(content=(TextContent(said),), api="a", provider="p", model="m")
    result = ToolResultMessage(tool_call_id="1", tool_name="t", content=(TextContent(said),))

    made = [
        plain_json(data, redact),
        text_json(said, redact),
        output_json(answer, redact),
        messages_json([UserMessage(content=said), result, answer], redact),
    ]

    for each in made:
        json.loads(each)
        assert len(each.encode()) <= LIMIT
        assert json.dumps(SECRET)[1:-1] not in each
