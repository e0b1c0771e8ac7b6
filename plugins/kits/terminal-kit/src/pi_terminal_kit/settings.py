"""Settings that all front ends at a terminal have; each of their plugins declares them."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = [
    "EXTERNAL_EDITOR",
    "HIDE_THINKING",
    "QUIET_STARTUP",
    "SETTINGS",
    "SKIP_SUMMARY_PROMPT",
    "TREE_FILTER",
    "TUI_MODE",
]

TUI_MODE = PluginSetting(
    "tuiMode",
    schema={"type": "string"},
    description="Front end of `pi`: `fullscreen` (the first front end), `regular` (the line mode), or the name of one",
    project="set",
)
HIDE_THINKING = PluginSetting(
    "hideThinkingBlock",
    schema={"type": "boolean", "default": False},
    description="Hide the model's thinking",
    project="set",
)
QUIET_STARTUP = PluginSetting(
    "quietStartup",
    schema={"enum": [False, True, "header"], "default": False},
    description="Do not show a header at the start; `header` shows it, and nothing else",
    project="set",
)
TREE_FILTER = PluginSetting(
    "treeFilterMode",
    schema={"enum": ["default", "no-tools", "user-only", "labeled-only", "all"], "default": "default"},
    description="Initial filter of the session tree",
    project="set",
)
SKIP_SUMMARY_PROMPT = PluginSetting(
    "branchSummary.skipPrompt",
    schema={"type": "boolean", "default": False},
    description="Leave a branch without offering to summarize it; no summary is written",
    project="set",
)
EXTERNAL_EDITOR = PluginSetting(
    "externalEditor",
    schema={"type": "string"},
    description="Editor command; takes precedence over `$VISUAL` and `$EDITOR`",
    project="nothing",
)
SETTINGS = (TUI_MODE, HIDE_THINKING, QUIET_STARTUP, TREE_FILTER, SKIP_SUMMARY_PROMPT, EXTERNAL_EDITOR)
