"""What ``SessionPort`` returns of classes that belong to a conversation: as much of them as ``pi`` and ``ctx`` read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.agent.subscribers import Listener
    from pi_hookspecs import AssistantMessage, Model

__all__ = ["ForkOutcome", "HelperSession", "ScopedModel"]


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


class HelperSession(Protocol):
    """A session that a plugin created for a helper: the members of ``AgentSession`` that this package uses."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def prompt(self, prompt: str, /) -> AssistantMessage | None:
        """Answer a text and return the last answer."""
        ...

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event of these types; return a function that unsubscribes."""
        ...
