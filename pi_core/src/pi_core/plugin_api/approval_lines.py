"""An approval as lines of a terminal: the question, what it is about, why, and the answers by their keys."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pi_core.base.terminal_text import clean_text, one_line

if TYPE_CHECKING:
    from pi_hookspecs import Approval, ApprovalChoice

__all__ = ["TRIES", "approval_rows", "approve_on_line", "choice_by_key", "key_question", "not_a_key"]

TRIES = 3
"""How often a wrong key can be typed; afterwards, the answer is a refusal."""

_SHOWN = 60
"""Characters of an answer that are echoed in errors; a key may have been pasted at the wrong question."""


def approval_rows(approval: Approval) -> list[str]:
    """Return the question, what it is about, why, and each answer with its key and what it would mean."""
    parts = [line for part in (approval.what, approval.why) if part for line in clean_text(part).split("\n")]
    answers = [
        f"{key}  {one_line(each.label)}{f': {one_line(each.means)}' if each.means else ''}"
        for key, each in _by_key(approval).items()
    ]
    return [one_line(approval.title), *(f"  {line}".rstrip() for line in (*parts, *answers))]


def key_question(approval: Approval) -> str:
    """Return the question for a key; Enter alone refuses, and the refusing key is in upper case."""
    keys = (key if choice.allows else key.upper() for key, choice in _by_key(approval).items())
    return f"Answer [{'/'.join(keys)}]"


def choice_by_key(approval: Approval, typed: str) -> ApprovalChoice | None:
    """Return the choice of a typed key, or of ``yes`` or ``no``; None if there is none."""
    key = typed.strip().lower()
    return _by_key(approval).get({"yes": "y", "no": "n"}.get(key, key))


def not_a_key(typed: str) -> str:
    """Return what to say about an answer that is no key."""
    return f"{one_line(typed)[:_SHOWN]!r} is not one of them; pressing Enter alone refuses."


def approve_on_line(approval: Approval) -> str | None:
    """Ask at the terminal of a command that has no session: on stderr, answered by lines of stdin; this blocks.

    Returns:
        The answer of a choice that allows, or of a lasting refusal; else None, also at the end of the input.
    """
    _write("\n".join([*approval_rows(approval), ""]))
    for _ in range(TRIES):
        _write(f"{key_question(approval)}: ")
        typed = sys.stdin.readline() if sys.stdin is not None else ""
        if not typed.strip():
            return None
        found = choice_by_key(approval, typed)
        if found is not None:
            return found.answer if found.allows or found.lasting else None
        _write(f"{not_a_key(typed.strip())}\n")
    return None


def _by_key(approval: Approval) -> dict[str, ApprovalChoice]:
    return {each.key or str(number): each for number, each in enumerate(approval.choices, 1)}


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
