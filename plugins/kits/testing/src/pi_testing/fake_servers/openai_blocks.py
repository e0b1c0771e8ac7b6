"""The blocks of an answer of OpenAI's APIs, and how each API streams them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Block", "call", "completion_events", "reasoning", "response_events", "text"]


@frozen(kw_only=True)
class Block:
    """Text, reasoning or a call.

    Attributes:
        kind: The type of the item in Responses: ``message``, ``reasoning`` or ``function_call``.
        deltas: Its text or arguments, in pieces.
        id: Of the item.
        more: Further fields of the item.
    """

    kind: str
    deltas: tuple[str, ...]
    id: str
    more: dict[str, Any]

    @property
    def whole(self) -> str:
        """All of its text or arguments."""
        return "".join(self.deltas)

    def item(self, *, done: bool) -> dict[str, Any]:
        """Return the Responses item, in its initial or its final state."""
        status = {"status": "completed" if done else "in_progress"}
        if self.kind == "message":
            content = [{"type": "output_text", "text": self.whole, "annotations": []}] if done else []
            return {"type": "message", "id": self.id, "role": "assistant", **status, "content": content, **self.more}
        if self.kind == "reasoning":
            summary = [{"type": "summary_text", "text": self.whole}] if done and self.whole else []
            return {"type": "reasoning", "id": self.id, "summary": summary, **(self.more if done else {})}
        arguments = self.whole if done else ""
        return {"type": "function_call", "id": self.id, **status, "arguments": arguments, **self.more}


def text(*deltas: str, item_id: str = "msg_fake", phase: str | None = None) -> Block:
    """Return text, in so many deltas."""
    return Block(kind="message", deltas=deltas, id=item_id, more={"phase": phase} if phase else {})


def reasoning(*deltas: str, item_id: str = "rs_fake", encrypted: str = "ZW5jcnlwdGVk") -> Block:
    """Return reasoning: summaries in Responses, ``reasoning_content`` in Completions."""
    more = {"encrypted_content": encrypted} if encrypted else {}
    return Block(kind="reasoning", deltas=deltas, id=item_id, more=more)


def call(
    call_id: str, name: str, /, *, deltas: Sequence[str] | None = None, item_id: str = "", **arguments: Any
) -> Block:
    """Return a call; its arguments come as JSON in two deltas, or exactly as ``deltas`` says."""
    if deltas is None:
        whole = json.dumps(arguments, ensure_ascii=False)
        deltas = (whole[: len(whole) // 2], whole[len(whole) // 2 :])
    item_id = item_id or f"fc_{call_id}"
    return Block(kind="function_call", deltas=tuple(deltas), id=item_id, more={"call_id": call_id, "name": name})


# Completions


def completion_events(
    *blocks: Block,
    finish: str | None = "",
    usage: dict[str, Any] | None = None,
    model: str = "gpt-fake",
    response_id: str = "chatcmpl-fake",
    field: str = "reasoning_content",
) -> list[dict[str, Any]]:
    """Return the chunks of an answer, without ``[DONE]``.

    Args:
        blocks: Its content.
        finish: Finish reason; None leaves it out, "" is ``tool_calls`` where there is a call, else ``stop``.
        usage: Usage fields of the last chunk, in addition to 11 ``prompt_tokens`` and 7 ``completion_tokens``.
        model: Model that the answer names.
        response_id: Id of the answer.
        field: Name of the field with the reasoning.
    """
    opening: dict[str, Any] = {"id": response_id, "object": "chat.completion.chunk", "created": 1, "model": model}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    calls = 0
    for block in blocks:
        deltas += _deltas(block, calls, field)
        calls += block.kind == "function_call"
    if finish == "":
        finish = "tool_calls" if calls else "stop"
    choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    if finish is not None:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, **(usage or {})}
    return [*({**opening, "choices": [choice]} for choice in choices), {**opening, "choices": [], "usage": counted}]


def _deltas(block: Block, number: int, field: str) -> Iterator[dict[str, Any]]:
    if block.kind == "message":
        yield from ({"content": delta} for delta in block.deltas)
    elif block.kind == "reasoning":
        yield from ({field: delta} for delta in block.deltas)
    else:
        function = {"name": block.more["name"], "arguments": ""}
        yield {"tool_calls": [{"index": number, "id": block.more["call_id"], "type": "function", "function": function}]}
        for delta in block.deltas:
            yield {"tool_calls": [{"index": number, "function": {"arguments": delta}}]}


# Responses


def response_events(
    *blocks: Block,
    status: str = "completed",
    usage: dict[str, Any] | None = None,
    model: str = "gpt-fake",
    response_id: str = "resp_fake",
    **fields: Any,
) -> list[dict[str, Any]]:
    """Return the events of an answer.

    Args:
        blocks: Its content.
        status: Of the response; the last event is named for it.
        usage: In addition to 11 ``input_tokens`` and 7 ``output_tokens``.
        model: Model that the answer names.
        response_id: Id of the answer.
        fields: Further fields of the response at its end (``incomplete_details``, ``error``).
    """
    opening: dict[str, Any] = {"id": response_id, "object": "response", "created_at": 1, "model": model, "output": []}
    opening |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    begun = {**opening, "status": "in_progress"}
    counted: dict[str, Any] = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18, **(usage or {})}
    ended = {**opening, "status": status, "output": [block.item(done=True) for block in blocks], "usage": counted}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        *(event for number, block in enumerate(blocks) for event in _item_events(block, number)),
        {"type": f"response.{status}", "response": {**ended, **fields}},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _item_events(block: Block, number: int) -> Iterator[dict[str, Any]]:
    place = {"output_index": number, "item_id": block.id}
    yield {"type": "response.output_item.added", "output_index": number, "item": block.item(done=False)}
    if block.kind == "message":
        place["content_index"] = 0
        part = {"type": "output_text", "text": "", "annotations": []}
        yield {"type": "response.content_part.added", **place, "part": part}
        for delta in block.deltas:
            yield {"type": "response.output_text.delta", **place, "delta": delta, "logprobs": []}
        yield {"type": "response.output_text.done", **place, "text": block.whole, "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": {**part, "text": block.whole}}
    elif block.kind == "reasoning" and block.deltas:
        place["summary_index"] = 0
        part = {"type": "summary_text", "text": ""}
        yield {"type": "response.reasoning_summary_part.added", **place, "part": part}
        for delta in block.deltas:
            yield {"type": "response.reasoning_summary_text.delta", **place, "delta": delta}
        yield {"type": "response.reasoning_summary_text.done", **place, "text": block.whole}
        yield {"type": "response.reasoning_summary_part.done", **place, "part": {**part, "text": block.whole}}
    elif block.kind == "function_call":
        for delta in block.deltas:
            yield {"type": "response.function_call_arguments.delta", **place, "delta": delta}
        name = block.more["name"]
        yield {"type": "response.function_call_arguments.done", **place, "name": name, "arguments": block.whole}
    yield {"type": "response.output_item.done", "output_index": number, "item": block.item(done=True)}
