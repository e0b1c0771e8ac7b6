"""The events for which programs are run, and how each differs from Claude Code."""

from __future__ import annotations

__all__ = ["EVENTS"]

EVENTS = {
    "PreToolUse": "",
    "PostToolUse": "",
    "PostToolUseFailure": "",
    "UserPromptSubmit": "",
    "Stop": "",
    "SubagentStop": "its answer is not used: an agent's task has ended",
    "SessionStart": "",
    "SessionEnd": "",
    "PreCompact": "",
    "Notification": "it runs when pi asks you something, not when it is idle",
}
"""The events by name; an empty text for one that behaves as in Claude Code."""
