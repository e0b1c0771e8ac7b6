"""URL, headers and body of a request, with thinking, caching and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import (
    SentTools,
    clamp_thinking_level,
    default_max_tokens,
    estimate_context_tokens,
    sampling_params,
    strict_parameters,
)
from pi_provider_mistral.messages import to_messages

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.tools import Tool

__all__ = ["ERROR_TEXT", "chat_url", "to_headers", "to_payload"]

ERROR_TEXT = "Mistral API error ({status}): {body}"
"""Template of the API's errors."""

_EFFORT = "high"
"""Default effort of a level that the model's data do not map."""


def chat_url(base_url: str) -> str:
    """Return the URL of conversations; a base URL may end in ``/v1``."""
    return f"{base_url.rstrip('/').removesuffix('/v1')}/v1/chat/completions"


def to_headers(model: Model, options: StreamOptions) -> dict[str, str]:
    """Return the headers. ``x-affinity`` routes a session to its cached prefix; the user's own one takes precedence."""
    headers: dict[str, str] = {}
    session = _cached_session(options)
    if session is not None:
        headers["x-affinity"] = session
    headers.update({name.lower(): value for name, value in (model.headers or {}).items()})
    if options.api_key:
        headers["authorization"] = f"Bearer {options.api_key}"
    return headers


def _cached_session(options: StreamOptions) -> str | None:
    """Return the session id for the API's prompt cache."""
    return None if options.cache_retention == "none" else options.session_id or None


def to_payload(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the body as plain data.

    Raises:
        RequestFailed: A tool requires constrained sampling, and its schema has no strict form.
    """
    sent = SentTools(context.tools, model)
    payload: dict[str, Any] = {
        "model": model.id,
        "stream": True,
        "messages": to_messages(model, context, options, sent),
        "max_tokens": options.max_tokens or default_max_tokens(model, estimate_context_tokens(context)),
    }
    session = _cached_session(options)
    if session is not None:
        payload["prompt_cache_key"] = session
    if context.tools:
        payload["tools"] = [_tool(tool, model) for tool in sent]
        if options.tool_choice is not None:
            payload["tool_choice"] = _tool_choice(options.tool_choice, sent)
    elif options.output_schema is not None:  # with tools the API would answer in JSON where it should call one
        schema = {"name": "output", "schema": dict(options.output_schema), "strict": True}
        payload["response_format"] = {"type": "json_schema", "json_schema": schema}
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    return payload | _thinking(model, options) | sampling_params(model, options.reasoning)


def _thinking(model: Model, options: StreamOptions) -> dict[str, Any]:
    """Return the reasoning fields: an effort where the model has levels for it, else the prompt mode, on or off."""
    if not model.reasoning:
        return {}
    level = clamp_thinking_level(model, options.reasoning)
    if model.thinking_level_map is not None or (model.compat or {}).get("supportsReasoningEffort"):
        effort = (model.thinking_level_map or {}).get(level, None if level == "off" else _EFFORT)
        return {"reasoning_effort": effort} if effort else {}
    return {} if level == "off" else {"prompt_mode": "reasoning"}


def _tool(tool: Tool, model: Model) -> dict[str, Any]:
    # Only on request: Mistral Large 4 is silent for minutes before a call of a strict tool.
    strict = strict_parameters(tool, model, supported=bool((model.compat or {}).get("supportsStrictMode")))
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters if strict is None else strict,
        "strict": strict is not None,
    }
    return {"type": "function", "function": function}


def _tool_choice(choice: Any, sent: SentTools) -> Any:
    """Return the choice in this API's format: ``auto``, ``none``, ``any``, ``required`` or one function."""
    if isinstance(choice, dict):
        name = choice.get("name") or (choice.get("function") or {}).get("name")
        if name:
            return {"type": "function", "function": {"name": sent.sent(name)}}
        return choice.get("type", "auto")  # Anthropic's format: {"type": "any"}
    return choice
