"""Rows of a summary that replaces a compacted part of the conversation or an abandoned branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_terminal_kit.words import compacted
from pi_tui.lines.box import boxed, inner_width
from pi_tui.lines.markdown.inline import Ink
from pi_tui.lines.markdown.stable import markdown_rows
from pi_tui.lines.wrap import wrap

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Summary

__all__ = ["summary_rows"]


def summary_rows(block: Summary, look: Look) -> list[Line]:
    """Return the rows of a summary."""
    width = inner_width(look.width)
    label, title = _titles(block)
    rows = wrap([Run(f"[{label}]", "customMessageLabel", bold=True)], width)
    hint = look.hints.get("expand")
    if look.expanded:
        rows += wrap([Run(title, "customMessageText")], width)
        rows += markdown_rows(block.text, width, Ink(Run("", "customMessageText"), look.cwd))
    else:
        rows += wrap([Run(f"{title}{f' ({hint} to expand)' if hint else ''}", "customMessageText")], width)
    return boxed(rows, "customMessageBg", look.width)


def _titles(block: Summary) -> tuple[str, str]:
    if block.of == "branch":
        return "branch", "Summary of the abandoned branch"
    return "compaction", compacted(block.tokens_before, block.tokens_after)
