"""The body and the headers of a Chat Completions request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import sampling_params
from pi_provider_openai.completions_messages import mark_for_cache, to_messages
from pi_provider_openai.completions_thinking import thinking_fields
from pi_provider_openai.shared import (
    affinity_headers,
    cache_key,
    cache_retention,
    copilot_headers,
    max_tokens,
)
from pi_provider_openai.strict import function_of, output_format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions

__all__ = ["completions_headers", "completions_payload"]


def completions_payload(
    model: Model, context: Context, options: StreamOptions, compat: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the body, as plain data; ``compat`` has every flag (``compat_of``)."""
    retention = cache_retention(options)
    messages = to_messages(model, context, compat)
    tools = [{"type": "function", "function": function_of(tool, model, compat)} for tool in context.tools]
    mark_for_cache(messages, tools, retention, compat)
    limit = max_tokens(model, context, options)
    payload: dict[str, Any] = {
        "model": model.id,
        "messages": messages,
        "stream": True,
        compat["maxTokensField"]: limit,
        **_switches(compat),
        **_caching(options, retention, compat),
    }
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    if tools or (compat["requiresToolsWithToolHistory"] and _has_tool_history(messages)):
        payload["tools"] = tools
    if tools and compat["zaiToolStream"]:
        payload["tool_stream"] = True
    if tools and options.tool_choice is not None:
        payload["tool_choice"] = _tool_choice(options.tool_choice)
    if options.output_schema is not None and compat["supportsStructuredOutput"]:
        payload["response_format"] = {"type": "json_schema", "json_schema": output_format(options.output_schema)}
    payload.update(thinking_fields(model, options, compat, limit))
    payload.update(_routing(compat))
    payload.update(sampling_params(model, options.reasoning))
    return payload


def completions_headers(
    model: Model, context: Context, options: StreamOptions, compat: Mapping[str, Any]
) -> dict[str, str]:
    """Return the headers without the key."""
    headers = {**(model.headers or {}), **copilot_headers(model, context.messages)}
    if compat["sendSessionAffinityHeaders"]:
        headers.update(affinity_headers(options, compat["sessionAffinityFormat"], marked=True))
    return headers


def _switches(compat: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if compat["supportsUsageInStreaming"]:
        fields["stream_options"] = {"include_usage": True}
    if compat["supportsStore"]:
        fields["store"] = False
    if compat["vllmPriority"] is not None:
        fields["priority"] = compat["vllmPriority"]
    return fields


def _caching(options: StreamOptions, retention: str, compat: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    long = retention == "long" and compat["supportsLongCacheRetention"]
    wanted = {"session": retention != "none", "long": long}.get(compat["promptCacheKeyMode"], False)
    key = cache_key(options)
    if wanted and key is not None:
        fields["prompt_cache_key"] = key
    if long:
        fields["prompt_cache_retention"] = "24h"
    return fields


def _routing(compat: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if compat["openRouterRouting"]:
        fields["provider"] = compat["openRouterRouting"]
    gateway = compat["vercelGatewayRouting"] or {}
    gateway = {name: gateway[name] for name in ("only", "order") if gateway.get(name)}
    if gateway:
        fields["providerOptions"] = {"gateway": gateway}
    return fields


def _tool_choice(choice: Any) -> Any:
    """Return the choice in this API's format; ``any`` and ``{"type": "tool", "name": ...}`` are Anthropic's."""
    if choice == "any":
        return "required"
    if isinstance(choice, dict) and choice.get("type") in ("tool", "function") and "name" in choice:
        return {"type": "function", "function": {"name": choice["name"]}}
    return choice


def _has_tool_history(messages: list[dict[str, Any]]) -> bool:
    return any(message["role"] == "tool" or "tool_calls" in message for message in messages)
