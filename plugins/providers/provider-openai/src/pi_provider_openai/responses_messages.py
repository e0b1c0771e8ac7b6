"""A conversation as the ``input`` of Responses: this model's own items are sent back unchanged, others converted."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage, text_of
from pi_provider_kit import (
    clean_text,
    compact_json,
    data_url,
    encode_messages,
    responses_id,
    same_model,
    system_prompt_of,
)
from pi_provider_openai.shared import result_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import SentTools

__all__ = ["TextSignature", "to_input"]

_PHASES = ("commentary", "final_answer")
_ITEM_ID = 64
_FITTING_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}(?:\|[^|]{1,64})?")


class TextSignature(NamedTuple):
    """Signature of a text block, for its replay."""

    id: str
    phase: str | None = None

    def __str__(self) -> str:
        known = {"v": 1, "id": self.id}
        return compact_json({**known, "phase": self.phase} if self.phase in _PHASES else known)

    @classmethod
    def read(cls, signature: str | None) -> TextSignature | None:
        """Parse a signature; one without a version is the bare id of older sessions."""
        if not signature:
            return None
        value = _json(signature) if signature.startswith("{") else None
        if isinstance(value, dict) and value.get("v") == 1 and isinstance(value.get("id"), str):
            return cls(value["id"], value.get("phase") if value.get("phase") in _PHASES else None)
        return cls(signature)


def to_input(
    model: Model,
    context: Context,
    options: StreamOptions,
    compat: Mapping[str, Any],
    tools: SentTools,
    *,
    with_prompt: bool = True,
) -> list[dict[str, Any]]:
    """Return the items; the system prompt is the first of them unless it is sent separately."""
    in_place = bool(compat["supportsMidConvoSystemMessages"])
    role = "developer" if model.reasoning and compat["supportsDeveloperRole"] else "system"
    prompt = clean_text(context.system_prompt) if in_place else system_prompt_of(context)

    def extend(items: list[dict[str, Any]], messages: Iterable[Message], number: int) -> None:
        for place, message in enumerate(messages, number):
            if isinstance(message, UserMessage):
                items.append({"role": "user", "content": _parts(message.content)})
            elif isinstance(message, AssistantMessage):
                items.extend(_answer(message, place, ours=same_model(message, model)))
            elif isinstance(message, ToolResultMessage):
                items.append(_result(message))
            elif in_place and (text := clean_text(text_of(message.content))).strip():
                items.append({"role": role, "content": text})

    return encode_messages(
        context,
        model,
        options,
        extend,
        before=[{"role": role, "content": prompt}] if prompt.strip() and with_prompt else [],
        depends_on=repr(compat),
        normalize_id=_call_id,
        tools=tools,
    )


def _call_id(call_id: str) -> str:
    """Return an id that the API accepts: as it is where it fits, since the ids of a host's own items vary."""
    return call_id if _FITTING_ID.fullmatch(call_id) else responses_id(call_id)


def _parts(content: str | Iterable[Any]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "input_text", "text": content}]
    parts = []
    for block in content:
        if isinstance(block, TextContent):
            parts.append({"type": "input_text", "text": block.text})
        elif isinstance(block, ImageContent):
            parts.append({"type": "input_image", "detail": "auto", "image_url": data_url(block)})
    return parts


def _result(message: ToolResultMessage) -> dict[str, Any]:
    images = any(isinstance(block, ImageContent) for block in message.content)
    output: Any = _parts(message.content) if images else result_text(message.content)
    return {"type": "function_call_output", "call_id": message.tool_call_id.partition("|")[0], "output": output}


def _answer(message: AssistantMessage, number: int, *, ours: bool) -> Iterator[dict[str, Any]]:
    """Yield the items of one answer.

    Ids of calls are sent back only together with the preceding reasoning: the API checks that. It also refuses a
    reasoning item with an id that is not followed by the item it came with; without its id, and that of the text after
    it, it takes the item wherever it is.
    """
    reasoning = [_reasoning(block) for block in message.content if isinstance(block, ThinkingContent)]
    whole = ours and all(reasoning)
    texts = 0
    loose = False
    """Whether the item before was sent without its id."""
    for place, block in enumerate(message.content):
        if isinstance(block, ThinkingContent):
            if item := _reasoning(block):
                loose = not _is_followed(message.content[place + 1 :])
                yield {name: value for name, value in item.items() if name != "id"} if loose else item
        elif isinstance(block, TextContent):
            text = _text(block, f"msg_pi_{number}" if not texts else f"msg_pi_{number}_{texts}")
            texts += 1
            yield {name: value for name, value in text.items() if name not in ("id", "status")} if loose else text
            loose = False
        elif isinstance(block, ToolCall):
            yield _call(block, whole=whole)
            loose = False


def _reasoning(block: ThinkingContent) -> dict[str, Any] | None:
    """Return a reasoning item that can be sent back: nothing is stored, so it needs its content."""
    item = _json(block.thinking_signature)
    if not isinstance(item, dict) or not (item.get("encrypted_content") or item.get("content")):
        return None
    return item


def _is_followed(rest: Sequence[Any]) -> bool:
    """Whether reasoning is followed by a call, or by a text that has the id that it came with."""
    following = next((block for block in rest if isinstance(block, TextContent | ToolCall)), None)
    if isinstance(following, ToolCall):
        return True
    signature = TextSignature.read(following.text_signature) if following is not None else None
    return signature is not None and len(signature.id) <= _ITEM_ID


def _text(block: TextContent, own_id: str) -> dict[str, Any]:
    signature = TextSignature.read(block.text_signature) or TextSignature(own_id)
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": block.text, "annotations": []}],
        "status": "completed",
        "id": signature.id if len(signature.id) <= _ITEM_ID else own_id,
    }
    return {**item, "phase": signature.phase} if signature.phase else item


def _call(call: ToolCall, *, whole: bool) -> dict[str, Any]:
    call_id, _, item_id = call.id.partition("|")
    item: dict[str, Any] = {
        "type": "function_call",
        "call_id": call_id,
        "name": call.name,
        "arguments": compact_json(call.arguments),
    }
    if whole and item_id.startswith("fc"):
        item["id"] = item_id
    if whole and call.namespace is not None:
        item["namespace"] = call.namespace
    return item


def _json(signature: str | None) -> Any:
    if not signature:
        return None
    try:
        return json.loads(signature)
    except ValueError:
        return None
