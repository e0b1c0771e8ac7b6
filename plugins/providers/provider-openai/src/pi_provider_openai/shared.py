"""Common parts of the requests of all APIs: levels, limits, caching, headers, JSON, strict schemas."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_hookspecs.content import TextContent
from pi_hookspecs.errors import RequestFailed
from pi_hookspecs.messages import Usage
from pi_provider_kit import (
    HttpRequest,
    clamp_thinking_level,
    default_max_tokens,
    estimate_context_tokens,
    parse_json,
    shown_bytes,
    strict_parameters,
    strict_schema,
    token_count,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.tools import Tool

__all__ = [
    "Thinking",
    "affinity_headers",
    "cache_key",
    "cache_retention",
    "counted_tokens",
    "function_of",
    "loads",
    "max_tokens",
    "output_format",
    "request_for",
    "result_text",
    "thinking_of",
    "tier_factor",
]

_CACHE_KEY = 64
"""Maximum characters of a prompt cache key."""

_TIERS = {"flex": 0.5, "priority": 2.0}
"""OpenAI's prices of a service tier, as multiples of the standard ones."""

_FAST = (("gpt-5.5", 2.5),)
"""Models whose priority tier has another price."""


class Thinking(NamedTuple):
    """The reasoning effort in the API's terms.

    Attributes:
        level: pi's level; None is off.
        effort: The API's value; None if it has none for "off".
    """

    level: ThinkingLevel | None
    effort: str | None


def thinking_of(
    model: Model, options: StreamOptions, names: Mapping[str, str | None] | None = None, *, off: str | None = "none"
) -> Thinking:
    """Return the requested reasoning, limited to what the model supports.

    Args:
        model: Its ``thinking_level_map`` has the API's values; null for ``off`` means that it cannot be turned off.
        options: Their ``reasoning``.
        names: Further values, which the model's own map overrides (``reasoningEffortMap``).
        off: The API's value for "off" where the model has none of its own.
    """
    words = {**(names or {}), **(model.thinking_level_map or {})}
    level = None if options.reasoning in (None, "off") else clamp_thinking_level(model, options.reasoning)
    if level is None or level == "off" or not model.reasoning:
        return Thinking(None, words.get("off", off))
    return Thinking(level, words.get(level, level))


def max_tokens(model: Model, context: Context, options: StreamOptions) -> int:
    """Return the output tokens to request: the options' own, else the model's limit within the window."""
    return options.max_tokens or default_max_tokens(model, estimate_context_tokens(context))


def cache_retention(options: StreamOptions) -> str:
    """Return ``none``, ``short`` or ``long``: of the options, else of ``PI_CACHE_RETENTION``, else ``short``."""
    wanted = options.cache_retention or os.environ.get("PI_CACHE_RETENTION", "").strip().lower()
    return wanted if wanted in ("none", "short", "long") else "short"


def cache_key(options: StreamOptions) -> str | None:
    """Return the session's id as a cache key; None if caching is off."""
    if not options.session_id or cache_retention(options) == "none":
        return None
    return options.session_id[:_CACHE_KEY]


def affinity_headers(options: StreamOptions, style: str, *, completions: bool = False) -> dict[str, str]:
    """Return the headers for session affinity.

    Args:
        options: Their ``session_id``; without one, or without caching, there are none.
        style: ``openai``, ``openai-nosession`` or ``openrouter`` (``sessionAffinityFormat``).
        completions: As Chat Completions has them: ``session_id`` and not ``session-id``, and ``x-session-affinity``.
    """
    session = options.session_id
    if not session or cache_retention(options) == "none":
        return {}
    if style == "openrouter":
        return {"x-session-id": session}
    headers = {"x-client-request-id": session}
    if style == "openai":
        headers["session_id" if completions else "session-id"] = session
    if completions:
        headers["x-session-affinity"] = session
    return headers


def request_for(model: Model, options: StreamOptions, path: str, payload: dict[str, Any]) -> HttpRequest:
    """Return the request to an API that does not stream, with the key as a bearer token if there is one."""
    headers = dict(model.headers or {})
    if options.api_key:
        headers["authorization"] = f"Bearer {options.api_key}"
    return HttpRequest(url=f"{model.base_url.rstrip('/')}{path}", body=payload, headers=headers)


def result_text(content: Iterable[Any]) -> str:
    """Return the text of a tool's result, or a placeholder where it has only images."""
    text = "\n".join(block.text for block in content if isinstance(block, TextContent))
    return text or "(see attached image)"


def loads(data: bytes) -> Any:
    """Return an event's JSON.

    Raises:
        RequestFailed: It is not JSON. That is not retried: the host would send the same again.
    """
    try:
        return parse_json(data)
    except ValueError as error:
        message = f"The host sent an event that is not JSON: {shown_bytes(data)}. Choose another model."
        raise RequestFailed(message) from error


def counted_tokens(usage: dict[str, Any], names: tuple[str, str], inputs: Any, outputs: Any) -> Usage:
    """Return the tokens that a host reports, without their price.

    The input includes cache reads and writes, and the output the reasoning. Some hosts leave one of them out: the total
    tells which. Some name one prompt as read and as written.

    Args:
        usage: The report.
        names: The keys of all input and all output.
        inputs: The parts of the input, if there are any.
        outputs: The parts of the output.
    """
    inputs = inputs if isinstance(inputs, dict) else {}
    outputs = outputs if isinstance(outputs, dict) else {}
    read = token_count(inputs.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens"))
    written = token_count(inputs.get("cache_write_tokens"))
    reasoning = token_count(outputs.get("reasoning_tokens"), usage.get("reasoning_tokens"))
    prompt, output = (token_count(usage.get(name)) for name in names)
    missing = max(0, token_count(usage.get("total_tokens")) - prompt - output)
    if missing and missing != reasoning and missing in (read, written, read + written):
        prompt += missing  # the cached tokens are not in it
    elif missing and missing != token_count(inputs.get("audio_tokens")) + token_count(outputs.get("audio_tokens")):
        output += missing
        reasoning = max(reasoning, missing)
    if max(read, written) <= prompt < read + written:  # the same tokens, under two names
        written = prompt - read if written != read else 0
    return Usage(
        input=max(0, prompt - read - written), output=output, cache_read=read, cache_write=written, reasoning=reasoning
    )


def tier_factor(tier: str | None, model: Model) -> float:
    """Return the multiple of the model's prices that the service tier of an answer costs."""
    if tier == "priority":
        return next((factor for name, factor in _FAST if model.id.startswith(name)), _TIERS[tier])
    return 1.0 if tier is None or model.provider == "groq" else _TIERS.get(tier, 1.0)  # flex is Groq's usual price


def function_of(tool: Tool, model: Model, compat: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, description and schema of a tool as ``SentTools`` has it.

    Every tool has a ``strict`` where ``supportsStrictMode`` is set: OpenAI treats a tool without it as strict
    and changes its schema. Other hosts may reject an unknown field.

    Raises:
        RequestFailed: The tool requires constrained sampling, and that cannot be.
    """
    supported = bool(compat["supportsStrictMode"])
    schema = strict_parameters(tool, model, supported=supported)
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters if schema is None else schema,
    }
    return {**function, "strict": schema is not None} if supported else function


def output_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name, schema and strictness of an answer; one without a strict form is only a hint to the model."""
    strict = strict_schema(schema, references=True)
    return {"name": "output", "schema": dict(schema) if strict is None else strict, "strict": strict is not None}
