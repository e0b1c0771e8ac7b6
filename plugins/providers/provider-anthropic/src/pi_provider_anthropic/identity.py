"""Identity of a request: headers, key, betas, and the tool names of a subscription."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_anthropic.auth_token import auth_token
from pi_provider_anthropic.tool_changes import PLACEHOLDER
from pi_provider_kit import SentTools, host_headers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_hookspecs.tools import Tool
    from pi_provider_anthropic.compat import Compat

__all__ = ["CLAUDE_CODE", "ToolNames", "is_bearer", "is_oauth", "to_headers"]

API_VERSION = "2023-06-01"

CLAUDE_CODE = "You are Claude Code, Anthropic's official CLI for Claude."
"""First system block of a request with a subscription's token."""

CLAUDE_CLI = "claude-cli/2.1.322"

_CLAUDE_CODE_TOOL_NAMES = (
    *("Read", "Write", "Edit", "Bash", "Grep", "Glob", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode"),
    *("KillShell", "NotebookEdit", "Skill", "Task", "TaskOutput", "TodoWrite", "WebFetch", "WebSearch"),
)
_CLAUDE_CODE_TOOLS = {name.lower(): name for name in _CLAUDE_CODE_TOOL_NAMES}

_OAUTH_BETAS = ("claude-code-20250219", "oauth-2025-04-20")
_FINE_GRAINED_BETA = "fine-grained-tool-streaming-2025-05-14"
_INTERLEAVED_BETA = "interleaved-thinking-2025-05-14"
_EFFORT_BETAS = ("mid-conversation-output-config-2026-07-01", "thinking-binding-controls-2026-08-01")
_INLINE_TOOLS_BETA = "inline-tools-2026-09-15"
_THREADS_BETA = "message-threads-2026-08-12"


def is_oauth(key: str | None) -> bool:
    """Whether the key is a subscription's token: sent as bearer, under Claude Code's identity."""
    return key is not None and "sk-ant-oat" in key


def is_bearer(key: str | None) -> bool:
    """Whether the key is sent as bearer: a subscription's token, or that of ``ANTHROPIC_AUTH_TOKEN``."""
    return is_oauth(key) or (key is not None and key == auth_token())


class ToolNames(SentTools):
    """The tools as they are sent; with a subscription's token, under the names of Claude Code.

    Two tools whose names differ only in case keep them: the API rejects duplicate names.
    """

    def __init__(self, tools: Iterable[Tool], model: Model, *, claude_code: bool) -> None:
        tools = tuple(tools)
        self._claude_code = claude_code
        lowered = [tool.name.lower() for tool in tools]
        self._alike = {name for name in lowered if lowered.count(name) > 1} if claude_code else set()
        super().__init__(tools, model)
        self._by_case = {name.lower(): name for name in reversed(self.tool_names)} if claude_code else {}

    def fitting(self, name: str) -> str:
        """Return a name that the API accepts."""
        lower = name.lower()
        if self._claude_code and lower not in self._alike:
            name = _CLAUDE_CODE_TOOLS.get(lower, name)
        return super().fitting(name)

    def ours(self, name: str) -> str:
        """Return our name of a tool for the API's, whichever its case with a token."""
        known = super().ours(name)
        return known if known in self.tool_names else self._by_case.get(name.lower(), known)


def to_headers(
    model: Model, messages: Sequence[Message], options: StreamOptions, compat: Compat, payload: dict[str, Any]
) -> dict[str, str]:
    """Return a request's headers, names in lower case; headers of the model and the options take precedence.

    Beta features are the exception: ours and the user's are sent together.
    """
    headers = {"anthropic-version": API_VERSION, **_key(options.api_key, compat)}
    if is_oauth(options.api_key):
        headers |= {"user-agent": CLAUDE_CLI, "x-app": "cli"}
    headers |= host_headers(model, messages, options)
    if compat.session_affinity and options.session_id and options.cache_retention != "none":
        name = "x-session-id" if compat.affinity_format == "openrouter" else "x-session-affinity"
        headers[name] = options.session_id
    betas = _betas(options, compat, payload)
    for more in (model.headers or {}, options.headers or {}):
        for name, value in more.items():
            if name.lower() == "anthropic-beta":
                betas.extend(beta.strip() for beta in value.split(",") if beta.strip())
            else:
                headers[name.lower()] = value
    if betas:
        headers["anthropic-beta"] = ",".join(dict.fromkeys(betas))
    return headers


def _key(key: str | None, compat: Compat) -> dict[str, str]:
    """Return the header with the key; a server without keys, or with a key in the user's own headers, gets none."""
    if not key:
        return {}
    azure_token = compat.sdk_client == "foundry" and key.startswith("eyJ")  # the start of every JSON web token
    if is_bearer(key) or azure_token:
        return {"authorization": f"Bearer {key}"}
    return {"x-api-key": key} if compat.key_header == "x-api-key" else {compat.key_header: f"Bearer {key}"}


def _betas(options: StreamOptions, compat: Compat, payload: dict[str, Any]) -> list[str]:
    betas = list(_OAUTH_BETAS) if is_oauth(options.api_key) else []
    if payload.get("tools") and not compat.eager_tool_input:
        betas.append(_FINE_GRAINED_BETA)
    if payload.get("thinking", {}).get("type") == "enabled":
        betas.append(_INTERLEAVED_BETA)
    if compat.effort_messages:
        betas += _EFFORT_BETAS
    if any(tool["name"] == PLACEHOLDER["name"] for tool in payload.get("tools", ()) if "name" in tool):
        betas.append(_INLINE_TOOLS_BETA)
    if compat.has_thread(options):
        betas.append(_THREADS_BETA)
    return betas
