"""What ``SessionPort`` returns of classes that belong to a conversation: as much of them as ``pi`` and ``ctx`` read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pi_hookspecs import Model

__all__ = ["ForkOutcome", "ScopedModel"]


class ScopedModel(Protocol):
    """A model that the user cycles through."""

    @property
    def model(self) -> Model:
        """The model."""
        ...


class ForkOutcome(Protocol):
    """The result of a fork."""

    @property
    def cancelled(self) -> bool:
        """Whether a plugin cancelled it."""
        ...

    @property
    def selected_text(self) -> str:
        """The text of the user message at the fork, for editing."""
        ...
