"""Which characters of an instruction file a reader cannot see, though the model reads them."""

from __future__ import annotations

import re

from pi_hookspecs import ResourceProblem

__all__ = ["invisible_problem"]

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b\x0e-\x1f\x7f-\x9f"  # control characters; ESC begins what a terminal obeys
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0"  # fillers
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction: what is shown is not in the order that it is read in
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # of no width; joiners are left out, emoji and scripts need them
    "\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags, which spell whole sentences, and variation selectors
    "]"
)


def invisible_problem(path: str, text: str) -> ResourceProblem | None:
    """Return what to report about a file, at the line of the first such character; None when it has none."""
    first = _INVISIBLE.search(text)
    if first is None:
        return None
    number = sum(1 for _ in _INVISIBLE.finditer(text))
    named = f"U+{ord(first[0]):04X}"
    what = f"an invisible character, {named}" if number == 1 else f"{number:,} invisible characters, {named} first"
    line = text.count("\n", 0, first.start()) + 1
    return ResourceProblem(path=path, line=line, message=f"has {what}: the model reads what you do not see there")
