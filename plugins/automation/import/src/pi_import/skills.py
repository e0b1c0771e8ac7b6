"""Skills and agents of other agents: skills have the same format, so a setting names their folder."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pi_core import parse_frontmatter
from pi_import.changes import NewFile, Setting
from pi_import.instructions import as_it_is
from pi_import.place import Unreadable
from pi_import.steps import Step, decide, left_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_import.place import Place

__all__ = ["agents_as_they_are", "take_agent", "take_agents", "take_rules_for_paths", "take_skills"]

_NAME = re.compile(r"[A-Za-z0-9][\w.:-]{0,63}")


def take_skills(place: Place, folder: Path) -> Iterator[Step]:
    """Yield the steps for the skills of a folder: the setting ``skills`` names it, so that both agents use one copy."""
    names = []
    for file in place.files(folder, "SKILL.md"):
        why = _problem_of_skill(place, file) if file.name == "SKILL.md" else ""
        if why:
            yield left_out("skill", file.parent.name, place.label(file), why, scope=place.scope)
        elif file.name == "SKILL.md":
            names.append(file.parent.name)
    if not names:
        return
    is_own = place.scope == "user"
    path = place.label(folder) if is_own else f"../{folder.relative_to(place.root).as_posix()}"
    change = Setting(place.settings, place.settings_scope, place.target / "settings.json", "skills", [path])
    yield decide("skill", ", ".join(names), place.label(folder), change, scope=place.scope)


def _problem_of_skill(place: Place, file: Path) -> str:
    """Return why pi cannot use a skill; empty if it can."""
    try:
        written = parse_frontmatter(place.read(file))
    except Unreadable as error:
        return f"it {error}"
    if written.problem is not None:
        return f"its front matter is {written.problem}"
    description = written.values.get("description")
    return "" if isinstance(description, str) and description.strip() else _NO_DESCRIPTION


_NO_DESCRIPTION = "its front matter has no description, by which the model chooses"


def agents_as_they_are(place: Place, folder: Path) -> Iterator[Step]:
    """Yield the steps for agent files that pi reads where they are; one without a description is not offered."""
    for file in place.files(folder, ".md"):
        try:
            description = parse_frontmatter(place.read(file), literal=True).values.get("description")
            why = "" if isinstance(description, str) and description.strip() else _NO_DESCRIPTION
        except Unreadable as error:
            why = f"it {error}"
        if why:
            yield left_out("agent", file.stem, place.label(file), why, scope=place.scope)
        else:
            yield from as_it_is(place, file, "agent", name=file.stem)


def take_rules_for_paths(place: Place, folder: Path) -> Iterator[Step]:
    """Yield the steps for rules of Claude Code; one for certain paths becomes a skill that names them."""
    for file in place.files(folder, ".md"):
        label = place.label(file)
        try:
            written = parse_frontmatter(place.read(file))
        except Unreadable as error:
            yield left_out("instructions", file.name, label, f"it {error}", scope=place.scope)
            continue
        paths = written.values.get("paths", written.values.get("globs"))
        if not paths:
            yield Step(
                kind="instructions",
                name=file.name,
                source=label,
                outcome="already",
                why="pi reads it where it is",
                target=str(file),
                scope=place.scope,
            )
            continue
        listed = ", ".join(map(str, paths)) if isinstance(paths, list) else str(paths)
        name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:50] or "rule"
        description = f"Rules for files that match {listed}. Read them before you change such a file."[:1024]
        head = f"---\nname: rule-{name}\ndescription: {json.dumps(description, ensure_ascii=False)}\n---\n"
        change = NewFile(place.target / "skills" / f"rule-{name}" / "SKILL.md", f"{head}{written.body.strip()}\n")
        why = f"as the skill rule-{name}, which the model reads before it changes {listed}"
        yield decide("instructions", file.name, label, change, scope=place.scope, why=why)


def take_agents(place: Place, folder: Path) -> Iterator[Step]:
    """Yield the steps for the agent files of a folder that pi does not read, in the form of opencode or Gemini CLI."""
    for file in place.files(folder, ".md"):
        try:
            written = parse_frontmatter(place.read(file))
        except Unreadable as error:
            yield left_out("agent", file.stem, place.label(file), f"it {error}", scope=place.scope)
            continue
        name = str(written.values.get("name") or file.stem)
        yield from take_agent(place, name, written.values, written.body, place.label(file))


def take_agent(place: Place, name: str, values: dict[str, Any], body: str, source: str) -> Iterator[Step]:
    """Yield the step for one agent.

    Args:
        place: Where it is.
        name: Its name.
        values: Its configuration there.
        body: Its instructions.
        source: Where it is, in words.
    """
    description = values.get("description")
    if values.get("mode") == "primary":
        why = "pi has one main agent; put its instructions into AGENTS.md or a prompt template"
        yield left_out("agent", name, source, why, scope=place.scope)
        return
    if not _NAME.fullmatch(name) or not isinstance(description, str) or not description.strip() or not body.strip():
        why = "an agent needs a name of letters and digits, a description and instructions"
        yield left_out("agent", name, source, why, scope=place.scope)
        return
    head, notes = [f"name: {name}", f"description: {json.dumps(' '.join(description.split()), ensure_ascii=False)}"], []
    refused = _refused(values)
    if refused:
        head.append(f"disallowedTools: {json.dumps(refused)}")
    if isinstance(values.get("tools"), list):
        named = [tool for tool in map(str, values["tools"]) if tool != "*"]
        if named:
            from pi_import.tool_forms import from_claude

            head.append(f"tools: {json.dumps([from_claude(tool, {})[0] for tool in named])}")
    turns = values.get("steps", values.get("maxSteps", values.get("max_turns")))
    if isinstance(turns, int) and not isinstance(turns, bool) and turns > 0:
        head.append(f"maxTurns: {turns}")
    notes += [f"{key} is left out" for key in _LEFT_OUT if key in values]
    text = "---\n" + "\n".join(head) + f"\n---\n{body.strip()}\n"
    change = NewFile(place.target / "agents" / f"{name.replace(':', '-')}.md", text)
    yield decide("agent", name, source, change, scope=place.scope, why="; ".join(notes))


_LEFT_OUT = (
    "model",
    "temperature",
    "permission",
    "timeout_mins",
    "model_reasoning_effort",
    "sandbox_mode",
    "mcp_servers",
)


def _refused(values: dict[str, Any]) -> list[str]:
    """Return the tools that an agent of opencode does not have."""
    from pi_import.tool_forms import rule_tools

    tools = values.get("tools")
    switched = [name for name, on in tools.items() if on is False] if isinstance(tools, dict) else []
    permission = values.get("permission")
    denied = [name for name, action in permission.items() if action == "deny"] if isinstance(permission, dict) else []
    return sorted({tool for name in (*switched, *denied) for tool in rule_tools(str(name))})
