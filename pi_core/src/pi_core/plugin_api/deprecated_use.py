"""Subclasses of ``pi`` and ``ctx`` whose deprecated members report their use; not needed while there are none."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pi_core.hooks.acting import acting_plugin
from pi_core.hooks.deprecations import deprecated_members, noting_members

if TYPE_CHECKING:
    from pi_core.conversation.handles import Handle
    from pi_core.plugin_api.api import PluginAPI
    from pi_hookspecs import Deprecated

__all__ = ["noting_api", "noting_context"]

MARKED: frozenset[str] = frozenset()
"""Which of ``PiAPI`` and ``ToolContext`` have deprecated members; importing both to find out would cost 3 ms."""


@cache
def noting_context(cls: type) -> Any:
    """Return the class to instantiate as ``ctx``."""
    if "ToolContext" not in MARKED:
        return cls
    from pi_hookspecs import ToolContext

    return noting_members(cls, deprecated_members(ToolContext), _note_context)


@cache
def noting_api(cls: type) -> Any:
    """Return the class to instantiate as ``pi``."""
    if "PiAPI" not in MARKED:
        return cls
    from pi_hookspecs import PiAPI

    return noting_members(cls, deprecated_members(PiAPI), _note_api)


def _note_context(ctx: Handle, member: str, mark: Deprecated, place: str) -> None:
    plugin = acting_plugin()
    if plugin is not None:  # neither pi's own code nor a calling program is a plugin
        ctx.report_use(plugin, f"ctx.{member}", mark, place)


def _note_api(pi: PluginAPI, member: str, mark: Deprecated, place: str) -> None:
    pi.when_bound(("deprecated", member), lambda: pi.report_use(pi.plugin, f"pi.{member}", mark, place))
