"""Reads ``hooks.json`` strictly: a guard in a file that cannot be read must not be silently absent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs import UserError
from pi_import.hooks.events import EVENTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["FILE", "Program", "is_matcher", "matching", "read_programs"]

FILE = "hooks.json"

_LONGEST = 600.0


@frozen(kw_only=True)
class Program:
    """A program that an event runs.

    Attributes:
        event: The event.
        command: A command for the shell.
        matcher: A regular expression for the whole name of the tool, or for the source of the event; None for all.
        agent: Whose names and arguments of tools it expects: ``claude`` or ``gemini``.
        timeout: Seconds until it is ended.
        background: Whether it is not waited for.
        origin: The file that names it.
    """

    event: str
    command: str
    matcher: str | None = None
    agent: str = "claude"
    timeout: float = 60.0
    background: bool = False
    origin: str = ""


def read_programs(file: Path) -> list[Program]:
    """Return the programs in a file; none if it does not exist.

    Raises:
        UserError: The file cannot be read, or has something else than events, groups and programs.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
        values = json.loads(text) if text.strip() else {}
    except FileNotFoundError:
        return []
    except json.JSONDecodeError as error:
        raise UserError(f"{file}:{error.lineno}:{error.colno}: {error.msg}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file} cannot be read: {error}") from error
    hooks = values.get("hooks", {}) if isinstance(values, dict) else None
    if not isinstance(hooks, dict):
        raise UserError(f'{file} must be {{"hooks": {{"PreToolUse": [...]}}}}')
    unknown = next((event for event in hooks if event not in EVENTS), None)
    if unknown is not None:
        raise UserError(f"{file}: there is no event {unknown!r}; use one of {', '.join(EVENTS)}")
    return [
        _program(event, group, hook, f"{file}: hooks.{event}[{number}]")
        for event, groups in hooks.items()
        for number, group in enumerate(_list(groups, f"{file}: hooks.{event}"))
        for hook in _list(
            group.get("hooks") if isinstance(group, dict) else None, f"{file}: hooks.{event}[{number}].hooks"
        )
    ]


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise UserError(f"{where} must be a list")
    return value


def is_matcher(text: str) -> bool:
    """Return whether ``hooks.json`` can have a text as a matcher; any other makes it refuse all tools."""
    try:
        re.compile("" if text == "*" else text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _program(event: str, group: dict[str, Any], hook: Any, where: str) -> Program:
    if not isinstance(hook, dict) or hook.get("type", "command") != "command" or not _is_text(hook.get("command")):
        raise UserError(f'{where} must have hooks of the form {{"type": "command", "command": "..."}}')
    matcher, agent, timeout = group.get("matcher"), group.get("agent", "claude"), hook.get("timeout", 60)
    if agent not in ("claude", "gemini"):
        raise UserError(f"{where}.agent must be 'claude' or 'gemini', not {agent!r:.60}")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise UserError(f"{where}: timeout must be a number of seconds above 0, not {timeout!r:.60}")
    if matcher in (None, "", "*"):
        matcher = None
    else:
        try:
            re.compile(matcher)
        except (re.error, TypeError, RecursionError, OverflowError) as error:
            raise UserError(f"{where}.matcher {matcher!r:.60} is not a regular expression: {error}") from error
    return Program(
        event=event,
        command=hook["command"],
        matcher=matcher,
        agent=agent,
        timeout=min(float(timeout), _LONGEST),
        background=hook.get("async") is True,
        origin=where,
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def matching(programs: Sequence[Program], event: str, name: str) -> list[Program]:
    """Return the programs of an event whose matcher is a name, each command once.

    Args:
        programs: All programs.
        event: The event.
        name: The tool, as Claude Code or Gemini CLI calls it, or the source of the event.
    """
    found = {
        (each.command, each.agent): each
        for each in programs
        if each.event == event and (each.matcher is None or re.fullmatch(each.matcher, name) is not None)
    }
    return list(found.values())
