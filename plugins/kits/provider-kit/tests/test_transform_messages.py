"""A conversation that others had, made ready for a model that was not there."""

from __future__ import annotations

import json

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import (
    AssistantMessage,
    Context,
    ImageContent,
    Model,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UnknownContent,
    UserMessage,
)
from pi_provider_kit import mistral_id, sanitized_id, system_prompt_of, transform_messages

OURS = Model(id="m1", name="M1", api="acme", provider="acme", input=("text", "image"))
BLIND = evolve(OURS, input=("text",))


def user(text):
    return UserMessage(content=text, timestamp=1)


def ours(*content, stop_reason="stop"):
    return AssistantMessage(
        content=content, api="acme", provider="acme", model="m1", stop_reason=stop_reason, timestamp=1
    )


def theirs(*content, **fields):
    return evolve(ours(*content), provider="other", **fields)


def call(call_id, name="read", **arguments):
    return ToolCall(call_id, name, arguments)


def result(call_id, text="done", name="read"):
    return ToolResultMessage(tool_call_id=call_id, tool_name=name, content=(TextContent(text),), timestamp=1)


def ids(messages):
    """Ids in order: of calls bare, of results in brackets."""
    found = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            found += [block.id for block in message.tool_calls]
        elif isinstance(message, ToolResultMessage):
            found.append(f"[{message.tool_call_id}]")
    return found


def test_a_conversation_with_the_same_model_stays_as_it_is():
    messages = (
        user("hi"),
        ours(
            ThinkingContent("", thinking_signature="s"),
            ThinkingContent("", thinking_signature="opaque", redacted=True),
            TextContent("hello", text_signature="t"),
            ToolCall("1", "read", {"path": "ä"}, thought_signature="u"),
        ),
        result("1"),
    )

    transformed = transform_messages(messages, OURS, sanitized_id)

    assert all(new is old for new, old in zip(transformed, messages, strict=True))


def test_unsigned_empty_thinking_is_dropped():
    (message,) = transform_messages([ours(ThinkingContent(" "), ThinkingContent("hm"), TextContent("x"))], OURS)

    assert message.content == (ThinkingContent("hm"), TextContent("x"))


@pytest.mark.parametrize("field", ["provider", "api", "model"])
def test_what_another_model_signed_is_taken_off(field):
    message = evolve(
        ours(
            ThinkingContent("hm", thinking_signature="s"),
            ThinkingContent("", thinking_signature="o", redacted=True),
            TextContent("hello", text_signature="t"),
            ToolCall("1", "read", {}, thought_signature="u"),
        ),
        **{field: "other"},
    )

    transformed = transform_messages([message, result("1")], OURS)
    as_text = transform_messages([message, result("1")], OURS, foreign_thinking="text")

    assert transformed[0].content == (TextContent("hello"), ToolCall("1", "read", {}))
    assert as_text[0].content[0] == TextContent("hm")
    assert len(as_text[0].content) == 3


def test_foreign_ids_are_rewritten_with_their_results():
    messages = [theirs(call("call|fc:1"), call("b!")), result("b!"), result("call|fc:1")]

    assert ids(transform_messages(messages, OURS, sanitized_id)) == ["call_fc_1", "b_", "[call_fc_1]", "[b_]"]


def test_an_id_that_a_later_turn_uses_again_is_matched_in_its_own_turn():
    messages = [theirs(call("c:0")), result("c:0", "one"), ours(call("c:0")), result("c:0", "two")]

    transformed = transform_messages(messages, OURS, sanitized_id)

    assert ids(transformed) == ["c_0", "[c_0]", "c:0", "[c:0]"]
    assert [transformed[1].text, transformed[3].text] == ["one", "two"]


def test_results_are_in_the_order_of_their_calls():
    messages = [ours(call("a"), call(""), call("b"), call("a")), result("b"), result("a", "1"), result("a", "2")]

    transformed = transform_messages(messages, OURS)

    assert ids(transformed)[4:] == [f"[{each.id}]" for each in transformed[0].content]
    assert [each.text for each in transformed[1:] if each.text in ("1", "2")] == ["1", "2"]


def test_colliding_ids_are_made_unique():
    messages = [theirs(call("a:1"), call("a!1")), result("a!1"), result("a:1"), theirs(call("a:1")), result("a:1")]

    assert ids(transform_messages(messages, OURS, sanitized_id)) == [
        "a_1",
        "2_a_1",
        "[a_1]",
        "[2_a_1]",
        "3_a_1",
        "[3_a_1]",
    ]


def test_an_id_given_twice_in_one_answer_becomes_two():
    messages = [ours(call("1", path="a"), call("1", path="b")), result("1", "A"), result("1", "B")]

    transformed = transform_messages(messages, OURS)

    assert ids(transformed) == ["1", "2_1", "[1]", "[2_1]"]
    assert [message.text for message in transformed[1:]] == ["A", "B"]


def test_a_call_without_an_id_gets_one():
    transformed = transform_messages([ours(call("")), result("")], OURS, mistral_id)

    assert ids(transformed)[1] == f"[{ids(transformed)[0]}]"
    assert len(ids(transformed)[0]) == 9


@pytest.mark.parametrize("rest", [[], [user("go on")], [ours(TextContent("next"))]])
def test_a_call_without_a_result_gets_one_in_place(rest):
    messages = [ours(call("1"), call("2", "bash")), result("1"), *rest]

    transformed = transform_messages(messages, OURS)

    assert ids(transformed) == ["1", "2", "[1]", "[2]"]
    missing = transformed[2]
    assert (missing.tool_name, missing.text, missing.is_error) == ("bash", "No result provided", True)
    assert list(transformed[3:]) == rest


def test_a_result_after_another_message_moves_to_its_call():
    messages = [ours(call("1")), user("wait"), result("1", "late")]

    transformed = transform_messages(messages, OURS)

    assert [message.role for message in transformed] == ["assistant", "toolResult", "user"]
    assert transformed[1].text == "late"


def test_a_stray_result_is_dropped():
    assert transform_messages([result("9"), user("hi"), ours(TextContent("x")), result("8")], OURS) == (
        user("hi"),
        ours(TextContent("x")),
    )


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_failed_answers_go_with_their_results(reason):
    messages = [ours(call("1")), ours(call("1"), stop_reason=reason), result("1", "of the failed"), user("again")]

    transformed = transform_messages(messages, OURS)

    assert [message.role for message in transformed] == ["assistant", "toolResult", "user"]
    assert transformed[1].text == "No result provided"


def test_images_become_words_for_a_model_that_cannot_see():
    image = ImageContent("aGk=", "image/png")
    messages = [
        UserMessage(content=(TextContent("look"), image, image), timestamp=1),
        ours(call("1")),
        evolve(result("1"), content=(image,)),
    ]

    transformed = transform_messages(messages, BLIND)

    assert transformed[0].content == (
        TextContent("look"),
        TextContent("(image omitted: model does not support images)"),
    )
    assert transformed[2].content == (TextContent("(tool image omitted: model does not support images)"),)
    assert transform_messages(messages, OURS)[0] is messages[0]


def test_empty_and_unknown_content_is_left_out():
    messages = [
        user(" \n"),
        UserMessage(content=(TextContent(" "), UnknownContent("video")), timestamp=1),
        UserMessage(content=(TextContent(""), TextContent("hi")), timestamp=1),
        theirs(ThinkingContent("only thoughts", thinking_signature="s")),
        ours(TextContent("")),
    ]

    assert transform_messages(messages, OURS) == (UserMessage(content=(TextContent("hi"),), timestamp=1),)


def test_half_characters_are_removed_everywhere_and_halves_that_meet_are_joined():
    messages = [
        user("a\ud83db"),
        ours(TextContent("\ud83d\ude00"), call("1", path="x\udc00", edits=[{"\ud800k": "v"}], **{"\ud800": None})),
        result("1", "\udfff!"),
    ]

    transformed = transform_messages(messages, OURS)

    assert transformed[0].content == "ab"
    assert transformed[1].content[0].text == "😀"
    assert transformed[1].content[1].arguments == {"path": "x", "edits": [{"k": "v"}], "": None}
    assert transformed[2].text == "!"
    assert messages[1].content[1].arguments == {"path": "x\udc00", "edits": [{"\ud800k": "v"}], "\ud800": None}


def test_arguments_too_deep_to_be_sent_are_cut_off():
    deep: list = []
    for _ in range(400):
        deep = [deep]

    transformed = transform_messages([ours(call("1", a=deep, b=1))], OURS)

    assert json.dumps(transformed[0].tool_calls[0].arguments).count("[") == 99
    assert transformed[0].tool_calls[0].arguments["b"] == 1


def test_system_messages_stay_for_the_codec_that_can_send_them():
    later = SystemMessage(content="Be brief.", timestamp=1)
    context = Context(system_prompt="You are pi.", messages=(user("hi"), later))

    assert transform_messages(context.messages, OURS) == context.messages
    assert system_prompt_of(context) == "You are pi.\n\nBe brief."


IDS = st.sampled_from(["", "1", "a:1", "a!1", "call|fc", "\ud800", "x" * 80])
BLOCKS = st.one_of(
    st.builds(TextContent, st.text(max_size=3)),
    st.builds(ThinkingContent, st.text(max_size=3), st.none() | st.just("s")),
    st.builds(ToolCall, IDS, st.just("read"), st.dictionaries(st.text(max_size=2), st.text(max_size=2), max_size=2)),
)
MESSAGES = st.lists(
    st.one_of(
        st.builds(user, st.text(max_size=3)),
        st.builds(lambda blocks: ours(*blocks), st.lists(BLOCKS, max_size=4)),
        st.builds(lambda blocks: theirs(*blocks), st.lists(BLOCKS, max_size=4)),
        st.builds(lambda blocks: ours(*blocks, stop_reason="aborted"), st.lists(BLOCKS, max_size=2)),
        st.builds(result, IDS),
    ),
    max_size=8,
)


@given(MESSAGES)
def test_every_call_is_answered_once_directly_and_nothing_else_is(messages):
    transformed = transform_messages(messages, OURS, sanitized_id)

    waiting: list[str] = []
    for message in transformed:
        if isinstance(message, ToolResultMessage):
            waiting.remove(message.tool_call_id)
        else:
            assert waiting == []
        if isinstance(message, AssistantMessage):
            assert message.content
            waiting = [block.id for block in message.tool_calls]
            assert len(set(waiting)) == len(waiting)
            assert all(waiting)
            json.dumps([block.arguments for block in message.tool_calls], ensure_ascii=False).encode()
    assert waiting == []


@given(MESSAGES, MESSAGES)
def test_a_sent_request_does_not_change_with_later_messages(before, after):
    """Otherwise every request would miss the provider's cache."""
    whole = transform_messages([*before, user("next"), ours(TextContent("ok")), *after], OURS, sanitized_id)
    start = transform_messages([*before, user("next")], OURS, sanitized_id)

    assert [m for m in whole[: len(start)] if m.timestamp] == [m for m in start if m.timestamp]
