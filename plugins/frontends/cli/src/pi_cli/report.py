"""Output without a front end: of subcommands on stdout; errors, warnings and the hook trace on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_core.base.terminal_text import clean_text, one_line

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookTrace

__all__ = ["print_json", "print_lines", "say", "trace_line", "warn"]


def print_lines(*lines: str) -> None:
    """Write lines to stdout: cleaned at a terminal, as ``say`` does, unchanged to a pipe or file."""
    sys.stdout.write("".join(f"{line}\n" for line in (map(_cleaned, lines) if sys.stdout.isatty() else lines)))


def print_json(value: object) -> None:
    """Write a value to stdout as indented JSON; a value that is not JSON is written as its ``repr``."""
    import json

    print_lines(*json.dumps(value, indent=2, ensure_ascii=False, default=repr).split("\n"))


def say(*lines: str) -> None:
    """Write lines to stderr, without known secrets, line breaks and control characters; it may be closed."""
    if sys.stderr is None:
        return
    from pi_core.agent.safe_text import redacted

    try:
        sys.stderr.write("".join(f"{_cleaned(redacted(line))}\n" for line in lines))
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def warn(problem: object) -> None:
    """Print a warning to stderr."""
    say(f"Warning: {one_line(str(problem))}")


def trace_line(call: HookTrace) -> str:
    """Return one hook call as ``PI_TRACE_HOOKS=1`` shows it."""
    changed = "  changed" if call.changed else ""
    return f"hook {call.hook}  {call.plugin}  {call.milliseconds:.2f} ms{changed}"


def _cleaned(line: str) -> str:
    return clean_text(line).replace("\n", "\\n")
