"""Rows of plugin messages without a renderer of their own, of notices and of failures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.box import boxed, first_lines, inner_width
from pi_tui.lines.foreign import foreign_rows
from pi_tui.lines.images import image_rows
from pi_tui.lines.line import cells, indent
from pi_tui.lines.markdown.inline import Ink
from pi_tui.lines.markdown.stable import markdown_rows
from pi_tui.lines.wrap import wrap, wrap_text
from pi_tui.view.clean import clean

if TYPE_CHECKING:
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Custom, Error, Notice

__all__ = ["custom_rows", "error_rows", "notice_rows", "page_rows"]


def custom_rows(block: Custom, look: Look) -> list[Line]:
    """Return the rows of a plugin's message or entry; no rows for an entry that no renderer draws."""
    if look.drawings is not None and block.value is not None:
        rows = look.drawings.custom_lines(block.value, width=look.width, expanded=look.expanded)
        if rows is not None:
            return foreign_rows(rows, look.width)
    if not block.text.strip() and not block.images:
        return []
    width = inner_width(look.width)
    own = wrap([Run(f"[{block.custom_type}]", "customMessageLabel", bold=True)], width)
    own += markdown_rows(block.text, width, Ink(Run("", "customMessageText"), look.cwd))
    return boxed([*own, *image_rows(block.images, look, width)], "customMessageBg", look.width)


def notice_rows(block: Notice, look: Look) -> list[Line]:
    """Return the rows of a notice for the user."""
    role = {"info": "dim", "warning": "warning", "error": "error"}[block.level]
    return _text_rows(block.text, look.width, role)


def page_rows(text: str, width: int, *, markdown: bool, cwd: str = "") -> list[Line]:
    """Return the rows of a page for a pane: Markdown, or a text whose tables keep their columns when they wrap.

    Args:
        text: The page.
        width: Cells of a row.
        markdown: Whether it is Markdown.
        cwd: Files below this directory may be links in Markdown.
    """
    if not markdown:
        return _text_rows(clean(text), width, "text")
    return indent(markdown_rows(clean(text), max(width - 1, 1), Ink(Run(""), cwd, joined=True)), 1, width)


def _text_rows(text: str, width: int, role: str) -> list[Line]:
    inner = max(width - 1, 1)
    return indent([row for line in text.split("\n") for row in _table_rows(line, inner, role)], 1, width)


_FIRST_COLUMN = re.compile(r" *\S+(?: \S+)* {2,}(?=\S)")


def _table_rows(text: str, width: int, role: str) -> list[Line]:
    """Return the rows of a line; in a table, wrapped text continues below the second column."""
    column = _FIRST_COLUMN.match(text) if len(text) > width else None
    if column is None or cells(column[0]) > width // 2:
        return wrap_text(text, width, Run("", role))
    gap = Run(" " * cells(column[0]))
    return wrap([Run(text[column.end() :], role)], width, first=[Run(column[0], role)], rest=[gap])


def error_rows(block: Error, look: Look) -> list[Line]:
    """Return the rows of a failure, with its details if it has any and the look is expanded."""
    width = max(look.width - 1, 1)
    rows = wrap_text(f"Error: {block.text}", width, Run("", "error"))
    if look.expanded and block.detail not in ("", block.text):
        rows += first_lines(block.detail, 0, look, width, "muted")
    return indent(rows, 1, look.width)
