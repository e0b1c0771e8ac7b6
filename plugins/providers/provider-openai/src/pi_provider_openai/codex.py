"""Differences of the ChatGPT backend from Responses: instructions, an account, other efforts."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import RequestFailed
from pi_provider_kit import HttpFailed, SentTools, sampling_params, system_prompt_of
from pi_provider_openai.responses_messages import to_input
from pi_provider_openai.responses_request import (
    ENCRYPTED,
    responses_compat,
    responses_tool_choice,
)
from pi_provider_openai.shared import affinity_headers, cache_key, function_of, thinking_of

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions

__all__ = ["account_of", "codex_base_url", "codex_headers", "codex_limit", "codex_payload"]

_BASE_URL = "https://chatgpt.com/backend-api"

_CLAIM = "https://api.openai.com/auth"

_INSTRUCTIONS = "You are a helpful assistant."
"""Sent where there is no system prompt: the backend rejects a request without instructions."""


def codex_payload(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return the body."""
    compat = responses_compat(model)
    sent = SentTools(context.tools, model)
    prompt = context.system_prompt if compat["supportsMidConvoSystemMessages"] else system_prompt_of(context)
    payload: dict[str, Any] = {
        "model": model.id,
        "store": False,
        "stream": True,
        "instructions": prompt if prompt.strip() else _INSTRUCTIONS,
        "input": to_input(model, context, options, compat, sent, with_prompt=False),
        "text": {"verbosity": "medium"},
        "include": [ENCRYPTED],
        "tool_choice": "auto" if options.tool_choice is None else responses_tool_choice(options.tool_choice, sent),
        "parallel_tool_calls": True,
    }
    key = cache_key(options)
    if key is not None:
        payload["prompt_cache_key"] = key
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    if context.tools:
        strict = {} if (model.compat or {}).get("supportsStrictMode") is False else {"strict": None}
        plain = {**compat, "supportsStrictMode": False}
        payload["tools"] = [{"type": "function", **function_of(tool, model, plain), **strict} for tool in sent]
    thinking = thinking_of(model, options)
    if thinking.level is not None:
        effort = _effort(model.id, str(thinking.effort))
        payload["reasoning"] = {"effort": effort, "summary": "auto"}
    elif model.reasoning and thinking.effort is not None:
        payload["reasoning"] = {"effort": thinking.effort}
    payload.update(sampling_params(model, options.reasoning))
    return payload


def codex_headers(model: Model, options: StreamOptions, token: str) -> dict[str, str]:
    """Return the headers without the token.

    Raises:
        RequestFailed: The token names no account.
    """
    return {
        **(model.headers or {}),
        **affinity_headers(options, "openai"),
        "chatgpt-account-id": account_of(token),
        "originator": "pi",
        "openai-beta": "responses=experimental",
    }


def codex_base_url(base_url: str) -> str:
    """Return the base URL for ``/responses``, completing a partial one."""
    base_url = (base_url.strip() or _BASE_URL).rstrip("/").removesuffix("/responses")
    return base_url if base_url.endswith("/codex") else f"{base_url}/codex"


def account_of(token: str) -> str:
    """Return the account of a ChatGPT token.

    Raises:
        RequestFailed: It names none; the token is not in the message.
    """
    from pi_provider_kit.oauth import jwt_payload

    try:
        account = jwt_payload(token)[_CLAIM]["chatgpt_account_id"]
    except (ValueError, KeyError, TypeError):
        account = None
    if not isinstance(account, str) or not account:
        raise RequestFailed("Failed to extract accountId from token. Run pi auth login openai-codex.")
    return account


def codex_limit(problem: Exception) -> Exception:
    """Return the failure with the reset time of a plan's limit, which is only in the body."""
    if not isinstance(problem, HttpFailed) or problem.retry_after_ms is not None or not problem.body:
        return problem
    try:
        error = json.loads(problem.body)["error"]
        seconds = error.get("resets_in_seconds")
        at = error.get("resets_at")
    except (ValueError, KeyError, TypeError, AttributeError):
        return problem
    if not isinstance(seconds, int | float) and isinstance(at, int | float):
        seconds = at - time.time()
    if isinstance(seconds, int | float):
        problem.retry_after_ms = max(0, round(seconds * 1000))
    return problem


def _effort(model_id: str, effort: str) -> str:
    """Return the effort supported by a model of the backend, where the model's data have none."""
    name = model_id.rpartition("/")[2]
    if name.startswith("gpt-5.1-codex-mini"):
        return "high" if effort in ("high", "xhigh", "max") else "medium"
    if re.match(r"gpt-5\.1(?!\d)(?!-codex-max)", name) and effort == "xhigh":
        return "high"
    if re.match(r"gpt-5\.(?:[2-9]|\d\d)", name) and effort == "minimal":
        return "low"
    return effort
