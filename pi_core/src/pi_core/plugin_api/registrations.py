"""The registrations of a plugin's ``pi``, which are queued until there is a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from pi_core.host.kinds import KINDS
from pi_hookspecs import PluginError
from pi_hookspecs.deferred import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry

__all__ = ["BeforeSession", "Registration", "What", "checked"]


def checked(hook: str, plugin: str, thing: Any) -> Any:
    """Return an object after checking that it can be registered under a hook.

    Raises:
        PluginError: It cannot be registered; the message says why.
    """
    problem = KINDS[hook].problem(thing)
    if problem is not None:
        raise PluginError(plugin, problem)
    return thing


TargetT = TypeVar("TargetT")

What: TypeAlias = tuple[str, str]
"""A kind and a name, as in ``("command", "todo")``."""


@frozen(kw_only=True, eq=False, repr=False)
class BeforeSession:
    """The objects that providers are registered with, while there is no session."""

    host: PluginHost
    models: ModelRegistry


class Registration(Generic[TargetT]):
    """One registration of a plugin, which takes effect now or as soon as there is a session.

    Args:
        what: The kind and name of the registered object.
        add: Registers the object with the parts of a session and returns a function that removes it.
        forget: Called when the registration is removed.
    """

    def __init__(
        self, what: What, add: Callable[[TargetT], Callable[[], None]], forget: Callable[[Registration[Any]], None]
    ) -> None:
        self.what = what
        self._add: Callable[[TargetT], Callable[[], None]] | None = add
        self._forget = forget
        self._remove: Callable[[], None] | None = None

    def bind(self, target: TargetT) -> None:
        """Register the object unless that was done already: a provider may be registered before the session."""
        if self._add is not None and self._remove is None:
            self._remove = self._add(target)

    def remove(self) -> None:
        """Remove the registration, or cancel a queued one; a second call does nothing."""
        self._add, take_away, self._remove = None, self._remove, None
        self._forget(self)
        if take_away is not None:
            take_away()
