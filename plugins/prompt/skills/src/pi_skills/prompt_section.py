"""The system prompt's list of skills."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pi_core import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Resource, ResourceSet

__all__ = ["list_for", "reading_tool"]

_HOW = {
    "read": "read its file with the tool read",
    "bash": "print its file with the tool bash",
    "load_skill": "load it by its name with the tool load_skill",
}
"""The tools that can open a skill, best first, with instructions."""


def reading_tool(active: Sequence[str]) -> str | None:
    """Return the active tool that the model should open skills with; None without one."""
    return next((tool for tool in _HOW if tool in active), None)


@lru_cache(maxsize=8)  # an unchanged set is the same object
def list_for(found: ResourceSet, tool: str) -> str:
    """Return the section's text; empty without a skill that the model may use."""
    listed = [_element(skill) for skill in found.resources if not skill.data.get("hidden")]
    if not listed:
        return ""
    return "\n".join(
        [
            "Skills are instructions for particular kinds of tasks.",
            f"When a task fits the description of a skill, {_HOW[tool]} before you begin, and follow it.",
            "Relative paths in a skill are relative to the folder of its file; give tools the absolute path.",
            "",
            "<available_skills>",
            *listed,
            "</available_skills>",
        ]
    )


def _element(skill: Resource) -> str:
    name, description, path = (escaped(each) for each in (skill.name, skill.description, skill.path))
    return (
        f"  <skill>\n    <name>{name}</name>\n    <description>{description}</description>\n"
        f"    <location>{path}</location>\n  </skill>"
    )
