"""A whole answer, worked out from the context: texts, calls, their estimated size, and the payload that hooks see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs.messages import Usage
from pi_provider_offline._answer import announcement, answer, thoughts
from pi_provider_offline._conversation import call_id, read_conversation
from pi_provider_offline._plan import plan
from pi_provider_offline._toolbox import Toolbox

if TYPE_CHECKING:
    from pi_hookspecs import Context, Message, Model, StreamOptions


@frozen(eq=False, repr=False)
class Answer:
    """What one turn says: thinking, text, calls as ``(id, tool, arguments in JSON)``, and tokens before and after."""

    thinking: str
    text: str
    calls: tuple[tuple[str, str, str], ...]
    usage_before: Usage
    usage: Usage


def compose(context: Context, options: StreamOptions, request: str | None = None) -> Answer:
    """Work out the answer to a context.

    Args:
        context: The conversation and the tools.
        options: Of these ``tool_choice`` counts: ``none`` means without tools.
        request: Words to take instead of those of the last user message.
    """
    conversation = read_conversation(context.messages, request)
    planned = plan(conversation, Toolbox(() if options.tool_choice == "none" else context.tools))
    calls = tuple(
        (call_id(conversation.turn, number, each.call), each.call.tool, _json(each.call.arguments))
        for number, each in enumerate(planned, 1)
        if each.call is not None
    )
    text = announcement(planned) if calls else answer(planned, conversation.images, silent=conversation.silent)
    thinking = thoughts(planned)
    spoken = thinking + text + "".join(tool + arguments for _, tool, arguments in calls)
    return Answer(thinking, text, calls, _usage(context, ""), _usage(context, spoken))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _usage(context: Context, output: str) -> Usage:
    """Estimate tokens as four characters each, rounded up; nothing costs anything."""
    said = sum(len(text) for message in context.messages for text in _texts_of(message))
    tokens_in = -(-(len(context.system_prompt) + said) // 4)
    tokens_out = -(-len(output) // 4)
    return Usage(input=tokens_in, output=tokens_out, total_tokens=tokens_in + tokens_out)


def _texts_of(message: Message) -> list[str]:
    content = getattr(message, "content", "")
    if isinstance(content, str):
        return [content]
    texts = [getattr(block, "text", "") or getattr(block, "thinking", "") for block in content]
    return [*texts, *(_json(call["arguments"]) for call in _calls_of(message))]


def _calls_of(message: Message) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "name": call.name, "arguments": call.arguments} for call in getattr(message, "tool_calls", ())
    ]


def payload_of(model: Model, context: Context) -> dict[str, Any]:
    """Return what ``on_payload`` is shown: plain data, and under ``request`` the user's latest words."""
    messages = [_plain(message) for message in context.messages]
    request = next((message["content"] for message in reversed(messages) if message["role"] == "user"), "")
    return {
        "model": model.id,
        "system": context.system_prompt,
        "messages": messages,
        "tools": [tool.name for tool in context.tools],
        "request": request,
    }


def _plain(message: Message) -> dict[str, Any]:
    content = getattr(message, "content", "")
    text = content if isinstance(content, str) else "\n".join(getattr(block, "text", "") for block in content)
    plain: dict[str, Any] = {"role": getattr(message, "role", "unknown"), "content": text}
    if calls := _calls_of(message):
        plain["tool_calls"] = calls
    if (result_of := getattr(message, "tool_call_id", None)) is not None:
        plain |= {"tool_call_id": result_of, "is_error": getattr(message, "is_error", False)}
    return plain


def latest_request(changed: Any, payload: dict[str, Any]) -> str | None:
    """Return the words that a hook put in place of the user's; None where it left them."""
    words = changed.get("request") if isinstance(changed, dict) else None
    return words if isinstance(words, str) and words != payload["request"] else None
