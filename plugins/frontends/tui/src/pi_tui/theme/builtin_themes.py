"""The built-in themes. Their files define all roles and use no variables, so that no resolver is needed."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import Theme

__all__ = ["BUILTIN_NAMES", "builtin_theme", "builtin_themes"]

BUILTIN_NAMES = ("dark", "light", "system")


@cache
def builtin_theme(name: str) -> Theme:
    """Return a built-in theme.

    Raises:
        KeyError: The name is not in ``BUILTIN_NAMES``.
    """
    if name not in BUILTIN_NAMES:
        raise KeyError(name)
    from pi_hookspecs import Theme

    data = json.loads(files("pi_tui.theme").joinpath("builtin", f"{name}.json").read_text(encoding="utf-8"))
    return Theme(data["name"], colors=data["colors"], appearance=data.get("appearance"))


def builtin_themes() -> tuple[Theme, ...]:
    """Return all built-in themes, for ``register_themes``."""
    return tuple(map(builtin_theme, BUILTIN_NAMES))
