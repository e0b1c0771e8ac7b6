"""The whole body of a request: output limit, thinking, and cache points."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_provider_bedrock.compat import Compat
from pi_provider_bedrock.messages import to_messages
from pi_provider_bedrock.tools import to_tool_config
from pi_provider_kit import (
    claude_output_schema,
    claude_thinking,
    default_max_tokens,
    estimate_context_tokens,
    sampling_params,
    supported_thinking_levels,
    system_prompt_of,
)

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_kit import SentTools

__all__ = ["to_payload"]

_INTERLEAVED_BETA = "interleaved-thinking-2025-05-14"


def to_payload(model: Model, context: Context, options: StreamOptions, names: SentTools) -> dict[str, Any]:
    """Return the input of ``ConverseStream`` as plain data; bytes are base64, as in its JSON."""
    compat = Compat.of(model)
    messages = to_messages(context, model, options, compat, names)
    system = [{"text": text}] if (text := system_prompt_of(context)).strip() else []
    tools = to_tool_config(names, options.tool_choice, messages, model)
    _mark(system, messages, options, compat)
    most, fields = _limits(model, context, options, compat)
    if tools is not None:
        fields = _free_choice(tools, model, fields)
    limits: dict[str, Any] = {"maxTokens": most}
    if options.temperature is not None and compat.temperature and not _thinks(fields):
        limits["temperature"] = options.temperature
    limits |= sampling_params(model, options.reasoning)
    payload: dict[str, Any] = {"modelId": model.id, "messages": messages, "inferenceConfig": limits}
    parts = {
        "system": system,
        "toolConfig": tools,
        "additionalModelRequestFields": fields,
        "outputConfig": _output_config(options, compat),
    }
    return payload | {name: part for name, part in parts.items() if part}


def _mark(system: list[dict[str, Any]], messages: list[dict[str, Any]], options: StreamOptions, compat: Compat) -> None:
    """Put a cache point after the system prompt and after the last user message."""
    retention = options.cache_retention or "short"
    if retention == "none" or not compat.cache:
        return
    point = {"type": "default", "ttl": "1h"} if retention == "long" and compat.long_cache else {"type": "default"}
    if system:
        system.append({"cachePoint": point})
    last = next((number for number in reversed(range(len(messages))) if messages[number]["role"] == "user"), None)
    if last is not None:  # a copy: what is sent of a message is kept
        messages[last] = {**messages[last], "content": [*messages[last]["content"], {"cachePoint": point}]}


def _limits(model: Model, context: Context, options: StreamOptions, compat: Compat) -> tuple[int, dict[str, Any]]:
    """Return the output limit, and the model's own thinking fields; Converse has none."""
    room = default_max_tokens(model, estimate_context_tokens(context))
    most = min(options.max_tokens or room, room)
    if not (model.reasoning and compat.claude):
        return most, {}
    total, fields = claude_thinking(model, options, most, room, adaptive=compat.adaptive, display=compat.display)
    if fields["thinking"]["type"] == "enabled":
        fields["anthropic_beta"] = [_INTERLEAVED_BETA]
    return total, fields


def _output_config(options: StreamOptions, compat: Compat) -> dict[str, Any]:
    """Return the output schema field, which the API takes as a JSON string."""
    schema = claude_output_schema(options.output_schema or {}) if compat.structured_output else None
    if schema is None:
        return {}
    structure = {"jsonSchema": {"name": "output", "schema": json.dumps(schema)}}
    return {"textFormat": {"type": "json_schema", "structure": structure}}


def _thinks(fields: dict[str, Any]) -> bool:
    return bool(fields.get("thinking", {}).get("type", "disabled") != "disabled")


def _free_choice(tools: dict[str, Any], model: Model, fields: dict[str, Any]) -> dict[str, Any]:
    """Resolve thinking with a forced call, which Claude rejects: turn one of them off."""
    if not _thinks(fields) or not tools.get("toolChoice", {}).keys() & {"any", "tool"}:
        return fields
    if "off" in supported_thinking_levels(model):
        return {"thinking": {"type": "disabled"}}
    tools["toolChoice"] = {"auto": {}}
    return fields
