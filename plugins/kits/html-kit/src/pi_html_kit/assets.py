"""The style and the script of the markup that this package makes; both work without any request."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["CODE_SCRIPT", "CONTENT_STYLE", "asset"]

CODE_SCRIPT = "code.js"
"""Colours the code blocks of a page and adds buttons that copy them."""

CONTENT_STYLE = "content.css"
"""The look of Markdown, code and diffs, in colours that the page defines as variables."""


@cache
def asset(name: str) -> str:
    """Return the text of a file: ``CODE_SCRIPT`` or ``CONTENT_STYLE``."""
    return files("pi_html_kit").joinpath(name).read_text(encoding="utf-8")
