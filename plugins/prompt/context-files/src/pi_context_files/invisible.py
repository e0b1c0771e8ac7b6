"""Reports invisible characters in instruction files."""

from __future__ import annotations

from pi_core import hidden_characters
from pi_hookspecs import ResourceProblem

__all__ = ["invisible_problem"]


def invisible_problem(path: str, text: str) -> ResourceProblem | None:
    """Return a problem at the line of the first such character; None when the file has none."""
    found = list(hidden_characters(text))
    if not found:
        return None
    place, character = found[0]
    named = f"U+{ord(character):04X}"
    what = (
        f"an invisible character, {named}" if len(found) == 1 else f"{len(found):,} invisible characters, {named} first"
    )
    line = text.count("\n", 0, place) + 1
    return ResourceProblem(path=path, line=line, message=f"has {what}: the model reads what you do not see there")
