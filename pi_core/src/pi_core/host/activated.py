"""The protocol of the ``pi`` of a plugin that was activated before a session exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Flag

__all__ = ["ActivatedPlugin"]


class ActivatedPlugin(Protocol):
    """One plugin's ``pi``, with registrations that are queued for a session.

    Attributes:
        plugin: The plugin's name.
        activation: The time of the activation in seconds since 1970, its duration in seconds, and whether it failed.
    """

    plugin: str
    activation: tuple[float, float, bool]

    @property
    def flags(self) -> Sequence[Flag]:
        """The options that the plugin registered."""
        ...

    def registered(self) -> list[tuple[str, str]]:
        """Return the kind and the name of every registration."""
        ...

    def bind_providers(self, host: Any, models: Any) -> int:
        """Register only the plugin's providers; return their number."""
        ...

    def bind(self, parts: Any) -> None:
        """Register everything with the parts of a session."""
        ...

    def withdraw(self) -> None:
        """Remove everything that was registered."""
        ...

    def retire(self, reason: str) -> None:
        """Make every further use raise ``StaleObject``."""
        ...
