"""The protocol of tool views, and helpers that several views share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pi_hookspecs import Run
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["ToolView", "exact_label", "label", "text_argument", "title"]

_LONGEST_LABEL = 500


class ToolView(Protocol):
    """Draws the calls of a tool. Arguments come from the model: they may be incomplete and of any type."""

    def title(self, arguments: Mapping[str, Any], look: Look) -> list[Run]:
        """Return the first line: the tool and its target."""
        ...

    def body(self, block: Tool, arguments: Mapping[str, Any], look: Look, width: int) -> list[Line]:
        """Return the rows below the title."""
        ...


def text_argument(arguments: Mapping[str, Any], *names: str) -> str:
    """Return the first of these arguments that is a string, cleaned; empty if none is."""
    value = next((arguments[name] for name in names if isinstance(arguments.get(name), str)), "")
    return clean(value)


def label(arguments: Mapping[str, Any], *names: str) -> str:
    """Return the first of these arguments that is a string, on one line."""
    return " ".join(exact_label(arguments, *names).split())


def exact_label(arguments: Mapping[str, Any], *names: str) -> str:
    """Return the same with all its blanks, which count in a pattern."""
    value = next((arguments[name] for name in names if isinstance(arguments.get(name), str)), "")
    return clean(value[:_LONGEST_LABEL]).replace("\n", " ")


def title(name: str, *parts: str | Run) -> list[Run]:
    """Return the tool's name in bold, followed by the given text."""
    runs = [Run(name, "toolTitle", bold=True)]
    for part in parts:
        if isinstance(part, Run):
            runs.append(part)
        elif part:
            runs.append(Run(f" {part}", "accent"))
    return runs
