"""Markup that is safe because of how it is made: text becomes part of the page through ``tag`` and ``shown`` alone."""

from __future__ import annotations

import re
from html import escape

__all__ = ["Html", "clean", "join", "shown", "tag"]

_VOID = frozenset({"br", "hr", "img", "input", "meta"})

# What a text may hold and a page must not: control characters become their pictures, and what is no character at all
# (lone surrogates of a damaged file, C1 controls, U+FFFE and U+FFFF) becomes the sign for that.
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that is markup already. Whatever is not of this class is escaped on its way into the page."""

    __slots__ = ()


def clean(text: str) -> str:
    """Return a text that every browser shows as it is."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSHOWN.sub(_picture, text)


def shown(text: str) -> Html:
    """Return a text as markup that shows it."""
    return text if isinstance(text, Html) else Html(escape(clean(text)))


def join(parts: list[Html]) -> Html:
    """Return markup after markup."""
    return Html("".join(parts))


def tag(name: str, /, *children: str | None, **attributes: str | int | bool | None) -> Html:
    """Return an element.

    Args:
        name: Its name.
        children: What it holds; text that is not ``Html`` is escaped, None is left out.
        attributes: Its attributes. ``class_`` is ``class`` and ``data_p`` is ``data-p``; True stands without a value,
            None and False are left out.
    """
    written = [
        f" {_name(key)}" if value is True else f' {_name(key)}="{shown(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    start = f"<{name}{''.join(written)}>"
    if name in _VOID:
        return Html(start)
    return Html(f"{start}{''.join([shown(child) for child in children if child is not None])}</{name}>")


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004 - the C0 controls; their pictures are in the same order
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"  # noqa: PLR2004 - DEL
