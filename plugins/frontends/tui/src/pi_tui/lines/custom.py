"""A message of a plugin without a renderer of its own, notices and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.lines.box import boxed, first_lines, inner_width
from pi_tui.lines.foreign import foreign_rows
from pi_tui.lines.line import indent
from pi_tui.lines.markdown.inline import Ink
from pi_tui.lines.markdown.stable import markdown_rows
from pi_tui.lines.user import image_rows
from pi_tui.lines.wrap import wrap, wrap_text

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Custom, Error, Notice

__all__ = ["custom_rows", "error_rows", "notice_rows"]


def custom_rows(block: Custom, look: Look) -> list[Line]:
    """Return the rows of a plugin's message or entry; none for an entry that no renderer draws."""
    if look.drawings is not None and block.value is not None:
        rows = look.drawings.render_custom_lines(block.value, width=look.width, expanded=look.expanded)
        if rows is not None:
            return foreign_rows(rows, look.width)
    if not block.text.strip() and not block.images:
        return []
    width = inner_width(look.width)
    own = wrap([Run(f"[{block.custom_type}]", "customMessageLabel", bold=True)], width)
    own += markdown_rows(block.text, width, Ink(Run("", "customMessageText"), look.cwd))
    return boxed([*own, *image_rows(block.images, width)], "customMessageBg", look.width)


def notice_rows(block: Notice, look: Look) -> list[Line]:
    """Return the rows of a line for the user."""
    role = {"info": "dim", "warning": "warning", "error": "error"}[block.level]
    return indent(wrap_text(block.text, max(look.width - 1, 1), Run("", role)), 1, look.width)


def error_rows(block: Error, look: Look) -> list[Line]:
    """Return the rows of a failure; its detail where the look is expanded and it has more."""
    width = max(look.width - 1, 1)
    rows = wrap_text(f"Error: {block.text}", width, Run("", "error"))
    if look.expanded and block.detail not in ("", block.text):
        rows += first_lines(block.detail, 0, look, width, "muted")
    return indent(rows, 1, look.width)
