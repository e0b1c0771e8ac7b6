"""Choice of the theme and the number of colours from the settings, the environment and the terminal's replies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_tui.theme.colors import luminance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_tui.theme.colors import Depth

__all__ = [
    "OSC_11_QUERY",
    "Appearance",
    "appearance_of_environment",
    "appearance_of_reply",
    "color_depth",
    "theme_name",
]

Appearance: TypeAlias = Literal["dark", "light"]

OSC_11_QUERY = "\x1b]11;?\x1b\\"
"""Asks a terminal for its background colour; ``appearance_of_reply`` parses the reply."""

_REPLY = re.compile(r"\x1b\]11;(?:rgba?:([0-9a-f]{1,4})/([0-9a-f]{1,4})/([0-9a-f]{1,4})|#([0-9a-f]{6}))", re.IGNORECASE)

_BRIGHT = 0.3
"""Luminance of a background above which dark text is easier to read than bright text."""

_TRUE_COLOR_PROGRAMS = frozenset(["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper"])


def theme_name(setting: str | None, appearance: Appearance | None) -> str:
    """Return the name of the theme.

    Args:
        setting: The setting ``theme``: a name, a pair ``light/dark``, or None.
        appearance: The appearance of the terminal; None if unknown, which counts as dark.
    """
    if not setting or not setting.strip("/ "):
        return appearance or "dark"
    light, slash, dark = (part.strip() for part in setting.partition("/"))
    if not slash:
        return light
    return (light or dark) if appearance == "light" else (dark or light)


def appearance_of_reply(reply: str) -> Appearance | None:
    """Return whether the background in a reply to ``OSC_11_QUERY`` is light or dark; None if it has no colour."""
    found = _REPLY.search(reply)
    if found is None:
        return None
    parts = [found[4][at : at + 2] for at in (0, 2, 4)] if found[4] else [found[1], found[2], found[3]]
    red, green, blue = (round(int(part, 16) / (16 ** len(part) - 1) * 255) for part in parts)
    return "light" if luminance((red, green, blue)) > _BRIGHT else "dark"


def appearance_of_environment(environ: Mapping[str, str]) -> Appearance | None:
    """Return the appearance from ``COLORFGBG``, such as ``15;0``: its last number is the background's colour."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    if not background.isdecimal():
        return None
    return "light" if int(background) in (7, *range(9, 16)) else "dark"


def color_depth(environ: Mapping[str, str], true_color: object = "auto") -> Depth:
    """Return how many colours a terminal has, according to its environment.

    Args:
        environ: The environment.
        true_color: The setting ``terminal.trueColor``: true or false decides between all colours and fewer.
    """
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR") or term == "dumb":
        return "none"
    has_all = (
        environ.get("COLORTERM", "").lower() in ("truecolor", "24bit")
        or environ.get("TERM_PROGRAM") in _TRUE_COLOR_PROGRAMS
        or "WT_SESSION" in environ
        or "direct" in term
        or "kitty" in term
    )
    uses_all = true_color if isinstance(true_color, bool) else has_all
    if uses_all:
        return "truecolor"
    return "256" if has_all or "256" in term else "16"
