"""Which values variables of a script have: one for certain, where it is set in one place, or perhaps one of several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_guardrails._words import fields, source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tree_sitter import Node

__all__ = ["combined", "plain_values", "settled_value"]

TEMPORARY = "/tmp/tmp.XXXXXXXXXX"  # noqa: S108 - a name that is compared, never opened

_SETS_OTHERS = frozenset(
    ". alias builtin declare enable eval export getopts let local mapfile read readarray readonly source trap typeset "
    "unset wait".split()
)
"""Words with which a script may set a variable in another way than ``NAME=value``, also under a name made of parts."""

_OF_THE_SHELL = re.compile(
    r"BASH.*|COMP.*|DIRSTACK|EUID|FUNCNAME|GROUPS|HIST.*|HOME|IFS|LINENO|MAPFILE|OLDPWD|OPT.*|PATH|PIPESTATUS|PPID|PWD"
    r"|RANDOM|REPLY|SECONDS|SHELL.*|SRANDOM|TMPDIR|UID|_"
)
"""Such names get another value from the shell, or make one of it that is not looked at here."""

_PLAIN = re.compile(r"[\w./:@%+,=-]{1,1000}", re.ASCII)
"""What the shell leaves as it is, with quotes and without; short, as it may be put in many places."""

_MOST_GUESSES = 4

_MKTEMP = re.compile(
    r"\$\(\s*mktemp(\s+(-[dqut]+|--directory|--quiet|--suffix=[\w.-]+|[\w.-]+|/tmp/[\w-][\w.-]*|2>/dev/null))*\s*\)",
    re.ASCII,
)


def settled_value(node: Node, variables: Mapping[str, str], assigned: Mapping[str, int], words: set[str]) -> str | None:
    """Return what a variable is from an assignment on, to the end of the script; None where that is not certain.

    Args:
        node: The assignment.
        variables: Those whose values are known at this place.
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
    """Yield the values that are known, and that the shell leaves as they are, without quotes too."""
    for value in values:
        found = fields(value, variables)
        if len(found) == 1 and _PLAIN.fullmatch(found[0].text) is not None:
            yield found[0].text


def combined(guesses: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return sets of values for variables that may have one of several, so that each value is in one of the sets.

    What one of them would do is worth a question. Only the first few values are looked at.
    """
    count = min(max(map(len, guesses.values()), default=0), _MOST_GUESSES)
    return [
        {name: values[min(turn, len(values) - 1)] for name, values in guesses.items() if values}
        for turn in range(count)
    ]


def _always_runs(node: Node) -> bool:
    """Whether a script comes past a place in any case, in the shell itself and not in one that it starts."""
    at, parent = node, node.parent
    while parent is not None and parent.type in ("list", "redirected_statement", "variable_assignments"):
        if parent.type == "list" and parent.children[0] != at:
            return False
        at, parent = parent, parent.parent
    after = at.next_sibling
    return parent is not None and parent.type == "program" and (after is None or after.type != "&")
