"""The values of a script's variables: certain if set in one place, or else several possible ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_guardrails.words import fields, source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tree_sitter import Node

__all__ = ["combined", "plain_values", "settled_value"]

TEMPORARY = "/tmp/tmp.XXXXXXXXXX"  # noqa: S108 - a name that is compared, never opened

_SETS_OTHERS = frozenset(
    ". alias builtin declare enable eval export getopts let local mapfile read readarray readonly source trap typeset "
    "unset wait".split()
)
"""Words with which a script may set a variable without ``NAME=value``, or under a computed name."""

_OF_THE_SHELL = re.compile(
    r"BASH.*|COMP.*|DIRSTACK|EUID|FUNCNAME|GROUPS|HIST.*|HOME|IFS|LINENO|MAPFILE|OLDPWD|OPT.*|PATH|PIPESTATUS|PPID|PWD"
    r"|RANDOM|REPLY|SECONDS|SHELL.*|SRANDOM|TMPDIR|UID|_"
)
"""Variables whose value the shell changes or interprets in ways not covered here."""

_PLAIN = re.compile(r"[\w./:@%+,=-]{1,1000}", re.ASCII)
"""Text that the shell does not change, quoted or not; short, because it may be inserted in many places."""

_MOST_GUESSES = 4

_MKTEMP = re.compile(
    r"\$\(\s*mktemp(\s+(-[dqut]+|--directory|--quiet|--suffix=[\w.-]+|[\w.-]+|/tmp/[\w-][\w.-]*|2>/dev/null))*\s*\)",
    re.ASCII,
)


def settled_value(node: Node, variables: Mapping[str, str], assigned: Mapping[str, int], words: set[str]) -> str | None:
    """Return the value of a variable from an assignment to the end of the script; None if uncertain.

    Args:
        node: The assignment.
        variables: Variables with known values at this place.
        assigned: How often the script assigns each variable.
        words: All words of the script, without their quotes.
    """
    name, *_ = (source(child) for child in node.children)
    if _OF_THE_SHELL.fullmatch(name) or not name.isidentifier() or not _always_runs(node):
        return None
    if assigned[name] != 1 or "IFS" in assigned or name in words:
        return None
    if words & _SETS_OTHERS or {"printf", "-v"} <= words:
        return None
    operator, value = node.children[1], node.children[-1]
    if source(operator) != "=" or value is operator:
        return None
    if _MKTEMP.fullmatch(source(value).strip('"')):
        return TEMPORARY if "TMPDIR" not in assigned else None
    return next(plain_values([value], variables), None)


def plain_values(values: Iterable[Node], variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the known values that the shell does not change, even unquoted."""
    for value in values:
        found = fields(value, variables)
        if len(found) == 1 and _PLAIN.fullmatch(found[0].text) is not None:
            yield found[0].text


def combined(guesses: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return sets of values for variables with several possible ones, so that each value is in some set.

    A danger in any one of them is worth a question. Only the first few values are examined.
    """
    count = min(max(map(len, guesses.values()), default=0), _MOST_GUESSES)
    return [
        {name: values[min(turn, len(values) - 1)] for name, values in guesses.items() if values}
        for turn in range(count)
    ]


def _always_runs(node: Node) -> bool:
    """Whether a script always executes a place, and in the shell itself rather than a subshell."""
    at, parent = node, node.parent
    while parent is not None and parent.type in ("list", "redirected_statement", "variable_assignments"):
        if parent.type == "list" and parent.children[0] != at:
            return False
        at, parent = parent, parent.parent
    after = at.next_sibling
    return parent is not None and parent.type == "program" and (after is None or after.type != "&")
