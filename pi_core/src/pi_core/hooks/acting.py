"""Which plugin the present task works for: the innermost hook call, service, command or tool that is running.

``ctx`` is the same object for all plugins, so that a request to a model does not name the plugin that makes it.
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
"""A plugin whose service, command or tool runs, and the hook call around it: a later one is inside it."""


@contextmanager
def acting(plugin: str | None) -> Iterator[None]:
    """Run code of a plugin that is no hook; None for code of the program."""
    token = _acting.set((plugin, current_call.get()))
    try:
        yield
    finally:
        _acting.reset(token)


def acting_plugin() -> str | None:
    """Return the plugin that the present task works for; None for the program around the session."""
    call, outside_hooks = current_call.get(), _acting.get()
    if call is not None and (outside_hooks is None or outside_hooks[1] is not call):
        return call.implementation.plugin
    return outside_hooks[0] if outside_hooks is not None else None
