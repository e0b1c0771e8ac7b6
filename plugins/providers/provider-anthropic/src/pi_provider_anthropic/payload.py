"""The whole body of a request: output limit, thinking, and cache marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_anthropic.identity import CLAUDE_CODE, ToolNames, is_oauth
from pi_provider_anthropic.messages import mark_last, to_messages
from pi_provider_anthropic.tools import to_tool_choice, to_tools
from pi_provider_kit import (
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

__all__ = ["to_payload"]


def to_payload(
    model: Model, context: Context, options: StreamOptions, compat: Compat, names: ToolNames
) -> dict[str, Any]:
    """Return the body as plain data."""
    messages = to_messages(context, model, options, compat, names)
    tools = to_tools(names, model, compat)
    system = _system(context, compat, oauth=is_oauth(options.api_key))
    mark = _cache_mark(options, compat)
    if mark:
        for block in system:
            block["cache_control"] = mark
        if tools and compat.tool_cache:
            tools[-1]["cache_control"] = mark
        mark_last(messages, mark)
    payload: dict[str, Any] = {"model": model.id, "messages": messages, "stream": True}
    payload |= _limits(model, context, options, compat)
    if system:
        payload["system"] = system
    if tools:
        payload["tools"] = tools
        choice = to_tool_choice(options.tool_choice, names)
        if choice is not None:
            payload["tool_choice"] = choice
            _free_choice(payload, model)
    if compat.structured_output and (schema := claude_output_schema(options.output_schema or {})) is not None:
        payload.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": schema}
    if options.temperature is not None and compat.temperature and not _thinks(payload):
        payload["temperature"] = options.temperature
    user = (options.metadata or {}).get("user_id")
    if isinstance(user, str):
        payload["metadata"] = {"user_id": user}
    return payload | sampling_params(model, options.reasoning)


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
