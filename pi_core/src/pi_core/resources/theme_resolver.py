"""Resolves themes: replaces variables with colours, fills in omitted roles, and reports problems."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import evolve

from pi_hookspecs import OPTIONAL_THEME_ROLES, REQUIRED_THEME_ROLES, Theme, UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ThemeProblem", "misspelt_roles", "resolve_theme", "theme_of_file"]

_HEX = r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"
_OKLCH = r"oklch\(\s*([\d.]+)(%?)\s+([\d.]+)\s+(-?[\d.]+)(?:deg)?\s*\)"
_INDEXES = range(256)


class ThemeProblem(NamedTuple):
    """A problem in a theme.

    Attributes:
        text: A sentence, without the key.
        section: The part of a file that contains the key: ``colors`` or ``export``; empty for a key at the top level.
        key: The role, or ``appearance``; empty for a problem without a key, such as missing roles.
    """

    text: str
    section: str = ""
    key: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.text}" if self.key else self.text


class _Wrong(ValueError):
    """A value is not a colour; the exception's text completes a sentence about the role."""


def theme_of_file(name: str, data: Mapping[str, Any]) -> Theme:
    """Return a theme from the data of a file; parts of the wrong type are omitted."""
    colors, variables, exported = (data.get(key) for key in ("colors", "vars", "export"))
    parts = [each if isinstance(each, dict) else {} for each in (colors, variables, exported)]
    return Theme(name=name, colors=parts[0], vars=parts[1], export=parts[2], appearance=data.get("appearance"))


def resolve_theme(theme: Theme) -> tuple[Theme, tuple[ThemeProblem, ...]]:
    """Return a theme whose colours are ``#rrggbb``, an index from 0 to 255, or empty for the terminal's own colour.

    Chains of variables are followed; a role that may be omitted gets the colour of the role on which it is based.

    Args:
        theme: The unresolved theme of a plugin or a file.

    Returns:
        The theme without variables and without invalid colours, and the problems.
    """
    problems: list[ThemeProblem] = []
    colors = _resolved("colors", theme.colors, theme.vars, problems)
    exported = _resolved("export", theme.export, theme.vars, problems)
    missing = sorted(REQUIRED_THEME_ROLES - theme.colors.keys())
    if missing:
        problems.append(ThemeProblem(f"it has no colour for {', '.join(missing)}"))
    for role, followed in OPTIONAL_THEME_ROLES.items():
        if role not in theme.colors and followed in colors:
            colors[role] = colors[followed]
    appearance = theme.appearance
    if appearance not in (None, "dark", "light"):
        problems.append(ThemeProblem(f"it must be 'dark' or 'light', not {appearance!r:.60}", key="appearance"))
        appearance = None
    return evolve(theme, colors=colors, vars={}, export=exported, appearance=appearance), tuple(problems)


def misspelt_roles(theme: Theme) -> tuple[ThemeProblem, ...]:
    """Return the roles of a theme that nothing uses and that resemble one that is used.

    A theme for another version may have roles that are unknown here, so that it can be used nevertheless.
    """
    known = REQUIRED_THEME_ROLES | OPTIONAL_THEME_ROLES.keys()
    nearest = {role: UnknownName("role", role, known).nearest for role in sorted(theme.colors.keys() - known)}
    return tuple(
        ThemeProblem(f"there is no such role, did you mean {' or '.join(near)}?", "colors", role)
        for role, near in nearest.items()
        if near
    )


def _resolved(
    section: str, colors: Mapping[str, Any], variables: Mapping[str, Any], problems: list[ThemeProblem]
) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    for role, value in colors.items():
        try:
            found[role] = _color(value, variables)
        except _Wrong as wrong:
            problems.append(ThemeProblem(str(wrong), section, role))
    return found


def _color(value: Any, variables: Mapping[str, Any]) -> str | int:
    chain: list[str] = []
    while isinstance(value, str) and value in variables:
        if value in chain:
            raise _Wrong(f"the variables {' -> '.join([*chain, value])} form a cycle")
        chain.append(value)
        value = variables[value]
    if isinstance(value, int) and not isinstance(value, bool) and value in _INDEXES:
        return value
    if not isinstance(value, str):
        raise _Wrong(
            f"{value!r:.60} is not a colour; write '#rrggbb', an index from 0 to 255, or the name of a variable"
        )
    if value == "":
        return value
    if re.fullmatch(_HEX, value):
        digits = value[1:] if len(value) == len("#rrggbb") else "".join(each * 2 for each in value[1:])
        return f"#{digits.lower()}"
    perceptual = re.fullmatch(_OKLCH, value)
    if perceptual is not None:
        return _of_oklch(*perceptual.groups())
    where = f" (by way of {' -> '.join(chain)})" if chain else ""
    raise _Wrong(f"{value!r:.60} is neither a colour nor the name of a variable{where}")


def _of_oklch(lightness: str, percent: str, chroma: str, hue: str) -> str:
    """Convert an OKLCH colour to sRGB; colours that sRGB cannot display are clipped."""
    try:
        level, strength, angle = float(lightness) / (100 if percent else 1), float(chroma), math.radians(float(hue))
    except ValueError:
        raise _Wrong(f"oklch({lightness}{percent} {chroma} {hue}) is not a colour") from None
    a, b = strength * math.cos(angle), strength * math.sin(angle)
    long = (level + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (level - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (level - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(min(max(each, 0.0), 1.0))):02x}" for each in linear)


def _gamma(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055  # noqa: PLR2004 - sRGB
