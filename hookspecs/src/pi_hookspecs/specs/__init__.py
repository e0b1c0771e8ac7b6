"""The hooks: what a plugin may implement, when it is called and how answers combine.

One module per stage. A specification is its own documentation: ``pi hooks``, the pages under
``docs/hooks`` and the dispatcher all read it here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

__all__ = ["EVENT_STAGES", "all_hookspecs", "spec_modules"]

EVENT_STAGES = ("session", "agent", "request", "tools", "interface")
"""Modules of event hooks; the other hooks are in ``registration``."""


def spec_modules() -> tuple[ModuleType, ...]:
    """Return the modules that hold specifications, for pluggy's ``add_hookspecs``."""
    return tuple(import_module(f"{__name__}.{stage}") for stage in ("registration", *EVENT_STAGES))


def all_hookspecs() -> dict[str, Callable[..., Any]]:
    """Return every specification by its name, by stage and in the order of its module."""
    return dict(_collected())


@cache
def _collected() -> dict[str, Callable[..., Any]]:
    """Collect the specifications once; every session needs them several times."""
    return {
        name: value for module in spec_modules() for name, value in vars(module).items() if hasattr(value, "pi_spec")
    }
