"""Cloud Code Assist's request envelope: project, client metadata, and a fallback host."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pi_hookspecs.errors import RequestFailed
from pi_provider_google.exchange import Call

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions

__all__ = ["METADATA", "code_assist_call", "code_assist_headers", "credentials_of", "is_antigravity"]

_HOST = "https://cloudcode-pa.googleapis.com"
"""Host of Gemini CLI; the fallback for Antigravity."""

_CLIENT = "google-cloud-sdk vscode_cloudshelleditor/0.1"
METADATA = {"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}
"""Client metadata."""

_ANTIGRAVITY = "antigravity/1.18.4 darwin/arm64"

_CLAUDE_BETA = "interleaved-thinking-2025-05-14"


def code_assist_call(model: Model, request: dict[str, Any], options: StreamOptions, key: str) -> Call:
    """Return the request in its wrapper.

    Args:
        model: ``compat.fallbackBaseUrl`` is used where its base URL does not answer.
        request: The body for the Gemini API.
        options: Their ``session_id`` keeps a session together.
        key: The login's JSON: ``{"token": ..., "projectId": ...}``.

    Raises:
        RequestFailed: The key is not from a login.
    """
    token, project = credentials_of(key, model.provider)
    antigravity = is_antigravity(model)
    if options.session_id:
        request = {**request, "sessionId": options.session_id}
    payload: dict[str, Any] = {"project": project, "model": model.id, "request": request}
    if antigravity:
        payload["requestType"] = "agent"
    payload["userAgent"] = "antigravity" if antigravity else "pi-coding-agent"
    payload["requestId"] = f"{'agent' if antigravity else 'pi'}-{time.time_ns() // 1_000_000}-{uuid4().hex[:9]}"
    headers = code_assist_headers(antigravity=antigravity)
    if antigravity and model.id.startswith("claude-") and model.reasoning:
        headers["anthropic-beta"] = _CLAUDE_BETA
    return Call(
        bases=_bases(model),
        path="v1internal:streamGenerateContent?alt=sse",
        payload=payload,
        headers={**headers, **(model.headers or {}), "authorization": f"Bearer {token}"},
        secrets=(token,),
        error_text="Cloud Code Assist API error ({status}): {body}",
    )


def code_assist_headers(*, antigravity: bool) -> dict[str, str]:
    """Return the client's headers, by which the service decides what the account may use."""
    headers = {"client-metadata": json.dumps(METADATA, separators=(",", ":"))}
    if antigravity:
        return {"user-agent": _ANTIGRAVITY, "x-goog-api-client": _CLIENT, **headers}
    return {"user-agent": _CLIENT, "x-goog-api-client": "gl-node/22.17.0", **headers}


def credentials_of(key: str, provider: str) -> tuple[str, str]:
    """Return token and project of a login's JSON.

    Raises:
        RequestFailed: It has another format; the message does not contain it.
    """
    try:
        credential = json.loads(key)
        token, project = credential["token"], credential["projectId"]
    except (ValueError, KeyError, TypeError):
        token = project = None
    if not isinstance(token, str) or not isinstance(project, str) or not token or not project:
        message = (
            f"The key for provider {provider!r} is not that of a login, which has token and projectId. "
            f"Log in: pi auth login {provider}"
        )
        raise RequestFailed(message)
    return token, project


def is_antigravity(model: Model) -> bool:
    """Whether the request is one of Antigravity: by the provider, or by its host."""
    return model.provider == "google-antigravity" or _is_sandbox(model.base_url)


def _bases(model: Model) -> tuple[str, ...]:
    first = model.base_url or _HOST
    other = (model.compat or {}).get("fallbackBaseUrl") or (_HOST if _is_sandbox(first) else None)
    return (first, other) if isinstance(other, str) else (first,)


def _is_sandbox(base_url: str) -> bool:
    from pi_provider_kit import host_of

    return host_of(base_url).endswith(".sandbox.googleapis.com")
