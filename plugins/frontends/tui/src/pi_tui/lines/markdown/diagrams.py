"""Diagrams in Mermaid as rows of boxes and arrows; one that cannot be drawn, or does not fit, stays source."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pi_terminal_kit.diagrams import drawn_diagram, is_diagram

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.markdown.inline import Diagrams, Ink

__all__ = ["diagram_rows", "diagrams_of", "is_diagram"]


def diagrams_of(setting: str) -> Diagrams:
    """Return the value of the setting ``markdown.mermaid``; ``final`` for an invalid one."""
    return cast("Diagrams", setting) if setting in ("off", "streaming") else "final"


def diagram_rows(source: str, width: int, ink: Ink) -> list[Line] | None:
    """Return the rows of a diagram; None if it is displayed as source."""
    from pi_hookspecs import Line

    text = drawn_diagram(source, width)
    return None if text is None else [Line.of(ink.run(row)) for row in text.split("\n")]
