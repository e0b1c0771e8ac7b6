"""Registrations of a plugin, which may have to wait for a session to register in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry

__all__ = ["BeforeSession", "Registration", "What"]

PortT = TypeVar("PortT")

What: TypeAlias = tuple[str, str]
"""A kind and a name, as in ``("command", "todo")``."""


@frozen(kw_only=True, eq=False, repr=False)
class BeforeSession:
    """Implements ``ProviderPort`` while there is no session."""

    host: PluginHost
    models: ModelRegistry


class Registration(Generic[PortT]):
    """One thing that a plugin registers: now, or as soon as there is a session to register it in.

    Args:
        what: Its kind and name.
        add: Registers it and returns a function that removes it.
        forget: Called when it is removed.
    """

    def __init__(
        self, what: What, add: Callable[[PortT], Callable[[], None]], forget: Callable[[Registration[Any]], None]
    ) -> None:
        self.what = what
        self._add: Callable[[PortT], Callable[[], None]] | None = add
        self._forget = forget
        self._take_away: Callable[[], None] | None = None

    def bind(self, port: PortT) -> None:
        """Register it; a provider may be registered already, before there was a session."""
        if self._add is not None and self._take_away is None:
            self._take_away = self._add(port)

    def remove(self) -> None:
        """Remove it, or do not register it at all; the second time nothing happens."""
        self._add, take_away, self._take_away = None, self._take_away, None
        self._forget(self)
        if take_away is not None:
            take_away()
