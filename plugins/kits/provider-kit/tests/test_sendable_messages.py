"""The rules of messages, one by one: what is stored, and what an API is sent."""

from __future__ import annotations

from attrs import evolve

from pi_hookspecs import (
    AssistantMessage,
    ImageContent,
    Model,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_provider_kit import RULES, sanitized_id, transform_messages
from pi_testing import for_each

PNG, JPEG, GIF, WEBP = "iVBORw0KGgoAAAAN", "/9j/4AAQSkZJRg==", "R0lGODlhAQABAAAA", "UklGRhoAAABXRUJQVlA4"


def model_of(api):
    return Model(id="m", name="M", api=api, provider="p", input=("text", "image"))


CLAUDE = model_of("anthropic-messages")
ALL = [*map(model_of, RULES), model_of("acme")]
A, B = TextContent("a"), TextContent("b")
CALL, OTHER = ToolCall("c1", "read", {}), ToolCall("c2", "bash", {})
SIGNED = ThinkingContent("hm", "c2ln")
REDACTED = ThinkingContent("", "b3BhcXVl", redacted=True)


def user(content="hi"):
    return UserMessage(content=content, timestamp=1)


def answer(model, *content, **fields):
    known = {"api": model.api, "provider": model.provider, "model": model.id, "timestamp": 1}
    return AssistantMessage(content=content, **{**known, **fields})


def result(*content, call_id="c1", name="read"):
    return ToolResultMessage(tool_call_id=call_id, tool_name=name, content=content, timestamp=1)


def sent(model, *messages):
    return transform_messages(messages, model, sanitized_id)


def answer_sent(model, *content):
    """Return the blocks of an answer in the middle of a conversation, None if it is left out."""
    results = [result(A, call_id=block.id, name=block.name) for block in content if isinstance(block, ToolCall)]
    found = [
        each for each in sent(model, user(), answer(model, *content), *results, user()) if each.role == "assistant"
    ]
    return found[0].content if found else None


@for_each(
    ("content", "claude", "responses", "mistral"),
    [
        ((CALL, A), (A, CALL), (CALL, A), (CALL, A)),
        ((A, CALL, B, OTHER), (A, B, CALL, OTHER), (A, CALL, B, OTHER), (A, CALL, B, OTHER)),
        ((SIGNED, CALL, SIGNED, B), (SIGNED, B, CALL), (SIGNED, CALL, SIGNED, B), (SIGNED, CALL, SIGNED, B)),
        ((SIGNED,), None, None, None),
        ((REDACTED, SIGNED), None, None, None),
        ((A, SIGNED), (A,), (A,), (A, SIGNED)),
        ((SIGNED, A), (SIGNED, A), (SIGNED, A), (SIGNED, A)),
        ((TextContent(" \n"), CALL), (CALL,), (CALL,), (CALL,)),
        ((TextContent("", "sig"), CALL), (CALL,), (TextContent("", "sig"), CALL), (CALL,)),
        ((TextContent(" "),), None, None, None),
        ((), None, None, None),
    ],
)
def test_an_answer_has_the_order_that_the_api_accepts_and_nothing_without_what_follows_it(
    content, claude, responses, mistral
):
    models = (
        CLAUDE,
        model_of("bedrock-converse-stream"),
        model_of("openai-responses"),
        model_of("mistral-conversations"),
    )

    assert [answer_sent(model, *content) for model in models] == [claude, claude, responses, mistral]


def test_an_unknown_api_gets_thinking_and_calls_where_they_were():
    model = model_of("acme")

    assert answer_sent(model, CALL, A, SIGNED) == (CALL, A, SIGNED)
    assert answer_sent(model, SIGNED) == (SIGNED,)


@for_each("content", [(), (TextContent(""),), (TextContent("\r\n"), TextContent(" "))])
@for_each("model", ALL)
def test_a_result_without_output_says_so(model, content):
    (_, _, received, *_) = sent(model, user(), answer(model, CALL), result(*content), user())

    assert received.content == (TextContent("(no tool output)"),)


def test_blank_texts_beside_others_are_left_out():
    received = sent(CLAUDE, user(), answer(CLAUDE, CALL), result(TextContent(""), A), user((TextContent(" "), B)))

    assert [received[2].content, received[3].content] == [(A,), (B,)]


@for_each(
    ("data", "kind", "expected"),
    [
        (PNG, "image/png", ImageContent(PNG, "image/png")),
        (PNG, "image/jpeg", ImageContent(PNG, "image/png")),
        (JPEG, "image/png", ImageContent(JPEG, "image/jpeg")),
        (GIF, "image/webp", ImageContent(GIF, "image/gif")),
        (WEBP, "image/png", ImageContent(WEBP, "image/webp")),
        ("AAAA", "image/jpg", ImageContent("AAAA", "image/jpeg")),
        ("AAAA", "IMAGE/PNG", ImageContent("AAAA", "image/png")),
        (f"data:image/png;base64,{PNG}", "image/png", ImageContent(PNG, "image/png")),
        (PNG, "image/bmp", ImageContent(PNG, "image/png")),
        ("Qk0=", "image/bmp", TextContent("(image omitted: the API does not accept image/bmp)")),
        ("", "image/png", TextContent("(image omitted: it has no data)")),
    ],
)
def test_an_image_has_the_type_of_its_data_or_is_a_line_of_text(data, kind, expected):
    (received,) = sent(CLAUDE, user((ImageContent(data, kind),)))

    assert received.content == (expected,)


def test_a_note_that_the_image_is_not_seen_is_not_sent_to_a_model_that_sees_it():
    note = "[Current model does not support images. The image will be omitted from this request.]"
    stored = result(TextContent(f"Read image file [image/png]\n{note}"), ImageContent(PNG, "image/png"))

    seen = sent(CLAUDE, user(), answer(CLAUDE, CALL), stored)[2]
    blind = sent(evolve(CLAUDE, input=("text",)), user(), answer(CLAUDE, CALL), stored)[2]

    assert seen.content == (TextContent("Read image file [image/png]"), ImageContent(PNG, "image/png"))
    assert blind.content[1] == TextContent("(tool image omitted: model does not support images)")
    assert note in stored.text


@for_each(
    ("model", "roles"),
    [
        (CLAUDE, ["user", "assistant", "user"]),
        (model_of("bedrock-converse-stream"), ["user", "assistant", "user"]),
        (model_of("google-vertex"), ["user", "assistant"]),
        (model_of("mistral-conversations"), ["assistant", "user"]),
        (model_of("openai-responses"), ["assistant"]),
        (model_of("acme"), ["assistant"]),
    ],
)
def test_the_user_speaks_first_and_last_where_the_api_wants_it(model, roles):
    assert [message.role for message in sent(model, answer(model, A))] == roles
    assert [message.role for message in transform_messages([answer(model, A)], model, whole=False)] == ["assistant"]


def test_a_system_message_is_nobody_who_speaks():
    system = SystemMessage(content="s", timestamp=1)

    assert [message.role for message in sent(CLAUDE, system, answer(CLAUDE, A), user())] == [
        *("user", "system", "assistant", "user"),
    ]
    assert [message.role for message in sent(CLAUDE, system)] == ["system", "user"]
    assert [message.role for message in sent(CLAUDE, user(" "))] == ["user"]


def test_ids_of_calls_are_unique_in_the_conversation_where_the_api_wants_it():
    turn = [answer(CLAUDE, CALL), result(A)]

    received = sent(CLAUDE, user(), *turn, *turn)
    others = transform_messages([user(), *(evolve(each) for each in turn * 2)], model_of("acme"))

    assert [message.tool_call_id for message in received if message.role == "toolResult"] == ["c1", "2_c1"]
    assert [message.tool_call_id for message in others if message.role == "toolResult"] == ["c1", "2_c1"]


def test_ids_of_the_model_s_own_are_checked_where_a_gateway_may_have_made_them():
    strange = ToolCall("functions.read:0", "read", {})

    for model, expected in ((CLAUDE, "functions_read_0"), (model_of("google-vertex"), "functions.read:0")):
        assert answer_sent(model, strange)[0].id == expected


def test_what_is_changed_for_sending_is_not_changed_in_the_conversation():
    messages = [user((TextContent(" "), A)), answer(CLAUDE, CALL, A, SIGNED), result(), user(" ")]
    before = [repr(message) for message in messages]

    sent(CLAUDE, *messages)

    assert [repr(message) for message in messages] == before
