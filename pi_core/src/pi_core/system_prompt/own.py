"""The sections that core itself has something to say in: who the model is, its tools, its rules, its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.system_prompt.rendered import Contribution
from pi_hookspecs import PromptSection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pi_hookspecs import Tool

__all__ = ["base_sections", "closing_sections"]

_ROLE = (
    "You are an expert coding assistant working inside pi, a coding agent."
    " You help by reading files, running commands, editing code and writing new files."
)
_ALWAYS = ("Be concise in your responses", "Show file paths clearly when working with files")
_LOOKING = ("grep", "find", "ls")
_DOCS = (
    "When the user asks about pi itself (its options, plugins, hooks, settings), ask it: pi --help, pi plugins,"
    " pi hooks [NAME], pi resources, pi prompt show."
)


def base_sections(tools: Sequence[Tool], owner: Callable[[Tool], str | None]) -> Iterator[Contribution]:
    """Go through preamble, tools, rules and docs, which a custom prompt replaces.

    Args:
        tools: The active ones; each with a snippet is listed, each adds its guidelines.
        owner: The plugin that a tool is from.
    """
    yield _own("preamble", _ROLE)
    for tool in tools:
        if tool.prompt_snippet:
            yield _of_tool("tools", f"- {tool.name}: {tool.prompt_snippet}", owner(tool))
    said = set(_ALWAYS)
    names = {tool.name for tool in tools}
    rules = _rules(names)
    if rules:
        yield _own("rules", "\n".join(f"- {rule}" for rule in rules))
    for tool in tools:
        for line in tool.prompt_guidelines:
            if line not in said:
                said.add(line)
                yield _of_tool("rules", f"- {line}", owner(tool))
    yield _own("rules", "\n".join(f"- {rule}" for rule in _ALWAYS))
    if "bash" in names:
        yield _own("docs", _DOCS)


def closing_sections(cwd: Path, *, date: bool) -> Iterator[Contribution]:
    """Go through what every prompt ends with.

    Args:
        cwd: The working directory.
        date: Whether to tell today's date; it empties the provider's cache every day.
    """
    if date:
        from datetime import datetime

        today = f"Current date: {datetime.now().astimezone().date().isoformat()}"
        yield Contribution(section=PromptSection(name="date", text=today), hook="setting systemPrompt.date")
    yield _own("cwd", f"Current working directory: {cwd}")


def _rules(names: set[str]) -> list[str]:
    """Return the rules between tools."""
    rules = []
    if "bash" in names:
        looking = [name for name in _LOOKING if name in names]
        rules.append(f"Prefer {'/'.join(looking)} tools over bash" if looking else "Use bash for file operations")
    if {"read", "edit"} <= names:
        rules.append("Use read to examine files before editing")
    return rules


def _own(name: str, text: str) -> Contribution:
    return Contribution(section=PromptSection(name=name, text=text), hook="core")


def _of_tool(name: str, line: str, plugin: str | None) -> Contribution:
    return Contribution(section=PromptSection(name=name, text=line), hook="register_tools", plugin=plugin)
