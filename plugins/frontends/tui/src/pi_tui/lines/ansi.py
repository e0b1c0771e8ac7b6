r"""Conversion of colours and attributes (SGR) in cleaned program output to runs.

The roles of the runs are ``ansi:0`` to ``ansi:255`` for the terminal's colours and ``#rrggbb``, in addition to the
tokens of the theme. A style continues across line breaks, as in a terminal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Run
from pi_terminal_kit.sgr import PARAMETERS, restyled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_terminal_kit.sgr import Style

__all__ = ["plain", "runs_of_lines", "styled"]

_SGR = re.compile(rf"\x1b\[({PARAMETERS})m")

_FIELDS = {"foreground": "role"}
"""Names of a run's fields, where they differ from those of a style."""


def plain(text: str) -> str:
    """Return text without colours and attributes."""
    return _SGR.sub("", text) if "\x1b" in text else text


def styled(text: str, base: Run | None = None) -> tuple[Run, ...]:
    """Return the runs of one line; ``base`` is the style of text without colours."""
    return next(runs_of_lines(text, base))


def runs_of_lines(text: str, base: Run | None = None) -> Iterator[tuple[Run, ...]]:
    """Yield the runs of each line."""
    base = (base or Run(""))._replace(text="")
    run = base
    style: Style = {}
    known: dict[tuple[Run, str], tuple[Style, Run]] = {}  # programs repeat few styles many times
    for line in text.split("\n"):
        if "\x1b" not in line:
            yield (run._replace(text=line),) if line else ()
            continue
        runs = []
        for number, part in enumerate(_SGR.split(line)):
            if number % 2:
                found = known.get((run, part))
                if found is None:
                    after = restyled(style, part)
                    fields = {_FIELDS.get(name, name): _value(each) for name, each in after.items()}
                    found = known[run, part] = after, base._replace(**fields)
                style, run = found
            elif part:
                runs.append(run._replace(text=part))
        yield tuple(runs)


def _value(value: Any) -> Any:
    """Return the field of a run for a value of a style; true and false stay."""
    if isinstance(value, tuple):
        return "#" + "".join([f"{each:02x}" for each in value])
    return value if isinstance(value, bool) else f"ansi:{value}"
