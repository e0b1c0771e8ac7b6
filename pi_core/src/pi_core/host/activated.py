"""The protocol of a plugin's ``pi`` that was activated before there is a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Flag

__all__ = ["ActivatedPlugin"]


class ActivatedPlugin(Protocol):
    """One plugin's ``pi``, with registrations that are queued for a session."""

    plugin: str

    @property
    def activation(self) -> tuple[float, float, bool]:
        """When it was activated, in seconds since 1970; how many seconds that took; whether it failed."""
        ...

    @property
    def flags(self) -> Sequence[Flag]:
        """The options that it registered."""
        ...

    def registered(self) -> list[tuple[str, str]]:
        """Return kind and name of every registration."""
        ...

    def bind_providers(self, host: Any, models: Any) -> int:
        """Register only its providers; return how many."""
        ...

    def bind(self, session: Any) -> None:
        """Register everything in a session."""
        ...

    def withdraw(self) -> None:
        """Remove everything that was registered."""
        ...

    def retire(self, reason: str) -> None:
        """Make every further use raise ``StaleObject``."""
        ...
