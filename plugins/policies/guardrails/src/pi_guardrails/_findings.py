"""What was found in a call: a verdict, the rule it comes from, and the reason in words."""

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
        command: The simple command it was found in, with which ``command`` of the user's rules is compared.
        path: The file, with which ``path`` of the user's rules is compared.
    """

    verdict: Verdict
    rule: str
    why: str
    command: str | None = None
    path: str | None = None


def worst(findings: list[Finding]) -> Finding | None:
    """Return the first of the gravest findings; None where there is nothing but what is allowed."""
    grave = [each for each in findings if each.verdict != "allow"]
    return max(grave, key=lambda each: SEVERITY[each.verdict], default=None)
