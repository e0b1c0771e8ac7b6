"""Colours, and the nearest colours in terminals that have only 256 or 16.

A colour is ``#rrggbb``, an index from 0 to 255, or ``""`` for the terminal's default.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

__all__ = ["Color", "Depth", "contrast", "fitted", "luminance", "readable_grey", "rgb_of"]

Color: TypeAlias = str | int

Depth: TypeAlias = Literal["truecolor", "256", "16", "none"]
"""The number of colours that a terminal can display."""

_LEVELS = (0, 95, 135, 175, 215, 255)
"""The component levels of the colour cube, which starts at index 16."""

_CUBE, _GREYS = 16, 232

_SIXTEEN = (
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
)
"""xterm's values of the first 16 colours; users can change theirs, so that the nearest colour is a guess."""

_GREY_INDEXES = (0, 7, 8, 15)

_READABLE = 4.5
"""Minimum contrast of readable text, according to WCAG."""

_HUES = (1, 3, 2, 6, 4, 5)
"""Indexes by hue: red, yellow, green, cyan, blue, magenta."""

_COLOURED = 40
"""Minimum difference between the largest and the smallest component of a colour that does not count as grey."""

_DARKEST, _BRIGHT, _BRIGHTEST = 0.18, 0.72, 0.86
"""Lightness limits: darker or lighter than the outer two is a grey, lighter than the middle one is a bright colour."""

_Rgb = tuple[int, int, int]


def rgb_of(color: Color) -> _Rgb | None:
    """Return red, green and blue from 0 to 255; None for the terminal's default colour and for invalid values."""
    if isinstance(color, str):
        try:
            number = int(color[1:], 16) if len(color) == len("#rrggbb") and color[0] == "#" else None
        except ValueError:
            return None
        return None if number is None else (number >> 16, number >> 8 & 255, number & 255)
    if color < _CUBE:
        return _SIXTEEN[color] if color >= 0 else None
    if color < _GREYS:
        place = color - _CUBE
        return _LEVELS[place // 36], _LEVELS[place // 6 % 6], _LEVELS[place % 6]
    grey = 8 + 10 * (color - _GREYS)
    return (grey, grey, grey) if color <= 255 else None  # noqa: PLR2004 - the last index


@lru_cache(maxsize=1024)
def fitted(color: Color, depth: Depth) -> Color:
    """Return the nearest colour that a terminal can display."""
    rgb = rgb_of(color)
    if rgb is None or depth == "none":
        return ""
    if depth == "truecolor":
        return color
    if depth == "256":
        return color if isinstance(color, int) else min(range(_CUBE, 256), key=lambda index: _distance(rgb, index))
    if isinstance(color, int) and color < _CUBE:
        return color
    return _of_sixteen(rgb)


def _of_sixteen(rgb: _Rgb) -> int:
    """Return the index with the nearest hue; the nearest colour to the muted red of an error would be grey."""
    from colorsys import rgb_to_hls

    hue, lightness, _ = rgb_to_hls(*(part / 255 for part in rgb))
    if max(rgb) - min(rgb) < _COLOURED or not _DARKEST < lightness < _BRIGHTEST:
        return min(_GREY_INDEXES, key=lambda index: _distance(rgb, index))
    base = _HUES[round(hue * len(_HUES)) % len(_HUES)]
    return base + 8 if lightness > _BRIGHT else base


def readable_grey(color: Color, behind: Color) -> Color:
    """Return one of the 16 colours; black or white in place of a grey that is unreadable on the background."""
    one, other = rgb_of(color), rgb_of(behind)
    if color not in _GREY_INDEXES or one is None or other is None or contrast(one, other) >= _READABLE:
        return color
    return max(0, 15, key=lambda index: contrast(_SIXTEEN[index], other))


def _distance(rgb: _Rgb, index: int) -> float:
    """Return the perceived difference of a colour from an indexed colour (the redmean approximation)."""
    other = rgb_of(index) or (0, 0, 0)
    mean = (rgb[0] + other[0]) / 2
    red, green, blue = (one - two for one, two in zip(rgb, other, strict=True))
    return (2 + mean / 256) * red**2 + 4 * green**2 + (2 + (255 - mean) / 256) * blue**2


def luminance(rgb: _Rgb) -> float:
    """Return how bright a colour is, from 0 to 1 (WCAG's relative luminance)."""
    parts = [value / 255 for value in rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]  # noqa: PLR2004
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: _Rgb, two: _Rgb) -> float:
    """Return the contrast of two colours, from 1 to 21; text is readable from 4.5 on."""
    dark, bright = sorted((luminance(one), luminance(two)))
    return (bright + 0.05) / (dark + 0.05)
