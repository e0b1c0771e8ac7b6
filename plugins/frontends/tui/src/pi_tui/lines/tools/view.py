"""The protocol of tool views, and helpers that several views share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pi_hookspecs import Run
from pi_tui.lines.box import first_lines
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Tool

__all__ = ["ToolView", "exact_label", "failure", "is_invalid", "label", "place", "text_argument", "title"]

_LONGEST_LABEL = 500

_FIRST_OF_FAILURE = 10


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


def is_invalid(arguments: Mapping[str, Any], *names: str) -> bool:
    """Whether the first of these arguments that is given is no string."""
    given = next((arguments[name] for name in names if arguments.get(name) is not None), "")
    return not isinstance(given, str)


def place(arguments: Mapping[str, Any], look: Look, *names: str, empty: str = "...", role: str = "accent") -> Run:
    """Return the path that an argument names, as a link if it is in the working directory.

    Args:
        arguments: The call's arguments.
        look: The look.
        names: Names that the argument may have.
        empty: The text if there is no path, or not yet.
        role: The role of a path.
    """
    if is_invalid(arguments, *names):
        return Run("[invalid arg]", "error")
    path = label(arguments, *names)
    return Run(look.path(path), role, link=look.file_link(path)) if path else Run(empty, role)


def failure(block: Tool, look: Look, width: int) -> list[Line]:
    """Return the reason of a failed call, broken between words."""
    return first_lines(block.output.strip("\n"), _FIRST_OF_FAILURE, look, width, "error", words=True)


def title(name: str, *parts: str | Run) -> list[Run]:
    """Return the tool's name in bold, followed by the given text."""
    runs = [Run(name, "toolTitle", bold=True)]
    for part in parts:
        if isinstance(part, Run):
            runs.append(part)
        elif part:
            runs.append(Run(f" {part}", "accent"))
    return runs
