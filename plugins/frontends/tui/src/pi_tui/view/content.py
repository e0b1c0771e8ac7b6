"""Extraction of text and images from the content of a message or a result."""

from __future__ import annotations

from typing import Any

from pi_tui.view.blocks import Image
from pi_tui.view.clean import clean_line

__all__ = ["images_of", "text_of"]


def text_of(content: Any) -> str:
    """Return the text of a content, with its blocks joined by newlines; the text is not yet clean."""
    if isinstance(content, str):
        return content
    return "\n".join([each.text for each in content if each.type == "text"])


def images_of(content: Any) -> tuple[Image, ...]:
    """Return the images of a content."""
    if isinstance(content, str):
        return ()
    return tuple([Image(clean_line(each.mime_type), each.data) for each in content if each.type == "image"])
