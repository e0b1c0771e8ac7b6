"""The colours of a theme as CSS variables of the page. A colour has one of three formats; others are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import Theme

__all__ = ["theme_css"]

_ROLES = {
    "accent": ("accent",),
    "ink": ("text",),
    "muted": ("muted",),
    "faint": ("dim",),
    "line": ("borderMuted", "border"),
    "good": ("success",),
    "bad": ("error",),
    "warn": ("warning",),
    "link": ("mdLink",),
    "heading": ("mdHeading",),
    "mono": ("mdCode",),
    "user": ("userMessageBg",),
    "user-ink": ("userMessageText",),
    "custom": ("customMessageBg",),
    "custom-ink": ("customMessageLabel",),
    "tool": ("toolSuccessBg",),
    "tool-bad": ("toolErrorBg",),
    "tool-open": ("toolPendingBg",),
    "tool-name": ("toolTitle",),
    "thinking": ("thinkingText",),
    "added": ("toolDiffAdded",),
    "removed": ("toolDiffRemoved",),
    "page": ("pageBg",),
    "card": ("cardBg",),
}
"""CSS variable to the theme's roles that define it (``export`` roles last)."""

_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")
_OKLCH = re.compile(r"oklch\([0-9.%]{1,9} [0-9.%]{1,9} [0-9.]{1,9}(?:deg)?\)")
_SYSTEM = "000 800000 008000 808000 000080 800080 008080 c0c0c0 808080 f00 0f0 ff0 00f f0f 0ff fff"
_VARIABLES = 8
"""Maximum length of a chain of variables."""


def theme_css(light: Theme | None, dark: Theme | None) -> str:
    """Return rules that override the page's colours by those of themes; empty without a theme.

    One theme for both is a dark or a light page, whatever the reader's system is: its colours fit nothing else.
    """
    if light is None and dark is None:
        return ""
    if light is dark and light is not None:
        colors = _colors(light)
        return f":root{{color-scheme:{'dark' if _is_dark(colors) else 'light'};{_declared(colors)}}}"
    pair = (("light", light), ("dark", dark))
    return "".join(
        f"@media (prefers-color-scheme:{scheme}){{:root{{{_declared(_colors(theme))}}}}}"
        for scheme, theme in pair
        if theme is not None
    )


def _colors(theme: Theme) -> dict[str, str]:
    found = {}
    for variable, roles in _ROLES.items():
        color = next((color for role in roles if (color := _color(theme, theme.colors.get(role)))), None)
        if color is not None:
            found[variable] = color
    return found


def _declared(colors: dict[str, str]) -> str:
    return ";".join(f"--{name}:{color}" for name, color in colors.items())


def _color(theme: Theme, value: object) -> str | None:
    """Return a colour in CSS; None for the terminal's default, and for an invalid one."""
    for _ in range(_VARIABLES):
        if isinstance(value, bool):
            return None
        if isinstance(value, int):
            return _of_index(value)
        if not isinstance(value, str):
            return None
        if _HEX.fullmatch(value) or _OKLCH.fullmatch(value):
            return value
        value = theme.vars.get(value)
    return None


def _of_index(index: int) -> str | None:
    """Return one of a terminal's 256 colours."""
    if not 0 <= index <= 255:  # noqa: PLR2004 - the last of them
        return None
    if index < 16:  # noqa: PLR2004 - the system's
        return f"#{_SYSTEM.split()[index]}"
    if index >= 232:  # noqa: PLR2004 - the greys
        return "#" + f"{8 + 10 * (index - 232):02x}" * 3
    steps = [(index - 16) // step % 6 for step in (36, 6, 1)]
    return "#" + "".join(f"{55 + 40 * step if step else 0:02x}" for step in steps)


def _is_dark(colors: dict[str, str]) -> bool:
    """Whether a theme is for dark pages: by its background, else by its text colour, inverted."""
    for variable, inverted in (("page", False), ("user", False), ("ink", True)):
        if variable in colors and _HEX.fullmatch(colors[variable]):
            return (_luminance(colors[variable]) < 0.5) is not inverted  # noqa: PLR2004 - half way
    return True


def _luminance(color: str) -> float:
    digits = color[1:] if len(color) > 4 else "".join(each * 2 for each in color[1:])  # noqa: PLR2004 - #rgb
    red, green, blue = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
