"""Our tools as the API's, under names that it accepts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_provider_kit import clean_json, clean_text, strict_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.models import Model
    from pi_hookspecs.tools import Tool

__all__ = ["ToolNames", "to_tool_config"]

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 64

_NO_LONGER = "No longer available."
"""Description of a tool that occurs only in the conversation."""


class ToolNames:
    """Maps our tools' names to those that are sent, and back: the API takes letters, digits, ``_`` and ``-``."""

    def __init__(self, names: Iterable[str]) -> None:
        self._sent: dict[str, str] = {}
        self._ours: dict[str, str] = {}
        for name in names:
            self._ours[self.sent(name)] = name

    def sent(self, name: str) -> str:
        """Return the name to send for one of our tools; each tool has another one."""
        known = self._sent.get(name)
        if known is not None:
            return known
        wanted = sent = _FOREIGN.sub("_", name)[:_LONGEST] or "_"
        taken = set(self._sent.values())
        number = 1
        while sent in taken:
            number += 1
            sent = f"{wanted[: _LONGEST - 4]}_{number}"
        self._sent[name] = sent
        return sent

    def ours(self, name: str) -> str:
        """Return our name of a tool for the API's."""
        return self._ours.get(name, name)


def to_tool_config(
    tools: Iterable[Tool], choice: Any, messages: Iterable[dict[str, Any]], names: ToolNames, model: Model
) -> dict[str, Any] | None:
    """Return ``toolConfig``, None if there are no tools.

    The API rejects a conversation with calls and no tools: then the called tools are declared.

    Args:
        tools: Ours.
        choice: A string of this API, Anthropic or OpenAI, or an object of any of them; None is the default.
        messages: The conversation as the API gets it.
        names: Maps their names.
        model: The model of the request.

    Raises:
        RequestFailed: A tool requires constrained sampling.
    """
    called = {block["toolUse"]["name"] for each in messages for block in each["content"] if "toolUse" in block}
    specs = [_spec(tool, names, model) for tool in tools]
    if choice == "none":
        if not called:
            return None
        choice = None
    if not specs:
        specs = [_tool(name, _NO_LONGER, {"type": "object"}) for name in sorted(called)]
        choice = None
    if not specs:
        return None
    tool_choice = _choice(choice, names)
    return {"tools": specs, "toolChoice": tool_choice} if tool_choice is not None else {"tools": specs}


def _spec(tool: Tool, names: ToolNames, model: Model) -> dict[str, Any]:
    strict_parameters(tool, model, supported=False)  # refuses a tool that requires it
    schema = {"type": "object", "properties": {}, **clean_json(dict(tool.parameters))}
    return _tool(names.sent(tool.name), clean_text(tool.description), schema)


def _tool(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    # A description must not be empty.
    return {"toolSpec": {"name": name, "description": description or name, "inputSchema": {"json": schema}}}


def _choice(choice: Any, names: ToolNames) -> dict[str, Any] | None:
    if isinstance(choice, str):
        return {{"required": "any"}.get(choice, choice): {}}
    if not isinstance(choice, dict):
        return None
    tool = choice.get("tool") or choice.get("function") or choice
    if isinstance(tool, dict) and isinstance(tool.get("name"), str):
        return {"tool": {"name": names.sent(tool["name"])}}
    kind = choice.get("type")
    return {kind: {}} if isinstance(kind, str) else dict(choice)
