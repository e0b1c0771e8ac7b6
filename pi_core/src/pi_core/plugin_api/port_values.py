"""Protocols for values that ``SessionPort`` returns, limited to the members that ``pi`` and ``ctx`` use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_core.agent.subscribers import Listener
    from pi_hookspecs import AssistantMessage, CustomMessage, Model
    from pi_hookspecs.messages import UserContent

__all__ = ["ForkOutcome", "HelperSession", "PluginMessages", "ScopedModel"]


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
        """Send a prompt and return the last answer."""
        ...

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Call a listener with every event of these types; return a function that unsubscribes."""
        ...


class PluginMessages(Protocol):
    """Sends messages of plugins; awaiting the result waits for the answer."""

    def send_message_of(
        self,
        plugin: str,
        message: CustomMessage,
        *,
        trigger_turn: bool,
        deliver_as: Literal["steer", "followUp", "nextTurn"] | None,
    ) -> Awaitable[AssistantMessage | None]:
        """Add a plugin's message to the conversation, see ``PiAPI.send_message``."""
        ...

    def send_user_message_of(
        self, plugin: str, content: str | Sequence[UserContent], deliver_as: Literal["steer", "followUp"] | None
    ) -> Awaitable[AssistantMessage | None]:
        """Add a message as the user; see ``PiAPI.send_user_message``."""
        ...
