"""Differences of hosts of the Messages API, as data: ``model.compat``, and defaults by host name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value
from pi_provider_kit import host_of

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions

__all__ = ["Compat"]

HOSTS: dict[str, dict[str, Any]] = {
    "ai-gateway.vercel.sh": {"allowEmptySignature": True},
    "api.anthropic.com": {"supportsStructuredOutput": True},
    "aiplatform.googleapis.com": {"transport": "sdk", "sdkClient": "vertex"},
    "amazonaws.com": {"transport": "sdk", "sdkClient": "bedrock"},
    "api.fireworks.ai": {
        "allowEmptySignature": True,
        "sendSessionAffinityHeaders": True,
        "supportsCacheControlOnTools": False,
        "supportsEagerToolInputStreaming": False,
        "supportsLongCacheRetention": False,
    },
    "api.kimi.com": {"allowEmptySignature": True, "forceAdaptiveThinking": True},
    "gateway.ai.cloudflare.com": {"keyHeader": "cf-aig-authorization", "sendSessionAffinityHeaders": True},
    "githubcopilot.com": {"keyHeader": "authorization"},
    "openrouter.ai": {
        "keyHeader": "authorization",
        "sendSessionAffinityHeaders": True,
        "sessionAffinityFormat": "openrouter",
    },
    "services.ai.azure.com": {"sdkClient": "foundry"},
}
"""Host, or the end of its name, to switches; the model's own switches take precedence."""


@frozen(kw_only=True, eq=False, repr=False)
class Compat(Value):
    """Features of a host; each with its name in ``model.compat``.

    Attributes:
        eager_tool_input: ``supportsEagerToolInputStreaming``; without it a beta header requests the older behaviour.
        long_cache: ``supportsLongCacheRetention``, cache marks that live an hour.
        tool_cache: ``supportsCacheControlOnTools``.
        temperature: ``supportsTemperature``.
        adaptive: ``forceAdaptiveThinking``: thinking by effort, not by budget.
        empty_signature: ``allowEmptySignature``: thinking without a signature is sent back as thinking, not as text.
        session_affinity: ``sendSessionAffinityHeaders``.
        affinity_format: ``sessionAffinityFormat``: ``openrouter``, or None for ``x-session-affinity``.
        strict_tools: ``supportsStrictTools``: calls of tools that request it are constrained to the schema if its
            keywords allow that.
        structured_output: ``supportsStructuredOutput``: answers are constrained to the requested schema.
        system_messages: ``supportsMidConvoSystemMessages``; without it they join the system prompt.
        tool_changes: ``supportsMidConvoToolChanges``: with ``system_messages``, tools are added and removed within the
            conversation.
        effort_messages: ``supportsMidConvoEffort``: the effort of each answer is told before it.
        threads: ``supportsMessageThreads``: a request of a session sends only what is new, and the host holds the rest
            for a while, which is why the user turns it on.
        key_header: ``keyHeader``: ``x-api-key``, or the header that carries ``Bearer <key>``.
        transport: ``transport``: ``http`` or ``sdk``.
        sdk_client: ``sdkClient``: ``anthropic``, ``bedrock``, ``vertex`` or ``foundry``.
    """

    eager_tool_input: bool = True
    long_cache: bool = True
    tool_cache: bool = True
    temperature: bool = True
    adaptive: bool = False
    empty_signature: bool = False
    session_affinity: bool = False
    affinity_format: str | None = None
    strict_tools: bool = False
    structured_output: bool = False
    system_messages: bool = False
    tool_changes: bool = False
    effort_messages: bool = False
    threads: bool = False
    key_header: str = "x-api-key"
    transport: str = "http"
    sdk_client: str = "anthropic"

    @classmethod
    def of(cls, model: Model) -> Compat:
        """Return the switches of the model: the host's, then its own."""
        flags = {**_host_flags(model.base_url), **(model.compat or {})}
        return cls(**{name: flags[flag] for flag, name in _NAMES.items() if flags.get(flag) is not None})

    def has_thread(self, options: StreamOptions) -> bool:
        """Whether a request may continue a thread: one of a session, which the provider may keep for a while."""
        return self.threads and bool(options.session_id) and options.cache_retention != "none" and options.continues


_NAMES = {
    "supportsEagerToolInputStreaming": "eager_tool_input",
    "supportsLongCacheRetention": "long_cache",
    "supportsCacheControlOnTools": "tool_cache",
    "supportsTemperature": "temperature",
    "forceAdaptiveThinking": "adaptive",
    "allowEmptySignature": "empty_signature",
    "sendSessionAffinityHeaders": "session_affinity",
    "sessionAffinityFormat": "affinity_format",
    "supportsStrictTools": "strict_tools",
    "supportsStructuredOutput": "structured_output",
    "supportsMidConvoSystemMessages": "system_messages",
    "supportsMidConvoToolChanges": "tool_changes",
    "supportsMidConvoEffort": "effort_messages",
    "supportsMessageThreads": "threads",
    "keyHeader": "key_header",
    "transport": "transport",
    "sdkClient": "sdk_client",
}


def _host_flags(base_url: str) -> dict[str, Any]:
    labels = host_of(base_url).split(".")
    names = (".".join(labels[start:]) for start in range(len(labels)))
    return next((HOSTS[name] for name in names if name in HOSTS), {})
