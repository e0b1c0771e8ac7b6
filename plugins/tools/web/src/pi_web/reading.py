"""A page as text: HTML becomes Markdown without scripts and styles, everything else is decoded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_web.download import Page

__all__ = ["text_of"]

_HTML = ("text/html", "application/xhtml+xml")
_LEFT_OUT = ("script", "style", "noscript", "template", "svg", "iframe", "head")


def text_of(page: Page) -> str:
    """Return the text of a page; call it in a thread, a large page takes seconds."""
    if page.kind not in _HTML:
        return _decoded(page)
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(page.body, "html.parser", from_encoding=page.charset)
    title = soup.title.get_text(" ", strip=True) if soup.title is not None else ""
    for element in soup(_LEFT_OUT):
        element.decompose()
    try:
        text = MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(soup)
    except RecursionError:  # thousands of elements within each other
        text = "\n".join(soup.stripped_strings)
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return f"# {title}\n\n{text}" if title and not text.startswith(f"# {title}") else text


def _decoded(page: Page) -> str:
    try:
        return page.body.decode(page.charset or "utf-8", "replace")
    except LookupError:
        return page.body.decode("utf-8", "replace")
