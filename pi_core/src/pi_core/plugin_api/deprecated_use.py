"""``pi`` and ``ctx`` whose deprecated members report their use; as long as there are none they are what they are."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pi_core.hooks.acting import acting_plugin
from pi_core.hooks.deprecations import deprecated_members, noting_members

if TYPE_CHECKING:
    from pi_core.plugin_api.api import PluginAPI
    from pi_core.plugin_api.handles import Handle
    from pi_hookspecs import Deprecated

__all__ = ["noting_api", "noting_context"]

MARKED: frozenset[str] = frozenset()
"""Which of ``PiAPI`` and ``ToolContext`` have deprecated members; a start would take 3 ms to import both and look."""


@cache
def noting_context(cls: type) -> Any:
    """Return the class of ``ctx`` to make objects of."""
    if "ToolContext" not in MARKED:
        return cls
    from pi_hookspecs import ToolContext

    return noting_members(cls, deprecated_members(ToolContext), _note_context)


@cache
def noting_api(cls: type) -> Any:
    """Return the class of ``pi`` to make objects of."""
    if "PiAPI" not in MARKED:
        return cls
    from pi_hookspecs import PiAPI

    return noting_members(cls, deprecated_members(PiAPI), _note_api)


def _note_context(ctx: Handle, member: str, mark: Deprecated, place: str) -> None:
    plugin = acting_plugin()
    if plugin is not None:  # pi's own code and programs are no plugins
        ctx.report_use(plugin, f"ctx.{member}", mark, place)


def _note_api(pi: PluginAPI, member: str, mark: Deprecated, place: str) -> None:
    pi.when_bound(("deprecated", member), lambda: pi.report_use(pi.plugin, f"pi.{member}", mark, place))
