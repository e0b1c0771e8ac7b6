"""Terminal output as markup: colours are kept, other escape sequences are removed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define

from pi_export_html.html_text import Html, escaped, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["terminal_text"]

_SEQUENCE = re.compile(
    "\x1b\\[([0-9;:]*)m"  # colours and styles
    "|\x1b\\[[0-?]*[ -/]*[@-~]"  # cursor, screen, modes
    "|\x1b[\\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)"  # titles, links, images: up to BEL or ST
    "|\x1b[ -/]*[0-~]"  # the short ones
)
_STYLES = {1: "b", 2: "dim", 3: "i", 4: "u", 7: "rev", 9: "s"}
_ENDS = {22: ("b", "dim"), 23: ("i",), 24: ("u",), 27: ("rev",), 29: ("s",)}
_MOST = 64
"""Parameters of one sequence that are interpreted."""


def terminal_text(text: str) -> Html:
    """Return a program's output as markup."""
    if "\x1b" not in text:
        return escaped(text)
    return Html("".join(_pieces(text)))


def _pieces(text: str) -> Iterator[Html]:
    pen, place = _Pen(), 0
    for match in _SEQUENCE.finditer(text):
        yield pen.written(text[place : match.start()])
        place = match.end()
        if match[1] is not None:
            pen.take(match[1])
    yield pen.written(text[place:])


@define
class _Pen:
    """The current colours and styles: numbers 0 to 15, the terminal's own colours."""

    front: int | None = None
    back: int | None = None
    styles: frozenset[str] = frozenset()

    def written(self, text: str) -> Html:
        classes = [f"a-{style}" for style in sorted(self.styles)]
        classes += [f"a{self.front}"] if self.front is not None else []
        classes += [f"g{self.back}"] if self.back is not None else []
        return tag("span", text, class_=" ".join(classes)) if text and classes else escaped(text)

    def take(self, parameters: str) -> None:
        """Apply a sequence such as ``1;31``."""
        codes = [int(code) if code and len(code) < 4 else 0 for code in re.split("[;:]", parameters)[:_MOST]]  # noqa: PLR2004 - no code is longer
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                self._ground(back=code == 48, color=_wide(codes))  # noqa: PLR2004 - 48 is the background
            else:
                self._plain(code)

    def _plain(self, code: int) -> None:
        tens, color = divmod(code, 10)
        if code == 0:
            self.front, self.back, self.styles = None, None, frozenset()
        elif code in _STYLES:
            self.styles |= {_STYLES[code]}
        elif code in _ENDS:
            self.styles -= {*_ENDS[code]}
        elif tens in (3, 4) and color in (*range(8), 9):
            self._ground(back=tens == 4, color=color if color < 8 else None)  # noqa: PLR2004 - 40 to 49, 0 to 7
        elif tens in (9, 10) and color < 8:  # noqa: PLR2004 - 90 to 97, 100 to 107
            self._ground(back=tens == 10, color=color + 8)  # noqa: PLR2004 - as above

    def _ground(self, *, back: bool, color: int | None) -> None:
        if back:
            self.back = color
        else:
            self.front = color


def _wide(codes: list[int]) -> int | None:
    """Consume ``5;N`` or ``2;R;G;B`` from the codes; return the nearest of the sixteen colours."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:  # noqa: PLR2004 - of 256 colours
        return _nearest_of_256(codes.pop(0))
    if kind == 2 and len(codes) >= 3:  # noqa: PLR2004 - red, green, blue
        red, green, blue = codes[:3]
        del codes[:3]
        return _nearest(red, green, blue)
    codes.clear()
    return None


def _nearest_of_256(index: int) -> int:
    if index < 16:  # noqa: PLR2004 - the sixteen themselves
        return index
    if index >= 232:  # noqa: PLR2004 - the greys
        return _nearest(*[8 + 10 * (min(index, 255) - 232)] * 3)
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
