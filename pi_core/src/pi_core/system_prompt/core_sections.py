"""The core's own sections: role, tools, rules, documentation, date and working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.system_prompt.render import Contribution
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
_ALWAYS_RULES = ("Be concise in your responses", "Show file paths clearly when working with files")
_SEARCH_TOOLS = ("grep", "find", "ls")
_DOCS = (
    "When the user asks about pi itself (its options, plugins, hooks, settings) or wants a plugin for it, ask it:"
    " pi help [TOPIC | WORDS] shows every page, hook and example; pi --help, pi plugins, pi resources, pi prompt show."
    " pi plugin new starts a plugin, pi plugins check PATH checks one, pi -e FILE tries it."
)


def base_sections(tools: Sequence[Tool], owner: Callable[[Tool], str | None]) -> Iterator[Contribution]:
    """Yield preamble, tools, rules and docs, which a custom prompt replaces.

    Args:
        tools: The active tools; tools with a snippet are listed, and all tools add their guidelines.
        owner: Returns the plugin that registered a tool.
    """
    yield _core_section("preamble", _ROLE)
    for tool in tools:
        if tool.prompt_snippet:
            yield _tool_section("tools", f"- {tool.name}: {tool.prompt_snippet}", owner(tool))
    seen_rules = set(_ALWAYS_RULES)
    names = {tool.name for tool in tools}
    rules = _tool_rules(names)
    if rules:
        yield _core_section("rules", "\n".join(f"- {rule}" for rule in rules))
    for tool in tools:
        for line in tool.prompt_guidelines:
            if line not in seen_rules:
                seen_rules.add(line)
                yield _tool_section("rules", f"- {line}", owner(tool))
    yield _core_section("rules", "\n".join(f"- {rule}" for rule in _ALWAYS_RULES))
    if "bash" in names:
        yield _core_section("docs", _DOCS)


def closing_sections(cwd: Path, *, date: bool) -> Iterator[Contribution]:
    """Yield the sections at the end of every prompt.

    Args:
        cwd: The working directory.
        date: Whether to include today's date; it invalidates the provider's cache every day.
    """
    if date:
        from datetime import datetime

        today = f"Current date: {datetime.now().astimezone().date().isoformat()}"
        yield Contribution(section=PromptSection(name="date", text=today), hook="setting systemPrompt.date")
    yield _core_section("cwd", f"Current working directory: {cwd}")


def _tool_rules(names: set[str]) -> list[str]:
    """Return the rules that depend on a combination of tools."""
    rules = []
    if "bash" in names:
        available = [name for name in _SEARCH_TOOLS if name in names]
        rules.append(f"Prefer {'/'.join(available)} tools over bash" if available else "Use bash for file operations")
    if {"read", "edit"} <= names:
        rules.append("Use read to examine files before editing")
    return rules


def _core_section(name: str, text: str) -> Contribution:
    return Contribution(section=PromptSection(name=name, text=text), hook="core")


def _tool_section(name: str, line: str, plugin: str | None) -> Contribution:
    return Contribution(section=PromptSection(name=name, text=line), hook="register_tools", plugin=plugin)
