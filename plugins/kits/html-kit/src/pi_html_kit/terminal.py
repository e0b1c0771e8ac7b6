"""Terminal output as markup: colours are kept, other escape sequences are removed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_html_kit.html_text import Html, escaped, tag
from pi_terminal_kit.sgr import PARAMETERS, restyled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_terminal_kit.sgr import Color, Style

__all__ = ["terminal_text"]

_SEQUENCE = re.compile(
    f"\x1b\\[({PARAMETERS})m"  # colours and styles
    "|\x1b\\[[0-?]*[ -/]*[@-~]"  # cursor, screen, modes
    "|\x1b[\\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)"  # titles, links, images: up to BEL or ST
    "|\x1b[ -/]*[0-~]"  # the short ones
)
_CLASSES = {"bold": "b", "dim": "dim", "italic": "i", "underline": "u", "reverse": "rev", "strike": "s"}


def terminal_text(text: str) -> Html:
    """Return a program's output as markup."""
    if "\x1b" not in text:
        return escaped(text)
    return Html("".join(_pieces(text)))


def _pieces(text: str) -> Iterator[Html]:
    style: Style = {}
    place = 0
    for match in _SEQUENCE.finditer(text):
        yield _written(text[place : match.start()], style)
        place = match.end()
        if match[1] is not None:
            style = restyled(style, match[1])
    yield _written(text[place:], style)


def _written(text: str, style: Style) -> Html:
    classes = sorted(f"a-{name}" for attribute, name in _CLASSES.items() if style.get(attribute))
    for ground, letter in (("foreground", "a"), ("background", "g")):
        if ground in style:
            classes.append(f"{letter}{_of_sixteen(style[ground])}")
    return tag("span", text, class_=" ".join(classes)) if text and classes else escaped(text)


def _of_sixteen(color: Color) -> int:
    """Return the nearest of the sixteen colours of the page."""
    return _nearest(*color) if isinstance(color, tuple) else _nearest_of_256(color)


def _nearest_of_256(index: int) -> int:
    if index < 16:  # noqa: PLR2004 - the sixteen themselves
        return index
    if index >= 232:  # noqa: PLR2004 - the greys
        return _nearest(*[8 + 10 * (index - 232)] * 3)
    index -= 16
    return _nearest(*(51 * (index // step % 6) for step in (36, 6, 1)))


def _nearest(red: int, green: int, blue: int) -> int:
    """Return one of the sixteen colours: a bit for each strong component, and one for brightness."""
    parts = (red, green, blue)
    top = max(parts)
    if top < 64:  # noqa: PLR2004 - next to black
        return 0 if top < 40 else 8  # noqa: PLR2004 - or dark grey
    bits = sum(bit for bit, part in zip((1, 2, 4), parts, strict=True) if part * 2 > top)
    if bits == 7:  # noqa: PLR2004 - a grey
        return 8 if top < 140 else 7 if top < 220 else 15  # noqa: PLR2004 - dark, light, white
    return bits + (8 if top > 220 else 0)  # noqa: PLR2004 - the bright half
