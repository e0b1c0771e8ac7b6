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
    from contextvars import Context

__all__ = ["acting", "acting_plugin", "calling_plugin"]

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


def acting_plugin(context: Context | None = None) -> str | None:
    """Return the plugin that a context's code works for, by default the current task's; None for the program's code."""
    call = current_call.get() if context is None else context.get(current_call)
    outside_hooks = _acting.get() if context is None else context.get(_acting)
    if call is not None and (outside_hooks is None or outside_hooks[1] is not call):
        return call.implementation.plugin
    return outside_hooks[0] if outside_hooks is not None else None


def calling_plugin(context: Context) -> str | None:
    """Return the plugin whose hook is being called in a context; None if none is, or if its call has called others."""
    call, outside_hooks = context.get(current_call), context.get(_acting)
    if call is None or call.ended or (outside_hooks is not None and outside_hooks[1] is call):
        return None
    return call.implementation.plugin
