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
    "A plugin is Python code with all your rights; nothing inside the process can hold it back. Install what you trust."
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
    if not quiet:
        for line in plan.lines():
            say(line)
    for each in plan.more_rights:
        say(f"Note: {each}.")
    if any(row.action != "remove" for row in plan.rows):
        say(_WARNING)
    return _ask()


def agree_to_build(what: str, *, yes: bool) -> bool:
    """Return whether the user lets a source be built, which runs its code before there is a plan to agree to.

    Args:
        what: The source.
        yes: Whether ``-y`` was given.
    """
    say(f"{what} is built from source: its build backend runs as you, before anything can be checked.")
    return yes or not _has_terminal() or _ask() is not None


def _has_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _ask() -> str | None:
    sys.stderr.write("Go on? [Y/n] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    return "asked" if answer and answer.strip().lower() in ("", "y", "yes") else None
