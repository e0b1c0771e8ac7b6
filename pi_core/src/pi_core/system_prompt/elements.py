"""Elements of the system prompt that hold what files say, which cannot get out of them."""

from __future__ import annotations

import re

__all__ = ["escaped", "prompt_element"]

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})


def escaped(text: str) -> str:
    """Return a text as it may stand in an element or in an attribute."""
    return text.translate(_ESCAPES)


def prompt_element(name: str, text: str, *, inside: str, path: str) -> str:
    """Return an element that holds a file's text as it is, except that the text can neither end nor begin one like it.

    Args:
        name: The element's name.
        text: What the file says.
        inside: Name of the section that the element stands in, which the text cannot end either.
        path: The file, told in the attribute ``path``.
    """
    body = re.sub(rf"<(?=/?(?:{name}|{inside})\b)", "&lt;", text.strip(), flags=re.IGNORECASE)
    return f'<{name} path="{escaped(path)}">\n{body}\n</{name}>'
