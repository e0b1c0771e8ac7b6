"""The text that ``/skill:NAME`` sends in place of itself, and how it is displayed and typed again."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["SkillCall", "as_typed", "skill_call"]

_BLOCK = re.compile(r'<skill name="(?P<name>[^"\n]+)" location="[^"\n]*">\n.*?\n</skill>(?:\n\n|\Z)', re.DOTALL)


class SkillCall(NamedTuple):
    """A skill that a message of the user begins with, and the text that the user gave it."""

    name: str
    rest: str


def skill_call(text: str) -> SkillCall | None:
    """Return the skill that a message begins with; None for any other message."""
    found = _BLOCK.match(text)
    return SkillCall(found["name"], text[found.end() :]) if found is not None else None


def as_typed(text: str) -> str:
    """Return a message of the user as it was typed: with ``/skill:NAME`` in place of the skill's text."""
    call = skill_call(text)
    return text if call is None else f"/skill:{call.name} {call.rest}".rstrip()
