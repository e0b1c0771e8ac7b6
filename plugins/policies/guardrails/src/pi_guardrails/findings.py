"""A finding about a call: a verdict, the rule behind it, and the reason in words."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

__all__ = ["SEVERITY", "Finding", "Verdict", "worst"]

Verdict: TypeAlias = Literal["allow", "ask", "deny"]

SEVERITY: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


@frozen
class Finding:
    """One reason for a verdict.

    Attributes:
        rule: Its name, one word.
        why: A sentence without its full stop.
        command: The simple command it was found in, matched against ``command`` of the user's rules.
        path: The file, matched against ``path`` of the user's rules.
    """

    verdict: Verdict
    rule: str
    why: str
    command: str | None = None
    path: str | None = None


def worst(findings: list[Finding]) -> Finding | None:
    """Return the first of the most severe findings; None if everything is allowed."""
    grave = [each for each in findings if each.verdict != "allow"]
    return max(grave, key=lambda each: SEVERITY[each.verdict], default=None)
