"""Lookup of a tool's setting: its option, else the session's settings, else the default."""

from __future__ import annotations

from typing import Any

__all__ = ["setting"]


def setting(ctx: Any, name: str, option: Any = None, default: Any = None) -> Any:
    """Return the option if it was given, else the setting of that dotted name, else the default."""
    if option is not None:
        return option
    get = getattr(getattr(ctx, "settings", None), "get", None)
    value = None if get is None else get(name, None)
    return default if value is None else value
