"""Permissions of other agents as rules of the plugin ``guardrails``, whose first matching rule decides."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from pi_import.changes import Setting
from pi_import.place import object_in
from pi_import.steps import Step, decide, left_out
from pi_import.tool_forms import rule_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_import.place import Place

__all__ = ["claude_rules", "codex_rules", "gemini_rules", "opencode_rules", "take_rules"]

Rule = dict[str, str]
"""``action`` and ``tool``, with ``command`` or ``path``."""

_RULE = re.compile(r"([\w-]+(?:__[^()]*)?)(?:\((.*)\))?", re.DOTALL)
_ACTIONS = ("deny", "ask", "allow")
_ON = (
    "guardrails are turned on, which also ask before dangerous commands and protected files; pi config set "
    "guardrails.enabled false turns them off again"
)


_EVERYTHING = "pi runs it without asking, except what guardrails ask about; allowing everything would stop that"
_YOURS = (
    "a project may not allow what you would be asked about; if you want it, add the rule to guardrails.rules"
    " in your own settings.json"
)


class StrictestFirst(Setting):
    """Rules that go before the first weaker one: the first match decides in pi, the strictest in the other agent."""

    def with_items(self, found: list[Any], added: list[Any]) -> list[Any]:
        """Return a list of rules with further ones, in which what denies comes before what asks or allows."""
        rules = [*found]
        for rule in added:
            weaker = _ACTIONS[_ACTIONS.index(rule["action"]) + 1 :]
            places = (at for at, each in enumerate(rules) if isinstance(each, dict) and each.get("action") in weaker)
            rules.insert(next(places, len(rules)), rule)
        return rules


def take_rules(
    place: Place, found: Iterable[tuple[str, str, list[Rule], str]], *, in_order: bool = False
) -> Iterator[Step]:
    """Yield the steps for rules, and for the switch that they need.

    Args:
        place: Where they are.
        found: For each rule there, how it is written, its source, the rules of pi, and why there are none or how they
            differ.
        in_order: Whether the rules are in the order in which they count; otherwise the strictest that matches decides.
    """
    applied = False
    file = place.target / "settings.json"
    for written, source, rules, why in found:
        if place.scope == "project" and any(rule["action"] == "allow" for rule in rules):
            yield left_out("permission", written, source, _YOURS, scope=place.scope)
            continue
        if not rules:
            yield left_out("permission", written, source, why, scope=place.scope)
            continue
        kind = Setting if in_order else StrictestFirst
        change = kind(place.settings, place.settings_scope, file, "guardrails.rules", rules)
        applied = True
        yield decide("permission", written, source, change, scope=place.scope, why=why)
    if applied:
        switch = Setting(place.settings, place.settings_scope, file, "guardrails.enabled", value=True)
        kept = "the rules have no effect until it is true"
        yield decide("setting", "guardrails.enabled", "permissions", switch, scope=place.scope, why=_ON, other=kept)


# Claude Code


def claude_rules(permissions: Any, source: str) -> Iterator[tuple[str, str, list[Rule], str]]:
    """Yield the rules of ``permissions`` in settings of Claude Code: first those that deny, then those that ask."""
    if not isinstance(permissions, dict):
        return
    for action in _ACTIONS:
        rules = permissions.get(action)
        for written in rules if isinstance(rules, list) else ():
            if isinstance(written, str) and written.strip():
                ours, why = _of_claude(written.strip(), action)
                yield f"{action} {written}", source, ours, why


def _of_claude(written: str, action: str) -> tuple[list[Rule], str]:
    found = _RULE.fullmatch(written)
    tools = rule_tools(found[1]) if found is not None else ()
    if found is None or not tools:
        return [], "pi has no tool of this name"
    inside = (found[2] or "").strip()
    if inside in ("", "*"):
        return _whole(tools, action)
    if tools == ("bash",):
        return _of_commands(_commands(inside), action)
    return _of_files(tools, _path(inside), action)


def _of_commands(patterns: list[str], action: str) -> tuple[list[Rule], str]:
    """Return the rules for commands that match one of the patterns."""
    if action == "allow" and any(map(_names_nothing, patterns)):
        return [], _EVERYTHING
    return [{"tool": "bash", "command": each, "action": action} for each in patterns], ""


def _names_nothing(pattern: str) -> bool:
    """Whether a pattern has no letter and no digit, such as ``**``, ``* *`` and ``*:*``: it means every command."""
    return not any(map(str.isalnum, pattern))


def _whole(tools: tuple[str, ...], action: str) -> tuple[list[Rule], str]:
    """Return the rules for all calls of tools; allowing them all would turn the guard off for them."""
    if action == "allow" and not tools[0].startswith("mcp__"):
        return [], _EVERYTHING
    return [{"tool": tool, "action": action} for tool in tools], ""


def _commands(inside: str) -> list[str]:
    """Return the patterns of commands: ``git push:*`` and ``git push *`` mean that command with any arguments."""
    head = inside.removesuffix(":*") if inside.endswith(":*") else inside.removesuffix(" *")
    if head != inside and head and not head.endswith("*"):
        return [_glob(head), f"{_glob(head)} *"]
    return [_glob(inside)]


def _glob(pattern: str) -> str:
    """Return a pattern in which only ``*`` is special."""
    return re.sub(r"[\[?]", lambda found: f"[{found[0]}]", " ".join(pattern.split()))


def _path(inside: str) -> str:
    """Return the pattern of files: ``//etc`` is absolute, ``/src`` and ``./src`` begin at the project."""
    path = inside.removeprefix("/") if inside.startswith("//") else inside
    if inside.startswith("/") and not inside.startswith("//"):
        path = f".{inside}"
    return path


# codex


def codex_rules(text: str, source: str) -> Iterator[tuple[str, str, list[Rule], str]]:
    """Yield the rules of a file of ``~/.codex/rules``: calls of ``prefix_rule`` with literal arguments."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield source.rpartition("/")[2], source, [], "it cannot be parsed"
        return
    found: list[tuple[int, str, list[Rule], str]] = []
    for each in body:
        call = each.value if isinstance(each, ast.Expr) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "prefix_rule"):
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):
                written = ast.unparse(each).splitlines()[0][:80]
                found.append((3, written, [], "pi imports only prefix_rule(...)"))
            continue
        found.append(_prefix_rule(call))
    for _, written, rules, why in sorted(found, key=lambda row: row[0]):  # the strictest rule decides
        yield written, source, rules, why


def _prefix_rule(call: ast.Call) -> tuple[int, str, list[Rule], str]:
    actions = {"forbidden": "deny", "prompt": "ask", "allow": "allow"}
    try:
        values = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        values = {}
    pattern, action = values.get("pattern"), actions.get(str(values.get("decision", "allow")))
    if not isinstance(pattern, list) or not pattern or action is None:
        return 3, "prefix_rule", [], "it has no list of words, or an unknown decision"
    heads = [""]
    for part in pattern:
        words = part if isinstance(part, list) else [part]
        heads = [f"{head} {_glob(str(word))}".strip() for head in heads for word in words][:50]
    reason = values.get("justification")
    rules, why = _of_commands([each for head in heads for each in (head, f"{head} *")], action)
    if isinstance(reason, str) and reason.strip():
        rules = [{**rule, "reason": reason} for rule in rules]
    words = ["|".join(map(str, part)) if isinstance(part, list) else str(part) for part in pattern]
    return _ACTIONS.index(action), f"{values.get('decision', 'allow')} {' '.join(words)}", rules, why


# opencode


def opencode_rules(permission: Any, source: str, tools: Any = None) -> Iterator[tuple[str, str, list[Rule], str]]:
    """Yield the rules of ``opencode.json``; there the last match decides, so they are reversed.

    Args:
        permission: The value of ``permission``.
        source: The file.
        tools: The value of ``tools``, which says of each tool whether the model is offered it.
    """
    for name, is_on in tools.items() if isinstance(tools, dict) else ():
        if is_on is False:
            ours = _whole(rule_tools(str(name)), "deny")[0]
            yield f"tools {name} off", source, ours, "" if ours else "pi has no tool of this name"
    if isinstance(permission, str):
        permission = {"*": permission}
    if not isinstance(permission, dict):
        return
    for tool, value in reversed(permission.items()):
        patterns = value if isinstance(value, dict) else {"*": value}
        for pattern, action in reversed(patterns.items()):
            written = f"{action} {tool}" + (f" {pattern}" if isinstance(value, dict) else "")
            yield written, source, *_of_opencode(str(tool), str(pattern), action, alone=len(patterns) == 1)


def _of_opencode(tool: str, pattern: str, action: Any, *, alone: bool) -> tuple[list[Rule], str]:
    if action not in _ACTIONS:
        return [], "its action is not allow, ask or deny"
    if tool == "*":
        return _whole(("*",), action)
    if tool == "external_directory":
        return [], "guardrails ask before files outside the working directory are written"
    tools = rule_tools(tool)
    if pattern == "*" and tools and (alone or action == "allow"):  # a rule without a pattern leaves no exceptions
        return _whole(tools, action)
    if tools == ("bash",):
        return _of_commands(_commands(pattern), action)
    path = pattern.replace("$HOME", "~", 1) if pattern.startswith("$HOME") else pattern
    return _of_files(tools, _glob(path), action)


def _of_files(tools: tuple[str, ...], path: str, action: str) -> tuple[list[Rule], str]:
    """Return the rules for calls with a file; commands that read the file are not among these calls."""
    if not tools:
        return [], "pi has no tool of this name"
    if tools[0] not in ("read", "edit", "write", "grep", "find", "ls"):
        return [], "pi's rules match commands and files, not other arguments"
    if action == "allow" and _names_nothing(path) and not path.startswith("./"):
        return [], _EVERYTHING
    why = "commands that read the file are not covered" if action == "deny" and tools == ("read",) else ""
    return [{"tool": tool, "path": path, "action": action} for tool in tools], why


# Gemini CLI


def gemini_rules(settings: dict[str, Any], source: str) -> Iterator[tuple[str, str, list[Rule], str]]:
    """Yield the rules of ``tools.exclude`` and ``tools.allowed``, and of their former names."""
    tools = object_in(settings, "tools")
    for action, keys in (("deny", ("exclude", "excludeTools")), ("allow", ("allowed", "allowedTools"))):
        names = tools.get(keys[0], settings.get(keys[1]))
        for written in names if isinstance(names, list) else ():
            if isinstance(written, str):
                yield f"{action} {written}", source, *_of_gemini(written.strip(), action)
    core = tools.get("core", settings.get("coreTools"))
    if isinstance(core, list) and core:
        why = "pi offers all tools; --tools restricts them for a run"
        yield f"tools.core {', '.join(map(str, core))}", source, [], why


def _of_gemini(written: str, action: str) -> tuple[list[Rule], str]:
    found = _RULE.fullmatch(written)
    tools = rule_tools(found[1]) if found is not None else ()
    if found is None or not tools:
        return [], "pi has no tool of this name"
    inside = (found[2] or "").strip()
    if not inside:
        return _whole(tools, action)
    if tools != ("bash",):
        return [], "pi's rules match commands and files, not other arguments"
    return _of_commands([_glob(inside), f"{_glob(inside)} *"], action)
