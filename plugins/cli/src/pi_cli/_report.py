"""Lines on stderr that need no front end: errors, warnings, and the trace of hook calls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_cli._words import one_line

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookTrace

__all__ = ["say", "trace_line", "warn"]


def say(line: str) -> None:
    """Write a line to stderr; where nobody reads it, nothing is lost that would help anybody."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def warn(problem: object) -> None:
    """Say what is wrong but does not stop pi."""
    say(f"Warning: {one_line(str(problem))}")


def trace_line(call: HookTrace) -> str:
    """Return one hook call as ``PI_TRACE_HOOKS=1`` shows it."""
    changed = "  changed" if call.changed else ""
    return f"hook {call.hook}  {call.plugin}  {call.milliseconds:.2f} ms{changed}"
