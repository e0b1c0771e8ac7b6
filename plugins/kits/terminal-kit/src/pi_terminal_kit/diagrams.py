"""Diagrams in Mermaid as boxes and arrows of text; one that cannot be drawn, or does not fit, is None."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pi_terminal_kit.words import width_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["drawn_diagram", "is_diagram"]

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


def is_diagram(language: str) -> bool:
    """Whether a fence of this language may be a diagram."""
    return language.lower() == "mermaid"


@lru_cache(maxsize=32)
def drawn_diagram(source: str, width: int) -> str | None:
    """Return the rows of a diagram as one text, at most so many columns wide."""
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
        if max(map(width_of, rows)) <= width:
            return "\n".join(rows)
    return None


def _attempts(source: str) -> Iterator[str]:
    import termaid

    for spacing in _SPACING:
        try:
            yield termaid.render(source, **spacing)
        except Exception:  # noqa: BLE001 - whatever a model's text causes in the library
            return
