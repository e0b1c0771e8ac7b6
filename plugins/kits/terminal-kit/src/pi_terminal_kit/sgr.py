r"""Reading of colours and attributes in a program's output: the sequences ``ESC [ ... m`` (SGR, ECMA-48).

A style is a dictionary of what differs from the text without any: ``foreground`` and ``background`` are a number from 0
to 255 or a triple of red, green and blue; ``bold``, ``dim``, ``italic``, ``underline``, ``reverse`` and ``strike`` are
true, or false once they were ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PARAMETERS", "Color", "Style", "restyled"]

PARAMETERS = "[0-9;:]*"
"""Regular expression of the parameters: what stands between ``ESC [`` and ``m``."""

Color: TypeAlias = "int | tuple[int, int, int]"
Style: TypeAlias = "dict[str, Any]"

_MOST = 64
"""Parameters of one sequence that are interpreted."""

_ATTRIBUTES: Mapping[int, Style] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}
_COLORS: Mapping[int, tuple[str, int]] = {
    first + number: (ground, offset + number)
    for first, ground, offset in (
        (30, "foreground", 0),
        (40, "background", 0),
        (90, "foreground", 8),
        (100, "background", 8),
    )
    for number in range(8)
}
_EXTENDED = {38: "foreground", 48: "background", 58: None}  # 58, the colour of underlines, is not displayed
_BASE = {39: "foreground", 49: "background"}
_RESET, _UNDERLINE, _INDEXED, _DIRECT = 0, 4, 5, 2


def restyled(style: Style, parameters: str) -> Style:
    """Return the style after one sequence; codes without a meaning here change nothing.

    Args:
        style: The style before it; it is not changed.
        parameters: The text between ``ESC [`` and ``m``, such as ``1;38;5;208``. Colons join what belongs together, as
            in ``38:2::255:0:0`` and ``4:3``.
    """
    style, parts = dict(style), parameters.split(";")[:_MOST]
    place = 0
    while place < len(parts):
        code, *below = map(_number, parts[place].split(":"))
        place += 1
        if code in _EXTENDED:
            if not below:
                below = [*map(_number, parts[place : place + 4])]
                place += {_INDEXED: 2, _DIRECT: 4}.get(below[0] if below else 0, len(parts))
                below = below[: 2 if below[:1] == [_INDEXED] else 4]
            ground, color = _EXTENDED[code], _color(below)
            if ground is not None and color is not None:
                style[ground] = color
        elif code == _RESET:
            style.clear()
        elif code == _UNDERLINE and below:
            style["underline"] = below[0] != 0
        elif code in _ATTRIBUTES:
            style |= _ATTRIBUTES[code]
        elif code in _COLORS:
            name, number = _COLORS[code]
            style[name] = number
        elif code in _BASE:
            style.pop(_BASE[code], None)
    return style


def _color(values: list[int]) -> Color | None:
    """Return the colour of ``5, N`` or ``2, R, G, B``; a colour space may stand before the latter."""
    kind, *parts = values or [0]
    if kind == _INDEXED and parts:
        return min(parts[0], 255)
    if kind == _DIRECT and len(parts) >= len("rgb"):
        red, green, blue = (min(each, 255) for each in (parts[1:4] if len(parts) > len("rgb") else parts))
        return red, green, blue
    return None


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < len("1000") else 0
