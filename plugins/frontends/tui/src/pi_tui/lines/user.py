"""Rows of a user's message: a box with its text and images; the text of a skill is collapsed to its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.lines.box import boxed, inner_width
from pi_tui.lines.images import image_rows
from pi_tui.lines.wrap import wrap, wrap_text
from pi_tui.view.skills import skill_call

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import User

__all__ = ["user_rows"]


def user_rows(block: User, look: Look) -> list[Line]:
    """Return the rows of a message."""
    width = inner_width(look.width)
    text = block.text.strip("\n")
    skill = skill_call(text)
    rows = []
    if skill is not None and not look.expanded:
        hint = look.hints.get("expand")
        parts = [Run(f"[skill] {skill.name}", "userMessageText", bold=True)]
        rows += wrap([*parts, Run(f" ({hint} to expand)" if hint else "", "muted")], width)
        text = skill.rest
    rows += wrap_text(text, width, Run("", "userMessageText")) if text or not rows else []
    return boxed([*rows, *image_rows(block.images, look, width)], "userMessageBg", look.width)
