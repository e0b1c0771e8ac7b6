"""Events around a model request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from attrs import field, frozen

from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.models import Model
    from pi_hookspecs.rare_messages import AgentMessage

__all__ = [
    "AfterProviderResponseEvent",
    "BeforeProviderRequestEvent",
    "ContextEvent",
    "ContextResult",
]


@frozen(kw_only=True, eq=False, repr=False)
class ContextEvent(ReprMixin):
    """The messages of the next request. Arguments and details are copies."""

    type: ClassVar[Literal["context"]] = "context"
    messages: tuple[AgentMessage, ...]


def _messages(messages: Iterable[AgentMessage] | None) -> tuple[AgentMessage, ...] | None:
    return None if messages is None else listed(messages, "messages", "[*event.messages, ...]")


@frozen(kw_only=True, eq=False, repr=False)
class ContextResult(Value):
    """Other messages for this request, or a refusal (``block``) to make it; the transcript is not changed.

    A refused request is answered with the ``reason`` as its error, written for the user, and the run ends.
    """

    messages: tuple[AgentMessage, ...] | None = field(default=None, converter=_messages)
    block: bool = False
    reason: str | None = None

    def problem(self, event: ContextEvent) -> str | None:
        """Return what is wrong with the messages or the reason; None if nothing is."""
        del event
        reason: object = self.reason
        if not isinstance(reason, str | None):
            return f"answered reason={reason!r:.60}, which is no text"
        for message in self.messages or ():
            if not isinstance(getattr(message, "role", None), str):
                return f"answered {message!r:.60} among the messages, which is none"
        return None


@frozen(kw_only=True, eq=False, repr=False)
class BeforeProviderRequestEvent(ReprMixin):
    """The request as the provider is about to send it. ``payload`` is in the API's own format."""

    type: ClassVar[Literal["before_provider_request"]] = "before_provider_request"
    payload: Any
    model: Model | None = None


@frozen(kw_only=True, eq=False, repr=False)
class AfterProviderResponseEvent(ReprMixin):
    """The answer begins: HTTP status and headers."""

    type: ClassVar[Literal["after_provider_response"]] = "after_provider_response"
    status: int
    headers: dict[str, str]
