"""A plugin's registrations, which are queued until there is a session."""

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
    """One registration of a plugin, which takes effect now or as soon as there is a session.

    Args:
        what: The kind and name of the registered object.
        add: Registers the object and returns a function that removes it.
        forget: Called when the registration is removed.
    """

    def __init__(
        self, what: What, add: Callable[[PortT], Callable[[], None]], forget: Callable[[Registration[Any]], None]
    ) -> None:
        self.what = what
        self._add: Callable[[PortT], Callable[[], None]] | None = add
        self._forget = forget
        self._remove: Callable[[], None] | None = None

    def bind(self, port: PortT) -> None:
        """Register the object unless that was done already: a provider may be registered before the session."""
        if self._add is not None and self._remove is None:
            self._remove = self._add(port)

    def remove(self) -> None:
        """Remove the registration, or cancel a queued one; a second call does nothing."""
        self._add, take_away, self._remove = None, self._remove, None
        self._forget(self)
        if take_away is not None:
            take_away()
