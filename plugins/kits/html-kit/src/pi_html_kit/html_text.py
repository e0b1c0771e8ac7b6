"""Safe construction of markup: text gets into the page only through ``tag``, ``element`` and ``escaped``."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Html", "clean", "element", "escaped", "join", "tag"]

_VOID = frozenset({"br", "hr", "img", "input", "meta"})

# Characters that a page must not contain: control characters become their pictures, and invalid ones (lone surrogates
# of a damaged file, C1 controls, U+FFFE and U+FFFF) become U+FFFD.
_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_CHANGED = re.compile("[&<>\"'\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Finds a character that ``escaped`` changes: most texts of a page are short and have none."""
_UNSHOWN_ASCII, _CHANGED_ASCII = (
    bytes(code for code in range(128) if each.search(chr(code))) for each in (_UNSHOWN, _CHANGED)
)
_LONG = 64
"""Characters of a text in which deleting characters is faster than searching for one."""


class Html(str):
    """Text that is markup already. Any other string is escaped when it is put into the page."""

    __slots__ = ()


def clean(text: str) -> str:
    """Return a text without characters that browsers do not display."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSHOWN.sub(_picture, text) if _has(text, _UNSHOWN, _UNSHOWN_ASCII) else text


def escaped(text: str) -> Html:
    """Return a text as escaped markup."""
    if type(text) is Html:
        return text
    return Html(escape(clean(text)) if _has(text, _CHANGED, _CHANGED_ASCII) else text)


def _has(text: str, characters: re.Pattern[str], in_ascii: bytes) -> bool:
    """Return whether one of the characters is in a text."""
    if len(text) < _LONG or not text.isascii():
        return characters.search(text) is not None
    return len(text.encode("ascii").translate(None, in_ascii)) < len(text)


def join(parts: list[Html]) -> Html:
    """Return the concatenated markup."""
    return Html("".join(parts))


def tag(name: str, /, *children: str | None, **attributes: str | int | bool | None) -> Html:
    """Return an element.

    Args:
        name: Its name.
        children: Its content; text that is not ``Html`` is escaped, None is left out.
        attributes: Its attributes. ``class_`` is ``class`` and ``data_p`` is ``data-p``; True means no value,
            None and False are left out.
    """
    written = _attributes(attributes) if attributes else ""
    if name in _VOID:
        return Html(f"<{name}{written}>")
    content = "".join([escaped(child) for child in children if child is not None])
    return Html(f"<{name}{written}>{content}</{name}>")


def element(name: str, /, **attributes: str | int | bool | None) -> Callable[..., Html]:
    """Return a function that returns an element of its arguments, as ``tag`` does, whose attributes are always these.

    They are written once: a long session has ten thousand such elements.
    """
    start, end = f"<{name}{_attributes(attributes)}>", f"</{name}>"

    def made(*children: str | None) -> Html:
        content = "".join([child if type(child) is Html else escaped(child) for child in children if child is not None])
        return Html(f"{start}{content}{end}")

    return made


def _attributes(attributes: dict[str, str | int | bool | None]) -> str:
    return "".join(
        [
            f" {_name(key)}" if value is True else f' {_name(key)}="{escaped(str(value))}"'
            for key, value in attributes.items()
            if value is not None and value is not False
        ]
    )


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004 - the C0 controls; their pictures are in the same order
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"  # noqa: PLR2004 - DEL
