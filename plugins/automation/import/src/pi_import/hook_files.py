"""Hooks of other agents as entries of ``hooks.json``, which has the form of ``hooks`` in Claude Code's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_import.changes import ListItems
from pi_import.hooks.events import EVENTS
from pi_import.hooks.file import is_matcher
from pi_import.steps import Step, decide, left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_import.place import Place

__all__ = ["take_hooks"]

_OF_GEMINI = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
    "Notification": "Notification",
}


def take_hooks(place: Place, hooks: Any, source: str, agent: str = "claude") -> Iterator[Step]:
    """Yield the steps for the programs of an object of hooks.

    Args:
        place: Where they are.
        hooks: Lists of groups by event; a group has a ``matcher`` and a list ``hooks``.
        source: Where they are, in words.
        agent: Whose form of calls the programs expect, ``claude`` or ``gemini``.
    """
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        ours = _OF_GEMINI.get(event) if agent == "gemini" else event
        if not isinstance(groups, list):
            continue  # switches such as ``enabled``
        for group in groups:
            for hook in group.get("hooks") or () if isinstance(group, dict) else ():
                if isinstance(hook, dict):
                    name = f"{event} {group.get('matcher') or ''}".strip()
                    yield _step(place, name, ours, {**hook, "matcher": group.get("matcher")}, source, agent=agent)


def _step(place: Place, name: str, ours: str | None, hook: dict[str, Any], source: str, *, agent: str) -> Step:
    command, matcher = hook.get("command"), hook.get("matcher")
    name = f"{name}: {str(command or hook.get('name') or hook.get('type'))[:80]}"
    if ours not in EVENTS:
        return left_out("hook", name, source, "pi has no event of this kind", scope=place.scope)
    if hook.get("type", "command") != "command" or not isinstance(command, str) or not command.strip():
        return left_out("hook", name, source, "only hooks of type command are run", scope=place.scope)
    if hook.get("if"):
        return left_out("hook", name, source, "its condition 'if' is not evaluated; use a matcher", scope=place.scope)
    if isinstance(matcher, str) and not is_matcher(matcher):
        return left_out("hook", name, source, "its matcher is not a regular expression", scope=place.scope)
    kept: dict[str, Any] = {"type": "command", "command": command}
    timeout = hook.get("timeout")
    if isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout > 0:
        kept["timeout"] = timeout / 1000 if agent == "gemini" else timeout
    if hook.get("async") is True:
        kept["async"] = True
    entry: dict[str, Any] = {"matcher": matcher} if isinstance(matcher, str) and matcher else {}
    if agent != "claude":
        entry["agent"] = agent
    change = ListItems(place.target / "hooks.json", ("hooks", str(ours)), [{**entry, "hooks": [kept]}])
    why = EVENTS[str(ours)]
    return decide("hook", name, source, change, scope=place.scope, why=why)
