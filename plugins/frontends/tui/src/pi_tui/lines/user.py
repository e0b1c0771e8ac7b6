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

_HEAD = 32
"""Characters of base64 data that are decoded: its first 24 bytes."""


def user_rows(block: User, look: Look) -> list[Line]:
    """Return the rows of a message."""
    width = inner_width(look.width)
    rows = wrap_text(block.text.strip("\n"), width, Run("", "userMessageText"))
    return boxed([*rows, *image_rows(block.images, width)], "userMessageBg", look.width)


def image_rows(images: Sequence[Image], width: int) -> list[Line]:
    """Return a row for each image: its type, and its size in pixels or bytes. A front end may draw it instead."""
    texts = [f"[image: {each.mime_type.removeprefix('image/')}, {_measure(each.data)}]" for each in images]
    return [row for text in texts for row in wrap_text(text, width, Run("", "muted"))]


def _measure(data: str) -> str:
    """Return ``640x480`` by the first bytes of a PNG or GIF, else the size of the data."""
    import base64
    import binascii

    try:
        head = base64.b64decode(data[:_HEAD])
    except (ValueError, binascii.Error):
        head = b""
    if head.startswith(b"\x89PNG") and len(head) >= 24:  # noqa: PLR2004 - the end of the two numbers
        return f"{int.from_bytes(head[16:20])}x{int.from_bytes(head[20:24])}"
    if head.startswith(b"GIF8") and len(head) >= 10:  # noqa: PLR2004 - as above
        return f"{int.from_bytes(head[6:8], 'little')}x{int.from_bytes(head[8:10], 'little')}"
    size = len(data) * 3 // 4
    return f"{size / 1024:,.0f} KB" if size >= 1024 else f"{size} bytes"  # noqa: PLR2004 - a kilobyte
