"""The body and the headers of a Responses request; Azure and Codex change a few fields of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import SentTools, host_headers, host_of, sampling_params
from pi_provider_openai.responses_messages import to_input
from pi_provider_openai.shared import (
    affinity_headers,
    cache_key,
    cache_retention,
    function_of,
    max_tokens,
    output_format,
    thinking_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions

__all__ = [
    "ENCRYPTED",
    "responses_compat",
    "responses_headers",
    "responses_payload",
    "responses_thinking",
    "responses_tool_choice",
]

_AZURE = "azure-openai-responses"
_CODEX = "openai-codex-responses"

_WITH_DEVELOPER = ("openai", "github-copilot")
"""Providers that know the role ``developer``; every host knows ``system``."""

ENCRYPTED = "reasoning.encrypted_content"
"""Requested because nothing is stored: the next request sends the reasoning back."""

_LEAST_OUTPUT = 16
"""The API rejects a lower ``max_output_tokens``."""

_DEFAULTS: dict[str, Any] = {
    "promptCacheKeyMode": "session",
    "sessionAffinityFormat": "openai",
    "supportsDeveloperRole": False,
    "supportsLongCacheRetention": True,
    "supportsMaxOutputTokens": True,
    "supportsMidConvoSystemMessages": False,
    "supportsReasoningEffort": True,
    "supportsStrictMode": False,
    "supportsStructuredOutput": True,
}


def responses_compat(model: Model) -> dict[str, Any]:
    """Return every flag's value; ``model.compat`` overrides the defaults of the API and the host."""
    host = host_of(model.base_url)
    flags = dict(_DEFAULTS)
    at_openai = f".{host}".endswith(".api.openai.com")
    flags["supportsDeveloperRole"] = at_openai or model.api in (_AZURE, _CODEX) or model.provider in _WITH_DEVELOPER
    if model.api == _AZURE:
        flags |= {"supportsStrictMode": True, "supportsLongCacheRetention": False}
    elif at_openai:
        flags["supportsStrictMode"] = True
    if model.provider == "openrouter" or host.endswith("openrouter.ai"):
        flags["sessionAffinityFormat"] = "openrouter"
    if model.provider == "github-copilot":  # its gateway does not report which models support it
        flags["supportsStructuredOutput"] = False
    flags.update({name: value for name, value in (model.compat or {}).items() if value is not None})
    return flags


def responses_payload(
    model: Model, context: Context, options: StreamOptions, compat: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the body, as plain data."""
    sent = SentTools(context.tools, model)
    payload: dict[str, Any] = {
        "model": model.id,
        "input": to_input(model, context, options, compat, sent),
        "stream": True,
        "store": False,
    }
    key = cache_key(options)
    if key is not None and compat["promptCacheKeyMode"] != "none":
        payload["prompt_cache_key"] = key
    if cache_retention(options) == "long" and compat["supportsLongCacheRetention"]:
        payload["prompt_cache_retention"] = "24h"
    if compat["supportsMaxOutputTokens"]:
        payload["max_output_tokens"] = max(_LEAST_OUTPUT, max_tokens(model, context, options))
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    if context.tools:
        payload["tools"] = [{"type": "function", **function_of(tool, model, compat)} for tool in sent]
        if options.tool_choice is not None:
            payload["tool_choice"] = responses_tool_choice(options.tool_choice, sent)
    if options.output_schema is not None and compat["supportsStructuredOutput"]:
        payload["text"] = {"format": {"type": "json_schema", **output_format(options.output_schema)}}
    payload.update(responses_thinking(model, options, compat))
    payload.update(sampling_params(model, options.reasoning))
    return payload


def responses_headers(
    model: Model, context: Context, options: StreamOptions, compat: Mapping[str, Any]
) -> dict[str, str]:
    """Return the headers without the key."""
    return {
        **(model.headers or {}),
        **host_headers(model, context.messages, options),
        **affinity_headers(options, compat["sessionAffinityFormat"]),
    }


def responses_thinking(model: Model, options: StreamOptions, compat: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reasoning fields: an effort and summaries, or the model's value for "off" alone."""
    if not model.reasoning or not compat["supportsReasoningEffort"]:
        return {}
    level, effort = thinking_of(model, options)
    if level is not None:
        return {"reasoning": {"effort": effort, "summary": "auto"}, "include": [ENCRYPTED]}
    fields: dict[str, Any] = {"include": [ENCRYPTED]} if model.provider == "xai" else {}
    if effort is not None and model.provider != "github-copilot":
        fields["reasoning"] = {"effort": effort}
    return fields


def responses_tool_choice(choice: Any, sent: SentTools) -> Any:
    """Return the choice in this API's format; ``any`` and ``{"type": "tool", "name": ...}`` are Anthropic's."""
    if choice == "any":
        return "required"
    if isinstance(choice, dict) and choice.get("type", "function") in ("tool", "function"):
        name = choice.get("name") or (choice.get("function") or {}).get("name")
        if isinstance(name, str):
            return {"type": "function", "name": sent.sent(name)}
    return choice
