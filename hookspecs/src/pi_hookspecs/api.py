"""``PiAPI``: what ``activate(pi)`` hands to a plugin for everything dynamic (pi.md 10.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs.events.commands import CommandInfo
    from pi_hookspecs.tools import Tool

__all__ = ["PiAPI"]

_F = TypeVar("_F", bound="Callable[..., Any]")


@runtime_checkable
class PiAPI(Protocol):
    """Registrations and actions of one plugin in one session.

    ``pi.on`` is a decorator and a function. As a decorator it returns the handler, as a function the way
    to unsubscribe. Handlers take ``event`` and ``ctx``, or the one they need, plain or ``async``, and
    follow the hook's rules: order, deadline, blame and answer rule are those of an installed plugin.
    """

    @property
    def plugin(self) -> str:
        """The plugin's name."""
        ...

    @overload
    def on(self, event: str, /) -> Callable[[_F], _F]: ...
    @overload
    def on(self, event: str, handler: Callable[..., Any], /) -> Callable[[], None]: ...
    def on(self, event: str, handler: Any = None, /) -> Any:
        """Handle an event by its name.

        Raises:
            UnknownName: No such event exists; the message names the nearest.
        """
        ...

    def register_tool(self, tool: Tool, /) -> Callable[[], None]:
        """Add a tool from the next request on; returns how to take it away."""
        ...

    def append_entry(self, custom_type: str, data: Any = None, /) -> str:
        """Store plain data in the session, outside the model's context; returns the entry's id."""
        ...

    def set_label(self, entry_id: str, label: str | None = None, /) -> str:
        """Name an entry of the session, or take its name away; returns the id of the entry that says so."""
        ...

    async def set_session_name(self, name: str | None, /) -> None:
        """Name the session; None takes the name away."""
        ...

    async def get_commands(self) -> Sequence[CommandInfo]:
        """Return what can be called with a slash: plugins' commands, prompt templates, skills."""
        ...

    async def emit(self, event: Any, /) -> None:
        """Tell the session's subscribers of an event; its class has a ``type`` and attrs fields."""
        ...
