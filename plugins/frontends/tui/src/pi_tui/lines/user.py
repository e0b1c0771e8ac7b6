"""A message of the user: a box, with the names of its images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Run
from pi_tui.lines.box import boxed, inner_width
from pi_tui.lines.wrap import wrap_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Line
    from pi_tui.lines.look import Look
    from pi_tui.view.blocks import Image, User

__all__ = ["image_rows", "user_rows"]


def user_rows(block: User, look: Look) -> list[Line]:
    """Return the rows of a message."""
    width = inner_width(look.width)
    rows = wrap_text(block.text.strip("\n"), width, Run("", "userMessageText"))
    return boxed([*rows, *image_rows(block.images, width)], "userMessageBg", look.width)


def image_rows(images: Sequence[Image], width: int) -> list[Line]:
    """Return a row for each image, with its type and size; a front end may draw the image instead."""
    texts = [f"[image: {each.mime_type}, {_size(len(each.data) * 3 // 4)}]" for each in images]
    return [row for text in texts for row in wrap_text(text, width, Run("", "muted"))]


def _size(number: int) -> str:
    return f"{number / 1024:,.0f} KB" if number >= 1024 else f"{number} bytes"  # noqa: PLR2004 - a kilobyte
