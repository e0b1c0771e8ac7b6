"""Quirks of hosts of Chat Completions: by host name, overridden by the model's ``compat``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pi_provider_kit import host_of

if TYPE_CHECKING:
    from pi_hookspecs.models import Model

__all__ = ["DEFAULTS", "compat_of"]

DEFAULTS: dict[str, Any] = {
    "cacheControlFormat": None,
    "chatTemplateArgs": {},
    "chatTemplateKwargs": {},
    "maxTokensField": "max_completion_tokens",
    "openRouterRouting": None,
    "promptCacheKeyMode": "long",
    "reasoningEffortMap": {},
    "requiresAssistantAfterToolResult": False,
    "requiresNonNullAssistantContent": False,
    "requiresReasoningContentOnAssistantMessages": False,
    "requiresThinkingAsText": False,
    "requiresToolResultName": False,
    "requiresToolsWithToolHistory": False,
    "sendSessionAffinityHeaders": False,
    "sessionAffinityFormat": "openai",
    "supportsDeveloperRole": False,
    "supportsFinishReason": True,
    "supportsLongCacheRetention": True,
    "supportsMidConvoSystemMessages": False,
    "supportsMidConvoToolAdditions": False,
    "supportsOpenAIGrammarTools": False,
    "supportsReasoningEffort": True,
    "supportsStore": True,
    "supportsStrictMode": False,
    "supportsStructuredOutput": False,
    "supportsThinkingTokenBudget": False,
    "supportsUsageInStreaming": True,
    "thinkingFormat": "openai",
    "thinkingTokenBudgetField": None,
    "vercelGatewayRouting": None,
    "vllmPriority": None,
    "zaiToolStream": False,
}
"""Default of every flag, for unknown hosts; names and values as in models.json.

- ``promptCacheKeyMode``: ``session`` sends the session's id as ``prompt_cache_key``, ``long`` only for the retention
  ``long``, ``none`` never. (The contract names the flag and not its values.)
- ``supportsMidConvoToolAdditions`` and ``supportsOpenAIGrammarTools`` change nothing: pi's tools have no grammar, and
  all active ones go into ``tools``.
"""

_NOT_STANDARD = {"supportsStore": False}
_DEVELOPER = {"supportsDeveloperRole": True}
_NO_EFFORT = {"supportsReasoningEffort": False}
_MAX_TOKENS = {"maxTokensField": "max_tokens"}
_SHORT_CACHE = {"supportsLongCacheRetention": False}
_STRUCTURED = {"supportsStructuredOutput": True}


class _Host(NamedTuple):
    providers: tuple[str, ...]
    hosts: tuple[str, ...]
    flags: dict[str, Any]


_HOSTS = (
    _Host(("openai",), ("api.openai.com",), {"promptCacheKeyMode": "session", **_DEVELOPER, **_STRUCTURED}),
    _Host((), ("openai.azure.com", "cognitiveservices.azure.com"), _DEVELOPER),
    _Host(("cerebras",), ("cerebras.ai",), _NOT_STANDARD),
    _Host(("xai",), ("api.x.ai",), {**_NOT_STANDARD, **_NO_EFFORT, **_STRUCTURED}),
    _Host(("chutes",), ("chutes.ai",), {**_NOT_STANDARD, **_MAX_TOKENS}),
    _Host(
        ("deepseek",),
        ("deepseek.com",),
        {
            **_NOT_STANDARD,
            **_MAX_TOKENS,
            "thinkingFormat": "deepseek",
            "requiresReasoningContentOnAssistantMessages": True,
        },
    ),
    _Host(
        ("zai", "zai-coding-cn"),
        ("z.ai", "bigmodel.cn"),
        {**_NOT_STANDARD, **_NO_EFFORT, **_MAX_TOKENS, "thinkingFormat": "zai"},
    ),
    _Host(("opencode", "opencode-go"), ("opencode.ai",), _NOT_STANDARD),
    _Host(
        ("nvidia",),
        ("integrate.api.nvidia.com",),
        {**_NOT_STANDARD, **_NO_EFFORT, **_MAX_TOKENS, **_SHORT_CACHE},
    ),
    _Host(
        ("together",),
        ("together.ai", "together.xyz"),
        {**_NOT_STANDARD, **_NO_EFFORT, **_MAX_TOKENS, **_SHORT_CACHE, "thinkingFormat": "together"},
    ),
    _Host(
        ("moonshotai", "moonshotai-cn"),
        ("api.moonshot.ai", "api.moonshot.cn"),
        {**_NOT_STANDARD, **_NO_EFFORT, **_MAX_TOKENS},
    ),
    _Host(("cloudflare-workers-ai",), ("api.cloudflare.com",), {**_NOT_STANDARD, **_SHORT_CACHE}),
    _Host(
        ("cloudflare-ai-gateway",),
        ("gateway.ai.cloudflare.com",),
        {**_NOT_STANDARD, **_NO_EFFORT, **_MAX_TOKENS, **_SHORT_CACHE},
    ),
    _Host(
        ("ant-ling",),
        ("api.ant-ling.com",),
        {**_NOT_STANDARD, **_NO_EFFORT, **_MAX_TOKENS, **_SHORT_CACHE, "thinkingFormat": "ant-ling"},
    ),
    _Host(
        ("openrouter",),
        ("openrouter.ai",),
        {
            "thinkingFormat": "openrouter",
            "sendSessionAffinityHeaders": True,
            "sessionAffinityFormat": "openrouter",
        },
    ),
)

_KIMI = "kimi-k"
"""In the ids of models that think and refuse a call of their history without ``reasoning_content``, at any host."""

_OPENROUTER_OWN_ROLES = ("anthropic/", "openai/")
"""Vendors whose models take the developer role also behind OpenRouter."""


def compat_of(model: Model) -> dict[str, Any]:
    """Return every flag's value: the default, the host's, then ``model.compat``.

    The model's ``compat`` includes its provider's. A flag set to null counts as not set.
    """
    host = host_of(model.base_url)
    flags = dict(DEFAULTS)
    if _KIMI in model.id.lower():
        flags["requiresReasoningContentOnAssistantMessages"] = True
    for row in _HOSTS:
        if model.provider in row.providers or any(host == name or host.endswith(f".{name}") for name in row.hosts):
            flags.update(row.flags)
            if "openrouter" in row.providers:
                flags.update(_openrouter_model(model.id))
    flags.update({name: value for name, value in (model.compat or {}).items() if value is not None})
    return flags


def _openrouter_model(model_id: str) -> dict[str, Any]:
    flags: dict[str, Any] = {}
    if model_id.startswith(_OPENROUTER_OWN_ROLES):
        flags["supportsDeveloperRole"] = True
    if model_id.startswith("anthropic/"):
        flags["cacheControlFormat"] = "anthropic"
    return flags
