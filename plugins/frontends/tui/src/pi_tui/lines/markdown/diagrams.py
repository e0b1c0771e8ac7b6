"""Diagrams in Mermaid as boxes and arrows; one that cannot be drawn, or does not fit, stays source."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from pi_tui.lines.line import cells

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pi_hookspecs import Line
    from pi_tui.lines.markdown.inline import Diagrams, Ink

__all__ = ["diagram_rows", "diagrams_of", "is_diagram"]

_KINDS = re.compile(
    r"(?:\s|%%[^\n]*\n)*(?:graph|flowchart|sequenceDiagram|stateDiagram|classDiagram|erDiagram|pie|mindmap)\b"
)
_LONGEST, _MOST_LINES = 1500, 24
"""Characters and lines of a source that is drawn; the layout of a larger one would hold up the screen."""

_SPACING: tuple[dict[str, Any], ...] = (
    {"padding_x": 2, "padding_y": 0, "gap": 3},
    {"padding_x": 2, "padding_y": 0, "gap": 1, "max_label_width": 20},
    {"padding_x": 0, "padding_y": 0, "gap": 1, "max_label_width": 8},
)
"""Looser spacing first; the first that fits is used."""


def diagrams_of(setting: str) -> Diagrams:
    """Return the value of the setting ``markdown.mermaid``; ``final`` for an invalid one."""
    return cast("Diagrams", setting) if setting in ("off", "streaming") else "final"


def is_diagram(language: str) -> bool:
    """Whether a fence of this language may be a diagram."""
    return language.lower() == "mermaid"


def diagram_rows(source: str, width: int, ink: Ink) -> list[Line] | None:
    """Return the rows of a diagram; None if it is displayed as source."""
    from pi_hookspecs import Line

    text = _drawn(source, width)
    return None if text is None else [Line.of(ink.run(row)) for row in text.split("\n")]


@lru_cache(maxsize=32)
def _drawn(source: str, width: int) -> str | None:
    if len(source) > _LONGEST or source.count("\n") >= _MOST_LINES or _KINDS.match(source) is None:
        return None
    for text in _attempts(source):
        rows = [row.rstrip() for row in text.split("\n")]
        while rows and not rows[0]:
            rows.pop(0)
        while rows and not rows[-1]:
            rows.pop()
        if not rows:
            return None
        if max(map(cells, rows)) <= width:
            return "\n".join(rows)
    return None


def _attempts(source: str) -> Iterator[str]:
    import termaid

    for spacing in _SPACING:
        try:
            yield termaid.render(source, **spacing)
        except Exception:  # noqa: BLE001 - whatever a model's text causes in the library
            return
