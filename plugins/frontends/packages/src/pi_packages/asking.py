"""Asks the user before a change, and before code of a source runs to build it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_hookspecs import UserError
from pi_packages.output import say

if TYPE_CHECKING:
    from pi_packages.plan import Plan

__all__ = ["agree", "agree_to_build"]

_WARNING = (
    "A plugin is Python code that runs with all your privileges; nothing inside the process can restrain it. "
    "Install only what you trust."
)


def agree(plan: Plan, *, yes: bool, quiet: bool) -> str | None:
    """Return who agrees to a plan; None if the user does not.

    Without a terminal, there is no question; only new rights or another publisher need a person, or ``-y``.

    Raises:
        UserError: A person is needed, and there is no terminal.
    """
    if yes:
        return "-y"
    if not _has_terminal():
        if plan.more_rights:
            raise UserError(f"{'; '.join(plan.more_rights)}. Run it at a terminal, or confirm with -y")
        return "no terminal"
    notes = [f"{each}." for each in plan.more_rights]
    if any(row.action != "remove" for row in plan.rows):
        notes.append(_WARNING)
    what = "" if quiet else "\n".join(plan.lines())
    return _ask("Change what is installed?", what, "\n".join(notes))


def agree_to_build(what: str, *, yes: bool) -> bool:
    """Return whether the user lets a source be built, which runs its code before there is a plan to agree to.

    Args:
        what: The source.
        yes: Whether ``-y`` was given.
    """
    why = "It is built from source: its build backend runs as you, before anything can be checked."
    if yes or not _has_terminal():
        say(f"{what}: {why}")
        return True
    return _ask("Build this package?", what, why) is not None


def _has_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _ask(title: str, what: str, why: str) -> str | None:
    from pi_core.plugin_api.approval_lines import approve_on_line
    from pi_hookspecs import Approval

    approval = Approval(title, what=what, why=why)
    return "asked" if approve_on_line(approval) is not None else None
