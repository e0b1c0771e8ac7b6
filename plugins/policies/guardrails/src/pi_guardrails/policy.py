"""The user's own rules: what the settings allow, ask about or deny beyond the built-in rules."""

from __future__ import annotations

import json
import os
from fnmatch import fnmatchcase
from glob import escape
from typing import TYPE_CHECKING, Any, cast

from attrs import evolve, frozen

from pi_guardrails.findings import SEVERITY, Finding, Verdict
from pi_guardrails.paths import GUARDED, Places
from pi_guardrails.settings import items_of, list_of, mistake, must_be

if TYPE_CHECKING:
    from pi_hookspecs import PiContext, SettingsView, UserError

__all__ = ["Policy", "Rule", "allowing_rule", "how_to_allow"]

_RULES = "guardrails.rules"
_KEYS = frozenset({"action", "tool", "command", "path", "reason"})


@frozen(kw_only=True)
class Rule:
    """One of ``guardrails.rules``.

    Attributes:
        action: What to do if all patterns match.
        tool: Pattern of the tool's name.
        command: Pattern of one simple command, its words separated by single spaces.
        path: Pattern of a file, as in ``guardrails.protectedPaths``.
        reason: Why, in the user's words.
        number: Its position in the list.
        of_project: Whether it is in a project's file, where it can only make a verdict stricter.
    """

    action: Verdict
    tool: str = "*"
    command: str | None = None
    path: str | None = None
    reason: str | None = None
    number: int = 0
    of_project: bool = False

    def fits(self, finding: Finding, tool: str, places: Places) -> bool:
        """Whether the rule matches the finding."""
        if not fnmatchcase(tool, self.tool):
            return False
        if self.command is not None:
            fold = str.casefold if tool == "powershell" else str  # its commands are the same in any case
            return finding.command is not None and fnmatchcase(fold(finding.command), fold(self.command))
        if self.path is not None:
            return finding.path is not None and _fits(finding.path, self.path, places)
        return True


@frozen(kw_only=True)
class Policy:
    """The guard's settings.

    Attributes:
        rules: The first match counts: of the user's rules, then of the project's.
        places: The folders, and the protected files in them.
    """

    rules: tuple[Rule, ...]
    places: Places

    @classmethod
    def of(cls, ctx: PiContext) -> Policy:
        """Read the settings.

        Raises:
            UserError: They are invalid. A guard that guesses the intention would be useless.
        """
        given = items_of(ctx.settings, "rules")
        extra = list_of(ctx.settings, "protectedPaths")
        for number, each in enumerate(extra):
            if not isinstance(each, str) or not each.removeprefix("!"):
                raise mistake(ctx.settings, ("guardrails", "protectedPaths"), must_be("a name", each), f"[{number}]")
        followed = tuple(name for name in ctx.project_files() if name not in GUARDED)
        places = Places(
            cwd=os.path.abspath(ctx.cwd),
            home=os.path.expanduser("~"),
            agent_dir=os.path.abspath(ctx.settings.agent_dir),
            patterns=(*followed, *GUARDED, *extra),
            followed=followed,
        )
        return cls(rules=tuple(_rule(ctx.settings, *each) for each in given), places=places)

    def settle(self, findings: list[Finding], tool: str) -> list[Finding]:
        """Return the findings after applying the user's rules."""
        return [self._settled(finding, tool) for finding in findings]

    def _settled(self, finding: Finding, tool: str) -> Finding:
        rule = next((each for each in self.rules if each.fits(finding, tool, self.places)), None)
        if rule is None:
            return finding
        if rule.of_project and SEVERITY[rule.action] <= SEVERITY[finding.verdict]:
            return finding
        why = rule.reason or f"required by {_RULES}[{rule.number}] of the settings"
        return evolve(finding, verdict=rule.action, rule="settings", why=why)


def how_to_allow(finding: Finding, tool: str) -> str:
    """Return what the user can add to the settings to allow this from now on."""
    rule = allowing_rule(finding, tool) or {"tool": tool, "action": "allow"}
    return f"{json.dumps(rule, ensure_ascii=False)} in {_RULES} of settings.json"


def allowing_rule(finding: Finding, tool: str) -> dict[str, str] | None:
    """Return the rule that allows exactly this from now on; None if it would allow every call of the tool."""
    if finding.command is not None:
        return {"tool": tool, "command": escape(finding.command), "action": "allow"}
    if finding.path is not None:
        return {"tool": tool, "path": escape(finding.path), "action": "allow"}
    return None


def _fits(path: str, pattern: str, places: Places) -> bool:
    if pattern.startswith("./"):
        pattern = os.path.join(places.cwd, pattern[2:])
    return any(places.fits(each, pattern) for each in places.meanings(path))


def _rule(settings: SettingsView, place: str, number: int, given: Any) -> Rule:
    def wrong(what: str, inside: str = "") -> UserError:
        return mistake(settings, ("guardrails", "rules"), what, f"[{number}]{inside}", place=place)

    if not isinstance(given, dict):
        raise wrong(must_be("an object", given))
    unknown = sorted(set(given) - _KEYS)
    if unknown:
        raise wrong(f"has the unknown key {unknown[0]!r}; use one of {', '.join(sorted(_KEYS))}")
    strange = next((key for key, value in given.items() if not isinstance(value, str)), None)
    if strange is not None:
        raise wrong(must_be("a string", given[strange]), f".{strange}")
    if given.get("action") not in SEVERITY:
        raise wrong(must_be("'allow', 'ask' or 'deny'", given.get("action")), ".action")
    if "command" in given and "path" in given:
        raise wrong("has both command and path; write two rules")
    own = os.path.join(os.fspath(settings.agent_dir), "settings.json")
    of_project = place != own and place.endswith(os.path.join(os.sep, ".pi", "settings.json"))
    return Rule(**cast("dict[str, Any]", given), number=number, of_project=of_project)
