"""Determines which plugin the current task works for: the innermost running hook, service, command or tool.

``ctx`` is the same object for all plugins, so a request to a model does not name the plugin that makes it.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from pi_core.hooks.running_call import RunningCall, current_call

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["acting", "acting_plugin"]

_acting: ContextVar[tuple[str | None, RunningCall | None] | None] = ContextVar("acting", default=None)
"""A plugin whose service, command or tool runs, and the hook call around it; a different call is inside it."""


@contextmanager
def acting(plugin: str | None) -> Iterator[None]:
    """Mark the block as a plugin's code outside hooks; None stands for code of the program."""
    token = _acting.set((plugin, current_call.get()))
    try:
        yield
    finally:
        _acting.reset(token)


def acting_plugin() -> str | None:
    """Return the plugin that the current task works for; None for the program that uses the session."""
    call, outside_hooks = current_call.get(), _acting.get()
    if call is not None and (outside_hooks is None or outside_hooks[1] is not call):
        return call.implementation.plugin
    return outside_hooks[0] if outside_hooks is not None else None
