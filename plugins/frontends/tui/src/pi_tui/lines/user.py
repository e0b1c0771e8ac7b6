"""Rows of a user's message: a box with its text and images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.lines.box import boxed, inner_width
from pi_tui.lines.images import image_rows
from pi_tui.lines.wrap import wrap_text

if TYPE_CHECKING:
    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import User

__all__ = ["user_rows"]


def user_rows(block: User, look: Look) -> list[Line]:
    """Return the rows of a message."""
    width = inner_width(look.width)
    rows = wrap_text(block.text.strip("\n"), width, Run("", "userMessageText"))
    return boxed([*rows, *image_rows(block.images, look, width)], "userMessageBg", look.width)
