"""Answers as every kind of provider leaves them in a conversation: signatures, ids and thinking of its own kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from pi_hookspecs import AssistantMessage, TextContent, ThinkingContent, ToolCall, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import Message

__all__ = ["FOREIGN", "Foreign"]

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
