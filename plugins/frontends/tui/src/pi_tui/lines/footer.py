"""The rows below the editor: the working directory, usage, the model, and the statuses of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.ansi import styled
from pi_tui.lines.line import cells, cut, cut_text
from pi_tui.view.numbers import context_text, fullness, model_text, usage_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_tui.lines.look import Look
    from pi_tui.view.state import Footer

__all__ = ["footer_rows", "window_title"]

_GAP = 2
"""Minimum number of cells between the left and the right side."""

_ROLES = {"": "dim", "warning": "warning", "error": "error"}


def footer_rows(footer: Footer, statuses: Mapping[str, str], look: Look) -> list[Line]:
    """Return two rows, and a third one if plugins have statuses, which are sorted by their keys."""
    rows = [cut(Line.of(Run(_place(footer, look), "dim")), look.width), _figures(footer, look.width)]
    if statuses:
        text = " ".join(statuses[key] for key in sorted(statuses))
        rows.append(cut(Line(styled(text, Run("", "dim"))), look.width))
    return rows


def window_title(footer: Footer) -> str:
    """Return ``π - name - folder``."""
    folder = footer.cwd.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or footer.cwd
    return " - ".join(part for part in ("π", footer.name, folder) if part)


def _place(footer: Footer, look: Look) -> str:
    home = look.home.rstrip("/")
    path = f"~{footer.cwd[len(home) :]}" if home and f"{footer.cwd}/".startswith(f"{home}/") else footer.cwd
    branch = f" ({footer.branch})" if footer.branch else ""
    return f"{path}{branch}{f' • {footer.name}' if footer.name else ''}"


def _figures(footer: Footer, width: int) -> Line:
    """Return the row of usage figures and the model; only the model if there is no room for both."""
    right = cut_text(model_text(footer), width)
    room = width - cells(right) - _GAP
    usage, context = usage_text(footer), context_text(footer)
    left = [Run(f"{usage} " if usage and context else usage, "dim"), Run(context, _ROLES[fullness(footer)])]
    line = cut(Line(tuple([run for run in left if run.text])), max(room, 0))
    space = width - cells(str(line)) - cells(right)
    return Line((*line.runs, Run(" " * space, "dim"), Run(right, "dim")))
