"""Embeds images of a session: only valid images, nothing that a browser would run or fetch."""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING

from pi_html_kit.amounts import size
from pi_html_kit.html_text import tag

if TYPE_CHECKING:
    from pi_hookspecs import ImageContent
    from pi_html_kit.html_text import Html

__all__ = ["image"]

_BEGINNINGS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
    "image/bmp": (b"BM",),
}
"""Supported types, and the first bytes of such data. SVG is not supported: it can contain scripts."""


def image(content: ImageContent) -> Html:
    """Return an image, or a note in its place."""
    description = f"{content.mime_type}, {size(len(content.data))}"
    if not _is_image(content):
        return tag("p", f"[image, not shown: {description}]", class_="note")
    picture = tag(
        "img", src=f"data:{content.mime_type};base64,{content.data}", alt=description, title=description, loading="lazy"
    )
    return tag("p", picture, class_="image")


def _is_image(content: ImageContent) -> bool:
    begins = _BEGINNINGS.get(content.mime_type)
    if begins is None:
        return False
    try:
        data = binascii.a2b_base64(content.data.encode("ascii"), strict_mode=True)
    except ValueError:  # not base64, or not ASCII
        return False
    return data.startswith(begins)
