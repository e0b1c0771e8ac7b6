"""Layout of Markdown blocks: paragraphs, headings, quotes, rules, and the blocks of the other modules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Line
from pi_tui.lines.line import BLANK
from pi_tui.lines.markdown.code import code_rows, fence_row, highlighted
from pi_tui.lines.markdown.diagrams import diagram_rows, is_diagram
from pi_tui.lines.markdown.inline import inline_lines
from pi_tui.lines.markdown.lists import list_rows
from pi_tui.lines.markdown.syntax import parsed
from pi_tui.lines.markdown.tables import table_rows
from pi_tui.lines.wrap import chop, wrap, wrap_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_tui.lines.markdown.inline import Ink

__all__ = ["piece_rows"]

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def piece_rows(text: str, width: int, ink: Ink) -> list[Line]:
    """Return the rows of a piece of Markdown, with blank rows between its blocks."""
    from markdown_it.tree import SyntaxTreeNode

    rows = _blocks(SyntaxTreeNode(parsed(text)), width, ink)
    if not rows and not _COMMENT.sub("", text).strip():
        return []
    return rows or wrap_text(text.strip("\n"), width, ink.style)  # nested too deeply, or only link definitions


def _blocks(parent: Any, width: int, ink: Ink) -> list[Line]:
    rows: list[Line] = []
    for node in parent.children:
        made = _block(node, width, ink)
        if rows and made and not _is_tight(node):
            rows.append(BLANK)
        rows += made
    return rows


def _is_tight(node: Any) -> bool:
    """Whether a block follows the previous block without a blank row, as a list in an item of a tight list does."""
    before = node.previous_sibling
    return bool(before is not None and before.type == "paragraph" and before.hidden)


def _block(node: Any, width: int, ink: Ink) -> list[Line]:
    return _LAYOUTS.get(node.type, _source)(node, width, ink)


def _list(node: Any, width: int, ink: Ink) -> list[Line]:
    return list_rows(node, width, ink, _blocks)


def _rule(node: Any, width: int, ink: Ink) -> list[Line]:  # noqa: ARG001 - as the others
    return [Line.of(ink.run("─" * min(width, 80), role="mdHr"))]


def _wrapped(node: Any, width: int, ink: Ink) -> list[Line]:
    lines = [line for child in node.children for line in inline_lines(child, ink)]
    return [row for line in lines for row in wrap(line, width)]


def _heading(node: Any, width: int, ink: Ink) -> list[Line]:
    level = int(node.tag[1:])
    inner = ink.with_style(role="mdHeading", bold=True, underline=level == 1)
    runs = [run for child in node.children for line in inline_lines(child, inner) for run in line]
    marks = [inner.run(f"{'#' * level} ")] if level > 2 else []  # noqa: PLR2004 - the first two look different
    return wrap([*marks, *runs], width)


def _quote(node: Any, width: int, ink: Ink) -> list[Line]:
    inner = ink.with_style(role="mdQuote", italic=True)
    border = ink.run("│ ", role="mdQuoteBorder")
    if width <= len(border.text):
        return _blocks(node, width, inner)
    return [Line((border, *row.runs), row.fill) for row in _blocks(node, width - len(border.text), inner)]


def _code(node: Any, width: int, ink: Ink) -> list[Line]:
    language = (node.info.split() or [""])[0]
    code = node.content.removesuffix("\n")
    plain = ink.run("", role="mdCodeBlock")
    if ink.highlight and ink.diagrams != "off" and is_diagram(language):
        drawn = diagram_rows(code, width, ink)
        if drawn is not None:
            return drawn
    rows = [
        row for line in code_rows(highlighted(code, language if ink.highlight else "", plain), width) for row in line
    ]
    if node.type == "code_block":
        return rows
    return [*fence_row(f"```{language}", ink, width), *rows, *fence_row("```", ink, width)]


def _source(node: Any, width: int, ink: Ink) -> list[Line]:
    """Return the source of a block without a layout of its own, such as HTML; comments in it are not for readers."""
    content = (node.content or "").rstrip("\n")
    if node.type == "html_block" and "<!--" in content:
        content = _COMMENT.sub("", content).strip()
        if not content:
            return []
    lines: Sequence[str] = content.split("\n")
    return [row for line in lines for row in chop([ink.run(line, role="muted")], width)]


_LAYOUTS: dict[str, Callable[[Any, int, Ink], list[Line]]] = {
    "paragraph": _wrapped,
    "heading": _heading,
    "bullet_list": _list,
    "ordered_list": _list,
    "fence": _code,
    "code_block": _code,
    "table": table_rows,
    "blockquote": _quote,
    "hr": _rule,
}
