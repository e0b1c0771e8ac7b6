"""The whole body of a request: output limit, thinking, and cache marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_anthropic.identity import CLAUDE_CODE, ToolNames, is_oauth
from pi_provider_anthropic.messages import effort_message, mark_last, to_messages
from pi_provider_anthropic.tool_changes import PLACEHOLDER
from pi_provider_anthropic.tools import to_tool_choice, to_tools
from pi_provider_kit import (
    claude_effort,
    claude_output_schema,
    claude_thinking,
    clean_text,
    default_max_tokens,
    estimate_context_tokens,
    sampling_params,
    supported_thinking_levels,
    system_prompt_of,
)

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_anthropic.compat import Compat
    from pi_provider_anthropic.tool_changes import ToolChanges

__all__ = ["to_payload"]


def to_payload(
    model: Model,
    context: Context,
    options: StreamOptions,
    compat: Compat,
    names: ToolNames,
    *,
    changes: ToolChanges | None = None,
) -> dict[str, Any]:
    """Return the body as plain data.

    Args:
        model: The model.
        context: The conversation.
        options: The options of the request.
        compat: Features of the host.
        names: The tools.
        changes: The tools of earlier requests, for a host where changes of tools are told within the conversation.
    """
    effort = _told_effort(model, options, compat, names)
    messages = to_messages(context, model, options, compat, names, efforts=effort is not None)
    system = _system(context, compat, oauth=is_oauth(options.api_key))
    payload: dict[str, Any] = {"model": model.id, "messages": messages, "stream": True}
    payload |= _limits(model, context, options, compat)
    if effort is not None:
        payload |= _EFFORT_IN_MESSAGES
    if system:
        payload["system"] = system
    if tools := _listed_tools(model, options, compat, names, (messages, changes)):
        payload["tools"] = tools
        choice = to_tool_choice(options.tool_choice, names)
        if choice is not None:
            payload["tool_choice"] = choice
            _free_choice(payload, model)
    _mark(payload, _cache_mark(options, compat), compat)
    if effort is not None:
        messages.append(effort_message(effort))
    return payload | _further(options, compat, payload) | sampling_params(model, options.reasoning)


def _listed_tools(
    model: Model,
    options: StreamOptions,
    compat: Compat,
    names: ToolNames,
    told: tuple[list[dict[str, Any]], ToolChanges | None],
) -> list[dict[str, Any]]:
    """Return the tools to list; where changes of them are told within the conversation, add these to the messages."""
    tools = to_tools(names, model, compat)
    if not (tools and compat.tool_changes and compat.system_messages):
        return tools
    messages, changes = told
    return [*(tools if changes is None else changes.apply(model, options, tools, messages)), {**PLACEHOLDER}]


def _mark(payload: dict[str, Any], mark: dict[str, str], compat: Compat) -> None:
    """Put cache marks on the system prompt, on the last tool that the model sees, and on the last message."""
    if not mark:
        return
    for block in payload.get("system", ()):
        block["cache_control"] = mark
    seen = [tool for tool in payload.get("tools", ()) if not tool.get("defer_loading")]
    if seen and compat.tool_cache:
        seen[-1]["cache_control"] = mark
    mark_last(payload["messages"], mark)


def _further(options: StreamOptions, compat: Compat, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the fields for the form of the answer, its sampling, and the user."""
    fields: dict[str, Any] = {}
    if compat.structured_output and (schema := claude_output_schema(options.output_schema or {})) is not None:
        format_ = {"format": {"type": "json_schema", "schema": schema}}
        fields["output_config"] = {**payload.get("output_config", {}), **format_}
    if options.temperature is not None and compat.temperature and not _thinks(payload):
        fields["temperature"] = options.temperature
    user = (options.metadata or {}).get("user_id")
    if isinstance(user, str):
        fields["metadata"] = {"user_id": user}
    return fields


_EFFORT_IN_MESSAGES: dict[str, Any] = {
    "thinking": {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    },
    "output_config": {"effort": "low"},
}
"""The fields of a request whose messages tell the effort: they never change, because they are part of what is cached.

Thinking that does not belong to what precedes it is dropped instead of refused. The lowest effort, because an
organization may forbid those above one.
"""


def _told_effort(model: Model, options: StreamOptions, compat: Compat, names: ToolNames) -> str | None:
    """Return the effort that the last message tells; None if it is told elsewhere, or the model does not think."""
    if not (compat.effort_messages and compat.adaptive and model.reasoning):
        return None
    choice = to_tool_choice(options.tool_choice, names) or {}
    if choice.get("type") in ("any", "tool") and "off" in supported_thinking_levels(model):
        return None
    return claude_effort(model, options.reasoning or "off")


def _system(context: Context, compat: Compat, *, oauth: bool) -> list[dict[str, Any]]:
    prompt = clean_text(context.system_prompt) if compat.system_messages else system_prompt_of(context)
    texts = (CLAUDE_CODE if oauth else "", prompt)
    return [{"type": "text", "text": text} for text in texts if text.strip()]


def _cache_mark(options: StreamOptions, compat: Compat) -> dict[str, str]:
    retention = options.cache_retention or "short"
    if retention == "none":
        return {}
    return {"type": "ephemeral", "ttl": "1h"} if retention == "long" and compat.long_cache else {"type": "ephemeral"}


def _limits(model: Model, context: Context, options: StreamOptions, compat: Compat) -> dict[str, Any]:
    """Return the output limit and the thinking fields."""
    room = default_max_tokens(model, estimate_context_tokens(context))
    most = min(options.max_tokens or room, room)
    if not model.reasoning:
        return {"max_tokens": most}
    total, fields = claude_thinking(model, options, most, room, adaptive=compat.adaptive)
    return {"max_tokens": total, **fields}


def _thinks(payload: dict[str, Any]) -> bool:
    return bool(payload.get("thinking", {}).get("type", "disabled") != "disabled")


def _free_choice(payload: dict[str, Any], model: Model) -> None:
    """Resolve thinking with a forced call, which the API rejects: turn one of them off."""
    if not _thinks(payload) or payload["tool_choice"].get("type") not in ("any", "tool"):
        return
    if "off" in supported_thinking_levels(model):
        payload["thinking"] = {"type": "disabled"}
        payload.pop("output_config", None)
    else:
        payload["tool_choice"] = {"type": "auto"}
