"""The body and the headers of a Chat Completions request, with the reasoning fields of a dozen hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_provider_kit import SentTools, host_headers, sampling_params, supported_thinking_levels, thinking_budget
from pi_provider_openai.completions_messages import mark_for_cache, to_messages
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
    from collections.abc import Callable, Mapping

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_provider_openai.shared import Thinking

__all__ = ["completions_headers", "completions_payload", "completions_thinking", "thinking_fields"]

_ANSWER = 1024
"""Minimum tokens for the answer."""

_NO_FORCED_CALLS = ("deepseek", "qwen")
"""``thinkingFormat`` of hosts that refuse thinking together with a forced call: DeepSeek, Moonshot, Alibaba."""


def completions_thinking(model: Model, options: StreamOptions, compat: Mapping[str, Any]) -> Thinking:
    """Return the requested reasoning; ``effort`` is None for "off" where the model cannot be turned off."""
    return thinking_of(model, options, compat["reasoningEffortMap"])


def thinking_fields(model: Model, options: StreamOptions, compat: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the reasoning fields of the request; empty for a model without reasoning.

    Args:
        model: The model.
        options: Their ``reasoning`` and ``thinking_budgets``.
        compat: Every flag of the host.
        limit: Tokens that thinking and answer may take together.
    """
    if not model.reasoning:
        return {}
    requested = _Requested(model, options, compat, limit)
    fields = _FORMATS.get(compat["thinkingFormat"], _openai)(requested)
    name = compat["thinkingTokenBudgetField"]
    if name is None and compat["supportsThinkingTokenBudget"]:
        name = "thinking_token_budget"
    if name and requested.budget:
        fields[name] = requested.budget
    return fields


class _Requested:
    """The requested reasoning, with the values that the formats need."""

    def __init__(self, model: Model, options: StreamOptions, compat: Mapping[str, Any], limit: int) -> None:
        thinking = completions_thinking(model, options, compat)
        self.compat = compat
        self.on = thinking.level is not None
        self.word = thinking.effort
        """The host's value for the level, or for "off"; None if it cannot be turned off."""
        self.own_word = (model.thinking_level_map or {}).get(thinking.level or "off")
        """The same, only from the model's own map."""
        budget = thinking_budget(thinking.level, options.thinking_budgets) if thinking.level else 0
        self.budget = min(budget, max(0, limit - _ANSWER))

    def effort(self) -> dict[str, Any]:
        """Return ``reasoning_effort`` where the host supports it and reasoning is on."""
        return {"reasoning_effort": self.word} if self.on and self.compat["supportsReasoningEffort"] else {}


def _openai(requested: _Requested) -> dict[str, Any]:
    if requested.on:
        return requested.effort()
    known = requested.own_word is not None and requested.compat["supportsReasoningEffort"]
    return {"reasoning_effort": requested.own_word} if known else {}


def _zai(requested: _Requested) -> dict[str, Any]:
    thinking = {"type": "enabled", "clear_thinking": False} if requested.on else {"type": "disabled"}
    return {"thinking": thinking, **requested.effort()}


def _qwen(requested: _Requested) -> dict[str, Any]:
    return {"enable_thinking": requested.on, **requested.effort()}


def _qwen_chat_template(requested: _Requested) -> dict[str, Any]:
    return {"chat_template_kwargs": {"enable_thinking": requested.on, "preserve_thinking": True}}


def _chat_template(requested: _Requested) -> dict[str, Any]:
    values = _template_values(requested, requested.compat["chatTemplateKwargs"])
    return {"chat_template_kwargs": values} if values else {}


def _baseten(requested: _Requested) -> dict[str, Any]:
    values = _template_values(requested, requested.compat["chatTemplateArgs"])
    fields: dict[str, Any] = {"chat_template_args": values} if values else {}
    return {**fields, **_openai(requested)}


def _deepseek(requested: _Requested) -> dict[str, Any]:
    if requested.on:
        return {"thinking": {"type": "enabled"}, **requested.effort()}
    return {"thinking": {"type": "disabled"}} if requested.word is not None else {}


def _openrouter(requested: _Requested) -> dict[str, Any]:
    return {"reasoning": {"effort": requested.word}} if requested.word is not None else {}


def _ant_ling(requested: _Requested) -> dict[str, Any]:
    return {"reasoning": {"effort": requested.own_word}} if requested.on and requested.own_word is not None else {}


def _together(requested: _Requested) -> dict[str, Any]:
    return {"reasoning": {"enabled": requested.on}, **requested.effort()}


def _string(requested: _Requested) -> dict[str, Any]:
    return {"thinking": requested.word} if requested.word is not None else {}


_FORMATS: dict[str, Callable[[_Requested], dict[str, Any]]] = {
    "openai": _openai,
    "zai": _zai,
    "qwen": _qwen,
    "qwen-chat-template": _qwen_chat_template,
    "chat-template": _chat_template,
    "baseten": _baseten,
    "deepseek": _deepseek,
    "openrouter": _openrouter,
    "ant-ling": _ant_ling,
    "together": _together,
    "string-thinking": _string,
}


def _template_values(requested: _Requested, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a server's chat template; ``{"$var": NAME}`` is replaced by a value.

    The variables are ``thinking.enabled``, ``thinking.budget`` (tokens) and ``thinking.effort``; with ``omitWhenOff``
    a value is left out where reasoning is off.
    """
    given: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(value, dict):
            given[name] = value
        elif requested.on or not value.get("omitWhenOff"):
            known = {"thinking.enabled": requested.on, "thinking.budget": requested.budget or None}
            word = requested.word if requested.on else requested.own_word
            if (found := known.get(value.get("$var", ""), word)) is not None:
                given[name] = found
    return given


def completions_payload(
    model: Model, context: Context, options: StreamOptions, compat: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the body, as plain data; ``compat`` has every flag (``compat_of``)."""
    retention = cache_retention(options)
    sent = SentTools(context.tools, model)
    messages = to_messages(model, context, options, compat, sent)
    tools = [{"type": "function", "function": function_of(tool, model, compat)} for tool in sent]
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
        payload["tool_choice"] = _tool_choice(options.tool_choice, sent)
    if options.output_schema is not None and compat["supportsStructuredOutput"]:
        payload["response_format"] = {"type": "json_schema", "json_schema": output_format(options.output_schema)}
    if _excludes(payload.get("tool_choice"), model, options, compat):
        if "off" in supported_thinking_levels(model):
            options = evolve(options, reasoning="off")
        else:
            payload["tool_choice"] = "auto"
    payload.update(thinking_fields(model, options, compat, limit))
    payload.update(_routing(compat))
    payload.update(sampling_params(model, options.reasoning))
    return payload


def _excludes(choice: Any, model: Model, options: StreamOptions, compat: Mapping[str, Any]) -> bool:
    """Whether the host refuses to think with this tool choice, which forces a call."""
    forces = choice == "required" or isinstance(choice, dict)
    return (
        forces
        and compat["thinkingFormat"] in _NO_FORCED_CALLS
        and completions_thinking(model, options, compat).level is not None
    )


def completions_headers(
    model: Model, context: Context, options: StreamOptions, compat: Mapping[str, Any]
) -> dict[str, str]:
    """Return the headers without the key."""
    headers = {**(model.headers or {}), **host_headers(model, context.messages, options)}
    if compat["sendSessionAffinityHeaders"]:
        headers.update(affinity_headers(options, compat["sessionAffinityFormat"], completions=True))
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


def _tool_choice(choice: Any, sent: SentTools) -> Any:
    """Return the choice in this API's format; ``any`` and ``{"type": "tool", "name": ...}`` are Anthropic's."""
    if choice == "any":
        return "required"
    if isinstance(choice, dict) and choice.get("type") in ("tool", "function"):
        name = choice.get("name") or (choice.get("function") or {}).get("name")
        if isinstance(name, str):
            return {"type": "function", "function": {"name": sent.sent(name)}}
    return choice


def _has_tool_history(messages: list[dict[str, Any]]) -> bool:
    return any(message["role"] == "tool" or "tool_calls" in message for message in messages)
