"""The contract of conversations: images, earlier answers of this and other kinds of models, and broken messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import evolve, field, frozen

from pi_core import message_from_wire, to_wire
from pi_hookspecs import (
    AssistantMessage,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_testing.contract_case import Calls, Says, Thinks, needs
from pi_testing.contract_listen import asking, everything_in, listen
from pi_testing.stand_ins import make_tool
from pi_testing.tables import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import Message
    from pi_testing.contract_case import ProviderCase

__all__ = ["FOREIGN", "Foreign", "HistoryContract"]

_RESPONSES_ITEM = (
    '{"type":"reasoning","id":"rs_foreign","summary":[{"type":"summary_text","text":"Foreign thought."}],'
    '"encrypted_content":"Zm9yZWlnbg"}'
)


@frozen(kw_only=True)
class Foreign:
    """What another provider leaves in a conversation.

    Attributes:
        ids: Ids of its two calls in one answer.
        thinking: Its thinking blocks.
        text_signature: Signature of its text.
        thought_signature: Signature of its calls.
        secrets: Data that must not be sent to another provider: signatures and redacted thinking.
    """

    api: str
    ids: tuple[str, str]
    thinking: tuple[ThinkingContent, ...] = ()
    text_signature: str | None = None
    thought_signature: str | None = None
    secrets: tuple[str, ...] = field(default=())

    def turn(self, number: int) -> Iterator[Message]:
        """Yield an answer with two calls and their results; their texts contain the turn's number."""
        calls = tuple(
            ToolCall(call_id, name, {"path": f"{self.api}-{number}"}, self.thought_signature)
            for call_id, name in zip(self.ids, ("read", "write"), strict=True)
        )
        yield AssistantMessage(
            content=(*self.thinking, TextContent(f"Looking {number}.", self.text_signature), *calls),
            api=self.api,
            provider="some-other-provider",
            model="some-other-model",
            stop_reason="toolUse",
            timestamp=number,
        )
        for call in calls:
            yield ToolResultMessage(
                tool_call_id=call.id,
                tool_name=call.name,
                content=(TextContent(f"Result of {call.name} {number}."),),
                timestamp=number,
            )


_LONG = "call_" + "0123456789abcdef" * 6

FOREIGN = {
    each.api: each
    for each in (
        Foreign(
            api="anthropic-messages",
            ids=("toolu_01AbCdEfGhIjKlMnOpQrStUv", "toolu_01ZyXwVuTsRqPoNmLkJiHgFe"),
            thinking=(
                ThinkingContent("Foreign thought.", "Rm9yZWlnbkE"),
                ThinkingContent("", "cmVkYWN0ZWRB", redacted=True),
            ),
            secrets=("Rm9yZWlnbkE", "cmVkYWN0ZWRB"),
        ),
        Foreign(
            api="openai-completions",
            ids=("call_abc", _LONG),
            thinking=(ThinkingContent("Foreign thought.", "reasoning_content"),),
            thought_signature='{"type":"reasoning.encrypted","id":"call_abc","data":"b3BlbnJvdXRlcg"}',
            secrets=("b3BlbnJvdXRlcg",),
        ),
        *(
            Foreign(
                api=api,
                ids=("call_abc|fc_0a1b2c3d", f"{_LONG[:60]}|fc_{'0123456789abcdef' * 5}"),
                thinking=(ThinkingContent("Foreign thought.", _RESPONSES_ITEM),),
                text_signature='{"v":1,"id":"msg_foreign","phase":"commentary"}',
                secrets=("rs_foreign", "Zm9yZWlnbg", "msg_foreign"),
            )
            for api in ("openai-responses", "azure-openai-responses", "openai-codex-responses")
        ),
        *(
            Foreign(
                api=api,
                ids=("read_1700000000000_1", "write:2/\N{SNOWMAN}"),
                thinking=(ThinkingContent("Foreign thought.", "Z29vZ2xlVGhpbms"),),
                text_signature="Z29vZ2xlVGV4dA",
                thought_signature="Z29vZ2xlQ2FsbA",
                secrets=("Z29vZ2xlVGhpbms", "Z29vZ2xlVGV4dA", "Z29vZ2xlQ2FsbA"),
            )
            for api in ("google-generative-ai", "google-vertex")
        ),
        Foreign(
            api="bedrock-converse-stream",
            ids=("tooluse_AbC-dEf_123", "tooluse_Zyx.Wvu"),
            thinking=(ThinkingContent("Foreign thought.", "YmVkcm9jaw"),),
            secrets=("YmVkcm9jaw",),
        ),
        Foreign(api="mistral-conversations", ids=("aB3dE6gH9", "zY8xW7vU6")),
        Foreign(api="some-local-server", ids=("0", "1"), thinking=(ThinkingContent("Foreign thought."),)),
        Foreign(api="no-ids-at-all", ids=("", "")),
    )
}
"""By API id. The ids of the last two restart in every turn, as with local servers."""


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
TOOLS = (make_tool("read"), make_tool("write"))
SIGNATURE = "c2lnbmVkLWJ5LXRoaXMtbW9kZWw"
NEXT = UserMessage(content="And now?", timestamp=9)


class HistoryContract:
    """Tests of the conversation that the provider sends."""

    # Images

    @needs("images", "requests")
    async def test_images_of_the_user_are_sent(self, case: ProviderCase) -> None:
        case.text("A pixel.")
        content = (TextContent("What is this?"), ImageContent(PIXEL, "image/png"))
        reply = await listen(case, asking(UserMessage(content=content, timestamp=1)))

        assert reply.done.text == "A pixel."
        _appear_in_order(case, "What is this?", PIXEL)

    @needs("images", "requests")
    async def test_an_image_alone_is_sent(self, case: ProviderCase) -> None:
        case.text("A pixel.")
        await listen(case, asking(UserMessage(content=(ImageContent(PIXEL, "image/png"),), timestamp=1)))

        _appear_in_order(case, PIXEL)

    @needs("images", "requests", "tools")
    @for_each("is_error", [False, True])
    @for_each("text", ["", "Here it is."])
    async def test_images_of_a_result_are_sent(self, case: ProviderCase, text: str, *, is_error: bool) -> None:
        result = _result("call_1", text, ImageContent(PIXEL, "image/png"), is_error=is_error)
        case.text("A pixel.")
        reply = await listen(case, asking(_user("Look."), _called(case, "call_1"), result, tools=TOOLS))

        assert reply.done.text == "A pixel."
        _appear_in_order(case, "Look.", text, PIXEL)

    @needs("images", "requests", "tools")
    async def test_a_model_without_vision_gets_a_note_for_each_image(self, case: ProviderCase) -> None:
        blind = evolve(case.model, input=("text",))
        image = ImageContent(PIXEL, "image/png")
        question = UserMessage(content=(TextContent("Look."), image), timestamp=1)
        case.text("I cannot see.")
        messages = (question, _called(case, "call_1"), _result("call_1", "", image))
        await listen(case, asking(*messages, tools=TOOLS), model=blind)

        assert PIXEL not in everything_in(case.sent())
        assert everything_in(case.sent()).count("image omitted: model does not support images") == 2  # noqa: PLR2004

    # Its own answers

    @needs("requests", "replay", "thinking", "tools")
    @for_each("stored", [False, True])
    async def test_its_own_answers_go_back_whole(self, case: ProviderCase, *, stored: bool) -> None:
        history: list[Message] = [_user("Look at a and b.")]
        for turn in ("first", "second"):
            answer = await _answer(case, history, turn)
            turn_messages: list[Message] = [answer]
            for number, call in enumerate(answer.tool_calls):
                turn_messages.append(_result(call.id, f"Result {number} of {turn}.", tool_name=call.name))
            history += map(_stored, turn_messages) if stored else turn_messages
        case.text("Both are empty.")
        reply = await listen(case, asking(*history, NEXT, tools=TOOLS), reasoning="medium")

        assert reply.done.text == "Both are empty."
        for turn in ("first", "second"):
            _appear_in_order(case, f"Thought of {turn}.")
            _appear_in_order(case, f"Text of {turn}.", f"{turn}/a", f"{turn}/b",
                             f"Result 0 of {turn}.", f"Result 1 of {turn}.")  # fmt: skip
        _appear_in_order(case, "Look at a and b.", "Text of first.", "Text of second.", "And now?")

    @needs("requests", "replay", "thinking", "tools")
    async def test_another_model_does_not_get_its_signatures(self, case: ProviderCase) -> None:
        history: list[Message] = [_user("Look.")]
        answer = await _answer(case, history, "first")
        results = [_result(call.id, "Done.", tool_name=call.name) for call in answer.tool_calls]
        case.text("Hello")
        other = evolve(case.model, id=f"{case.model.id}-other")
        reply = await listen(case, asking(*history, answer, *results, NEXT, tools=TOOLS), model=other)

        assert reply.done.text == "Hello"
        assert SIGNATURE not in everything_in(case.sent())
        _appear_in_order(case, "Text of first.", "first/a", "Done.", "And now?")

    @needs("requests", "replay")
    @for_each("blocks", [(), (Says(("",)),)])
    async def test_an_empty_answer_can_be_talked_about(self, case: ProviderCase, blocks: tuple[Says, ...]) -> None:
        case.answers(*blocks)
        answer = (await listen(case)).message
        case.text("Hello")
        reply = await listen(case, asking(_user("One"), answer, NEXT))

        assert reply.done.text == "Hello"
        _appear_in_order(case, "One", "And now?")

    # Those of others

    @needs("requests", "replay", "tools")
    @for_each("reasoning", [None, "medium"])
    @for_each("api", FOREIGN)
    async def test_answers_of_every_other_provider_are_understood(
        self, case: ProviderCase, api: str, reasoning: str | None
    ) -> None:
        foreign = FOREIGN[api]
        case.text("Hello")
        history = (_user("Look."), *foreign.turn(1), _user("Again."), *foreign.turn(2), NEXT)
        reply = await listen(case, asking(*history, tools=TOOLS), reasoning=reasoning)

        assert reply.done.text == "Hello"
        for turn in (1, 2):
            _appear_in_order(case, f"Looking {turn}.", f"{api}-{turn}", f"Result of read {turn}.",
                             f"Result of write {turn}.")  # fmt: skip
        _appear_in_order(case, "Look.", "Result of write 1.", "Again.", "Looking 2.", "And now?")
        assert [secret for secret in foreign.secrets if secret in everything_in(case.sent())] == []

    @needs("requests", "replay", "tools")
    async def test_a_conversation_with_all_of_them_is_understood(self, case: ProviderCase) -> None:
        turns = [message for number, each in enumerate(FOREIGN.values()) for message in each.turn(number)]
        case.text("Hello")
        reply = await listen(case, asking(_user("Look."), *turns, NEXT, tools=TOOLS))

        assert reply.done.text == "Hello"
        _appear_in_order(case, *(f"Result of write {number}." for number in range(len(FOREIGN))))

    # What is broken

    @needs("requests", "replay", "tools")
    @for_each("reason", ["error", "aborted"])
    async def test_answers_that_failed_are_left_out(self, case: ProviderCase, reason: Any) -> None:
        failed = evolve(_called(case, "call_1", "Half a"), stop_reason=reason, error_message="It broke.")
        case.text("Hello")
        messages = (_user("One"), failed, _result("call_1", "Never asked for."), NEXT)
        reply = await listen(case, asking(*messages, tools=TOOLS))

        assert reply.done.text == "Hello"
        sent = everything_in(case.sent())
        assert [text for text in ("Half a", "Never asked for.", "It broke.") if text in sent] == []

    @needs("requests", "replay", "tools")
    @for_each("after", [(), (NEXT,)])
    async def test_a_call_without_a_result_gets_one(self, case: ProviderCase, after: tuple[Message, ...]) -> None:
        case.text("Hello")
        reply = await listen(case, asking(_user("One"), _called(case, "call_1"), *after, tools=TOOLS))

        assert reply.done.text == "Hello"
        assert "No result provided" in everything_in(case.sent())

    @needs("requests", "replay", "tools")
    async def test_a_result_without_a_call_is_left_out(self, case: ProviderCase) -> None:
        case.text("Hello")
        reply = await listen(case, asking(_user("One"), _result("call_9", "Of nothing."), NEXT, tools=TOOLS))

        assert reply.done.text == "Hello"
        assert "Of nothing." not in everything_in(case.sent())

    @needs("requests", "replay", "tools")
    @for_each("text", ["", " \n"])
    async def test_an_empty_result_is_one(self, case: ProviderCase, text: str) -> None:
        case.text("Hello")
        messages = (_user("One"), _called(case, "call_1"), _result("call_1", text))
        reply = await listen(case, asking(*messages, tools=TOOLS))

        assert reply.done.text == "Hello"

    @needs("requests", "replay")
    @for_each("empty", ["", " ", ()])
    async def test_empty_messages_of_the_user_are_skipped(self, case: ProviderCase, empty: Any) -> None:
        case.text("Hello")
        reply = await listen(case, asking(_user("One"), UserMessage(content=empty, timestamp=2), NEXT))

        assert reply.done.text == "Hello"

    @needs("requests", "replay", "tools")
    async def test_halves_of_characters_are_never_sent(self, case: ProviderCase) -> None:
        half = "\ud83d"
        answer = _called(case, "call_1", f"Text{half}.", path=f"a{half}", **{f"key{half}": 1})
        case.text("Hello")
        context = asking(
            *(_user(f"One{half}"), answer, _result("call_1", f"Result{half}."), NEXT),
            system_prompt=f"Prompt{half}.",
            tools=TOOLS,
        )
        reply = await listen(case, context)

        assert reply.done.text == "Hello"
        everything_in(case.sent()).encode()
        _appear_in_order(case, "One", "Text.", "Result.")
        assert "Prompt." in everything_in(case.sent())

    @needs("tools")
    async def test_the_conversation_itself_is_not_changed(self, case: ProviderCase) -> None:
        image = ImageContent(PIXEL, "image/png")
        messages = (_user("One\ud83d"), _called(case, "call_1", path="a"), _result("call_1", "x", image), NEXT)
        context = asking(*messages, tools=TOOLS)
        before = repr(context.messages)
        case.text("Hello")
        await listen(case, context)

        assert repr(context.messages) == before


async def _answer(case: ProviderCase, history: list[Message], turn: str) -> AssistantMessage:
    """Return what the case's model answers: thinking, text and two calls."""
    calls = [Calls(f"call_{turn}_{name}", "read", {"path": f"{turn}/{name}"}) for name in ("a", "b")]
    case.answers(Thinks((f"Thought of {turn}.",), SIGNATURE), Says((f"Text of {turn}.",)), *calls)
    return (await listen(case, asking(*history, tools=TOOLS), reasoning="medium")).done


def _stored(message: Message) -> Message:
    """Return the message as a session file gives it back."""
    return cast("Message", message_from_wire(to_wire(message)))


def _user(text: str) -> UserMessage:
    return UserMessage(content=text, timestamp=1)


def _called(case: ProviderCase, call_id: str, text: str = "I look.", /, **arguments: Any) -> AssistantMessage:
    model = case.model
    call = ToolCall(call_id, "read", arguments)
    return AssistantMessage(
        content=(TextContent(text), call),
        api=model.api,
        provider=model.provider,
        model=model.id,
        stop_reason="toolUse",
        timestamp=2,
    )


def _result(
    call_id: str, text: str, *more: ImageContent, tool_name: str = "read", is_error: bool = False
) -> ToolResultMessage:
    content: tuple[TextContent | ImageContent, ...] = (*([TextContent(text)] if text else []), *more)
    return ToolResultMessage(tool_call_id=call_id, tool_name=tool_name, content=content, is_error=is_error, timestamp=3)


def _appear_in_order(case: ProviderCase, *texts: str) -> None:
    """Check that the texts are in the latest request, one behind the other."""
    sent = everything_in(case.sent())
    at = 0
    for text in texts:
        found = sent.find(text, at)
        assert found >= 0, f"{text!r} was not sent, or not behind what came before it: {sent[:2000]}"
        at = found
