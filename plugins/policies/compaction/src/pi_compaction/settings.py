"""The settings ``compaction.*``, and the limit of summaries of branches."""

from __future__ import annotations

from typing import Any

from pi_hookspecs import PluginSetting

__all__ = [
    "BRANCH_RESERVE",
    "ENABLED",
    "KEEP_RECENT",
    "MODEL_ENABLED",
    "MODEL_KEEP_RECENT",
    "MODEL_RESERVE",
    "PINNED",
    "RESERVE",
    "SETTINGS",
]

_TOKENS: dict[str, Any] = {"type": "integer", "minimum": 0}
_RESERVE = "Tokens kept free for the answer"
_KEEP_RECENT = "Tokens of the latest messages that are kept unchanged"

ENABLED = PluginSetting(
    "compaction.enabled",
    schema={"type": "boolean", "default": True},
    description="Compact the conversation automatically before the model's context window is full",
    project="set",
)
RESERVE = PluginSetting(
    "compaction.reserveTokens", schema={**_TOKENS, "default": 16_384}, description=_RESERVE, project="set"
)
KEEP_RECENT = PluginSetting(
    "compaction.keepRecentTokens", schema={**_TOKENS, "default": 20_000}, description=_KEEP_RECENT, project="set"
)
MODEL_ENABLED = PluginSetting(
    "compaction.modelOverrides.*.enabled",
    schema={"type": "boolean"},
    description="Compact automatically, for one model by its `provider/id`",
    project="set",
)
MODEL_RESERVE = PluginSetting(
    "compaction.modelOverrides.*.reserveTokens", schema=_TOKENS, description=_RESERVE, project="set"
)
MODEL_KEEP_RECENT = PluginSetting(
    "compaction.modelOverrides.*.keepRecentTokens", schema=_TOKENS, description=_KEEP_RECENT, project="set"
)
PINNED = PluginSetting(
    "compaction.pinned",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description="Sentences that every summary keeps verbatim",
    project="set",
)
BRANCH_RESERVE = PluginSetting(
    "branchSummary.reserveTokens",
    schema={**_TOKENS, "default": 16_384},
    description="Tokens kept free for the summary of an abandoned branch",
    project="set",
)
SETTINGS = (BRANCH_RESERVE, ENABLED, RESERVE, KEEP_RECENT, MODEL_ENABLED, MODEL_RESERVE, MODEL_KEEP_RECENT, PINNED)
