"""``pi`` and ``ctx`` of plugins with grants: members that were not granted raise an error when they are used.

If no plugin has grants, the original classes are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pi_core.hooks.acting import acting_plugin
from pi_core.host.grants import FILE, GATED, is_granted
from pi_hookspecs import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.host import PluginHost

__all__ = ["held_api", "held_context"]


class _Refusal:
    """Replaces a member that was not granted: reading it works, every use raises."""

    def __init__(self, plugin: str, member: str) -> None:
        self.__dict__["_refused"] = plugin, member

    def _refuse(self) -> NoReturn:
        plugin, member = self.__dict__["_refused"]
        message = f"Plugin {plugin!r} uses {member}, and grants.ctx in its {FILE} does not name it"
        raise PluginError(plugin, message)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse()


def held_context(cls: type, host: PluginHost) -> Any:
    """Return the class of ``ctx`` for the plugins of a host."""
    held = host.held
    if not held:
        return cls

    def refused(ctx: Any, member: str) -> _Refusal | None:
        plugin = ctx.tool_owner if hasattr(cls, "tool_owner") else acting_plugin()
        if plugin is None or plugin not in held or is_granted(held[plugin], "ctx", member):
            return None
        return _Refusal(plugin, f"ctx.{member}")

    return _with_gates(cls, refused)


def held_api(cls: type, host: PluginHost, plugin: str) -> Any:
    """Return the class of a plugin's ``pi``, which also refuses hooks and tools that were not granted."""
    grants = host.held.get(plugin)
    if grants is None:
        return cls

    def refused(_pi: Any, member: str) -> _Refusal | None:
        return None if is_granted(grants, "ctx", member) else _Refusal(plugin, f"pi.{member}")

    class Held(_with_gates(cls, refused)):  # type: ignore[misc]
        def _register(self, what: tuple[str, str], add: Any) -> Any:
            kind = {"hook": "hooks", "tool": "tools"}.get(what[0])
            if kind is not None and not is_granted(grants, kind, what[1]):
                message = (
                    f"Plugin {plugin!r} registers the {what[0]} {what[1]!r}, and grants.{kind} in its {FILE} does not"
                )
                raise PluginError(plugin, f"{message} name it")
            return super()._register(what, add)

    return Held


def _with_gates(cls: type, refused: Callable[[Any, str], _Refusal | None]) -> Any:
    """Return a subclass whose gated members check the grants first."""

    def gate(member: str) -> property:
        def read(self: Any) -> Any:
            refusal = refused(self, member)
            return getattr(super(gated, self), member) if refusal is None else refusal

        return property(read, doc=getattr(cls, member).__doc__)

    gated: Any = type(cls.__name__, (cls,), {name: gate(name) for name in GATED if hasattr(cls, name)})
    return gated
