"""Elements of the system prompt that contain files; a file's text is escaped so that it cannot close its element."""

from __future__ import annotations

import re

__all__ = ["escaped", "prompt_element"]

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})


def escaped(text: str) -> str:
    """Return a text escaped for use in an element or in an attribute."""
    return text.translate(_ESCAPES)


def prompt_element(name: str, text: str, *, inside: str, path: str) -> str:
    """Return an element with a file's text; in the text, only tags of this element and of its section are escaped.

    Args:
        name: The element's name.
        text: The file's text.
        inside: Name of the section that contains the element.
        path: The file, the value of the attribute ``path``.
    """
    body = re.sub(rf"<(?=/?(?:{name}|{inside})\b)", "&lt;", text.strip(), flags=re.IGNORECASE)
    return f'<{name} path="{escaped(path)}">\n{body}\n</{name}>'
