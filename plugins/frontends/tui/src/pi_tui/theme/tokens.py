"""The roles for which a theme defines colours, as the palette uses them."""

from __future__ import annotations

from pi_hookspecs import OPTIONAL_THEME_ROLES as OPTIONAL
from pi_hookspecs import REQUIRED_THEME_ROLES as REQUIRED

__all__ = ["BACKGROUNDS", "OPTIONAL", "REQUIRED", "TOKENS"]

TOKENS = REQUIRED | OPTIONAL.keys()

BACKGROUNDS = frozenset({token for token in TOKENS if token.endswith("Bg")} | {"scrollbarTrack"})
"""Roles of background colours."""
