"""The rows of the list of settings, from their schema and their effective values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_tui.selectors.settings import SettingRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import Settings

__all__ = ["read_settings"]

_OPENED = ("theme", "defaultModel", "modelThinkingLevels")
"""Settings that have a list of their own."""

_MENU = {
    "Model": {
        "defaultModel": "Model of new sessions",
        "defaultThinkingLevel": "Reasoning effort of new sessions",
        "modelThinkingLevels": "Reasoning effort by model",
        "hideThinkingBlock": "Hide the model's thinking",
    },
    "Look": {
        "theme": "Theme",
        "quietStartup": "Start without the header",
        "outputPad": "Columns beside answers",
        "terminal.showImages": "Show images",
        "terminal.showTerminalProgress": "Progress in the terminal's tab",
        "fullscreenScrollbar": "Scrollbar",
        "fullscreenExitOutput": "Kept in the terminal at exit",
        "tuiMode": "Front end",
    },
    "Keys": {
        "doubleEscapeAction": "Escape pressed twice",
        "treeFilterMode": "First filter of the tree",
        "autocompleteMaxVisible": "Completions displayed at once",
        "externalEditor": "Editor opened by Ctrl+G",
        "fullscreenMouse": "Use the mouse",
        "fullscreenCopyOnSelect": "Copy what the mouse selects",
        "showHardwareCursor": "The terminal's own cursor",
    },
    "Work": {
        "compaction.enabled": "Compact long conversations",
        "retry.enabled": "Retry failed requests",
        "steeringMode": "Steering messages",
        "followUpMode": "Follow-up messages",
        "toolExecution": "Tool calls of one answer",
        "images.autoResize": "Shrink large images",
        "images.blockImages": "Keep images from the model",
        "enableSkillCommands": "Skills as commands",
        "memory.enabled": "Memory",
        "agents.enabled": "Sub-agents",
    },
    "Safety": {
        "defaultProjectTrust": "Trust in new folders",
        "guardrails.enabled": "Ask before dangerous commands",
        "sandbox.mode": "Sandbox",
        "redact.enabled": "Remove secrets from sessions",
    },
}
"""The settings that people change: group, name, and title."""

_LABELS = {
    "compaction.enabled": "Auto-compact",
    "terminal.showImages": "Show images",
    "images.autoResize": "Auto-resize images",
    "images.blockImages": "Block images",
    "enableSkillCommands": "Skill commands",
    "showHardwareCursor": "Show hardware cursor",
    "editorPaddingX": "Editor padding",
    "outputPad": "Output padding",
    "autocompleteMaxVisible": "Autocomplete max items",
    "terminal.clearOnShrink": "Clear on shrink",
    "terminal.showTerminalProgress": "Terminal progress",
    "steeringMode": "Steering mode",
    "followUpMode": "Follow-up mode",
    "transport": "Transport",
    "hideThinkingBlock": "Hide thinking",
    "collapseChangelog": "Collapse changelog",
    "quietStartup": "Quiet startup",
    "doubleEscapeAction": "Double-escape action",
    "treeFilterMode": "Tree filter mode",
    "defaultThinkingLevel": "Thinking level",
    "defaultProjectTrust": "Default project trust",
    "theme": "Theme",
}
"""The labels of the original's list of settings, which people look for here."""

_KINDS: dict[str, Literal["boolean", "number", "text"]] = {
    "boolean": "boolean",
    "integer": "number",
    "number": "number",
    "string": "text",
}


def _displayed(value: Any) -> Any:
    """Return a value, or of an object how many entries it has; None for an empty one."""
    return (f"{len(value)} set" if value else None) if isinstance(value, dict) else value


def read_settings(settings: Settings) -> Iterator[SettingRow]:
    """Yield the settings with a single value or a dialog; other lists and objects are edited in their file."""
    titles = {name: (group, title) for group, names in _MENU.items() for name, title in names.items()}
    order = {name: number for number, name in enumerate(titles)}
    for each in sorted(settings.known, key=lambda each: order.get(each.name, len(order))):
        if "*" in each.steps:
            continue
        node = each.schema
        kind = "choice" if "enum" in node else _KINDS.get(str(node.get("type")))
        if kind is None and each.name not in _OPENED:
            continue
        group, title = titles.get(each.name, ("", ""))
        yield SettingRow(
            each.name,
            "list" if kind is None or each.name in _OPENED else kind,
            _displayed(settings.get(each.steps, each.default)),
            each.description,
            tuple(node.get("enum", ())),
            settings.place(each.steps) or "",
            node.get("minimum"),
            is_whole=node.get("type") == "integer",
            group=group,
            title=title,
            label_before=_LABELS.get(each.name, ""),
        )
