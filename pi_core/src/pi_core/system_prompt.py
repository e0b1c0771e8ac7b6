"""What the model is told about its place and its tools, before the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_hookspecs import Tool

__all__ = ["build_system_prompt"]

_ROLE = (
    "You are an expert coding assistant working inside pi, a coding agent."
    " You help by reading files, running commands, editing code and writing new files."
)
_ALWAYS = ("Be concise in your responses", "Show file paths clearly when working with files")


def build_system_prompt(tools: Sequence[Tool], cwd: Path, custom: str | None = None, append: Sequence[str] = ()) -> str:
    """Return the system prompt for these tools.

    Args:
        tools: The active tools; each with a snippet is listed, each adds its guidelines.
        cwd: The working directory; it closes the prompt.
        custom: Stands in place of role, tools and guidelines (pi.md section 11, custom prompt).
        append: Further paragraphs.
    """
    parts = [custom] if custom is not None else [_ROLE, _tool_list(tools), _guidelines(tools)]
    return "\n\n".join([*filter(None, parts), *append, f"Current working directory: {cwd}"])


def _tool_list(tools: Sequence[Tool]) -> str:
    listed = [f"- {tool.name}: {tool.prompt_snippet}" for tool in tools if tool.prompt_snippet]
    return "\n".join(["Available tools:", *listed]) if listed else ""


def _guidelines(tools: Sequence[Tool]) -> str:
    lines = dict.fromkeys([line for tool in tools for line in tool.prompt_guidelines] + list(_ALWAYS))
    return "\n".join(["Guidelines:", *(f"- {line}" for line in lines)])
