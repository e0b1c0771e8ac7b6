"""The declaration of a tool that is sent to the model, as plain data: sessions store it, token estimates count it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_hookspecs import Tool

__all__ = ["tool_declaration"]


def tool_declaration(tool: Tool) -> dict[str, Any]:
    """Return ``name``, ``description``, ``parameters`` and, if the tool has it, ``constrainedSampling``."""
    declared: dict[str, Any] = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    if tool.constrained_sampling is not None:
        declared["constrainedSampling"] = {"type": "json_schema", "strict": tool.constrained_sampling}
    return declared
