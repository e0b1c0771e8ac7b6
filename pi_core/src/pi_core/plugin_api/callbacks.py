"""Adapters for functions of plugins: handlers of notices, and renderers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pi_core.agent.safe_text import format_exception
from pi_core.hooks.signatures import adapt, parameters
from pi_hookspecs import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.conversation.runtime import Runtime

__all__ = ["FunctionRenderer", "NoticeHandler"]


class NoticeHandler:
    """A plugin's handler of a notice that is not a hook: a compaction that the user did not request."""

    def __init__(self, runtime: Runtime, plugin: str, function: Callable[..., Any]) -> None:
        self._runtime = runtime
        self._plugin = plugin
        self._call = adapt(function, parameters(function))

    async def __call__(self, event: Any) -> None:
        """Pass an event on, unless the user requested the compaction."""
        if event.reason == "manual":
            return
        try:
            waiting = self._call(event, self._runtime.ctx)
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            message = f"Plugin {self._plugin!r} failed: {format_exception(error)}"
            self._runtime.report_plugin_error(self._plugin, event.type, message)


class FunctionRenderer:
    """A function as a ``Renderer``."""

    def __init__(self, name: str, function: Callable[..., Sequence[str]]) -> None:
        self.name = name
        self.render = function

    @classmethod
    def of(cls, plugin: str, custom_type: str, function: Any) -> Self:
        """Return the renderer of a custom type.

        Raises:
            PluginError: It is not callable.
        """
        if not callable(function):
            message = f"renderer {custom_type!r} is {function!r:.60}, neither a Renderer nor a function"
            raise PluginError(plugin, message)
        return cls(custom_type, function)
