"""The rows of the list of settings, from their schema and their effective values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_tui.selectors.settings import SettingRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core.settings import Settings

__all__ = ["read_settings"]

_OPENED = ("theme",)
"""Settings that have a list of their own."""

_FIRST = (
    *("theme", "defaultModel", "defaultThinkingLevel", "hideThinkingBlock", "compaction.enabled", "retry.enabled"),
    *("steeringMode", "followUpMode", "toolExecution", "defaultProjectTrust", "agents.enabled", "sandbox.mode"),
    *("memory.enabled", "enableSkillCommands", "tuiMode", "doubleEscapeAction", "treeFilterMode", "quietStartup"),
    *("collapseChangelog", "externalEditor", "autocompleteMaxVisible", "editorPaddingX", "outputPad"),
    *("fullscreenMouse", "fullscreenCopyOnSelect", "fullscreenExitOutput", "showHardwareCursor"),
    *("images.autoResize", "images.blockImages", "terminal.showImages", "terminal.showTerminalProgress"),
)
"""The most frequently changed settings, in the order of the original's list; the others follow in schema order."""

_KINDS: dict[str, Literal["boolean", "number", "text"]] = {
    "boolean": "boolean",
    "integer": "number",
    "number": "number",
    "string": "text",
}


def read_settings(settings: Settings) -> Iterator[SettingRow]:
    """Yield the settings with a single value; lists and objects are edited in their file."""
    from pi_core.settings.schema_info import json_schema
    from pi_core.settings.schema_info import settings as described

    order = {name: number for number, name in enumerate(_FIRST)}
    for each in sorted(described(), key=lambda each: order.get(each.name, len(order))):
        if "*" in each.steps:
            continue
        node: dict[str, Any] = json_schema()
        for step in each.steps:
            node = node["properties"][step]
        kind = "choice" if "enum" in node else _KINDS.get(node.get("type", ""))
        if kind is None:
            continue
        yield SettingRow(
            each.name,
            "list" if each.name in _OPENED else kind,
            settings.get(each.steps, each.default),
            each.description,
            tuple(node.get("enum", ())),
            settings.place(each.steps) or "",
            node.get("minimum"),
            is_whole=node.get("type") == "integer",
        )
