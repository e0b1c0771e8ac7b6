r"""Conversion of colours and attributes (SGR) in cleaned program output to runs.

The roles of the runs are ``ansi:0`` to ``ansi:255`` for the terminal's colours and ``#rrggbb``, in addition to the
tokens of the theme. A style continues across line breaks, as in a terminal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["plain", "runs_of_lines", "styled"]

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")

_ON: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
    **{30 + number: {"role": f"ansi:{number}"} for number in range(8)},
    **{40 + number: {"background": f"ansi:{number}"} for number in range(8)},
    **{90 + number: {"role": f"ansi:{8 + number}"} for number in range(8)},
    **{100 + number: {"background": f"ansi:{8 + number}"} for number in range(8)},
}
"""What each code that consists of one value changes."""

_BASE = {39: "role", 49: "background"}

_EXTENDED = {38: "role", 48: "background"}

_INDEXED, _DIRECT = 5, 2


def plain(text: str) -> str:
    """Return text without colours and attributes."""
    return _SGR.sub("", text) if "\x1b" in text else text


def styled(text: str, base: Run | None = None) -> tuple[Run, ...]:
    """Return the runs of one line; ``base`` is the style of text without colours."""
    return next(runs_of_lines(text, base))


def runs_of_lines(text: str, base: Run | None = None) -> Iterator[tuple[Run, ...]]:
    """Yield the runs of each line."""
    base = (base or Run(""))._replace(text="")
    style = base
    for line in text.split("\n"):
        if "\x1b" not in line:
            yield (style._replace(text=line),) if line else ()
            continue
        runs = []
        for number, part in enumerate(_SGR.split(line)):
            if number % 2:
                style = _applied(style, part, base)
            elif part:
                runs.append(style._replace(text=part))
        yield tuple(runs)


def _applied(style: Run, codes: str, base: Run) -> Run:
    """Return the style that results from applying one sequence."""
    values = [int(each) if each.isdigit() else 0 for each in codes.replace(":", ";").split(";")]
    values = [min(each, 999) for each in values]
    while values:
        code = values.pop(0)
        if code == 0:
            style = base
        elif code in _ON:
            style = style._replace(**_ON[code])
        elif code in _BASE:
            style = style._replace(**{_BASE[code]: getattr(base, _BASE[code])})
        elif code in _EXTENDED:
            colour = _extended(values)
            changes: dict[str, Any] = {} if colour is None else {_EXTENDED[code]: colour}
            style = style._replace(**changes)
    return style


def _extended(values: list[int]) -> str | None:
    """Return the colour that follows code 38 or 48, and remove its values."""
    how = values.pop(0) if values else 0
    if how == _INDEXED and values:
        return f"ansi:{min(values.pop(0), 255)}"
    if how == _DIRECT:
        parts = [min(each, 255) for each in values[:3]]
        del values[:3]
        return "#" + "".join([f"{each:02x}" for each in parts]) if len(parts) == len("rgb") else None
    return None
