"""Events around a model request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.events._listed import listed
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.messages import AssistantMessage, Usage
    from pi_hookspecs.models import Model
    from pi_hookspecs.rare_messages import AgentMessage

__all__ = [
    "AfterProviderResponseEvent",
    "BeforeModelRequestEvent",
    "BeforeModelRequestResult",
    "BeforeProviderRequestEvent",
    "ContextEvent",
    "ContextResult",
    "ModelUsageEvent",
    "ProviderStreamEvent",
]


_LAST_EXIT_CODE = 255


@frozen(kw_only=True, eq=False, repr=False)
class ContextEvent(ReprMixin):
    """The messages of the next request. Arguments and details are copies.

    Attributes:
        changes: For an implementation marked ``observe=True``: which plugin changed what, in order, as
            ``("trimmer", "messages[2].content")``. ``messages[2:5]`` are messages that were added or removed.
    """

    type: ClassVar[Literal["context"]] = "context"
    messages: tuple[AgentMessage, ...]
    changes: tuple[tuple[str, str], ...] = ()


def _messages(messages: Iterable[AgentMessage] | None) -> tuple[AgentMessage, ...] | None:
    return None if messages is None else listed(messages, "messages", "[*event.messages, ...]")


@frozen(kw_only=True, eq=False, repr=False)
class ContextResult(Value):
    """Other messages for this request, or a refusal (``block``) to make it; the transcript is not changed.

    A refused request is answered with the ``reason`` as its error, written for the user, and the run ends. A process
    that was started for this prompt, such as ``pi -p``, ends with ``exit_code``, 1 to 255; None means 1.
    """

    messages: tuple[AgentMessage, ...] | None = field(default=None, converter=_messages)
    block: bool = False
    reason: str | None = None
    exit_code: int | None = None

    def problem(self, event: ContextEvent) -> str | None:
        """Return what is wrong with the messages, the reason or the exit code; None if nothing is."""
        del event
        if wrong := _refusal_problem(self.reason, self.exit_code):
            return wrong
        for message in self.messages or ():
            if not isinstance(getattr(message, "role", None), str):
                return f"returned {message!r:.60} among the messages, which is not a message"
        return None


def _refusal_problem(reason: object, exit_code: object) -> str | None:
    """Return what is wrong with the reason and the exit code of a refusal; None if nothing is."""
    if not isinstance(reason, str | None):
        return f"returned reason={reason!r:.60}, which is not a string"
    if exit_code is not None and (type(exit_code) is not int or not 1 <= exit_code <= _LAST_EXIT_CODE):
        return f"returned exit_code={exit_code!r:.60}, which is not a whole number from 1 to {_LAST_EXIT_CODE}"
    return None


@frozen(kw_only=True, eq=False, repr=False)
class BeforeModelRequestEvent(ReprMixin):
    """A request is about to be made, and costs nothing yet.

    Attributes:
        request_id: The request's id, 16 hexadecimal digits; the later events of the same request have it, too.
        purpose: ``conversation``, or what a request outside it is for: ``compaction``, ``branch_summary``, the
            ``purpose`` of ``ctx.complete``.
        plugin: The plugin that makes the request; None for the conversation and for programs.
        attempt: 1, plus the number of times that the request was repeated after a failure.
        model: The model that would be asked, with its prices and limits.
        estimated_tokens: Estimated input tokens: a quarter of the characters of system prompt, tools and messages.
        system_prompt: The system prompt of the request.
        messages: The messages of the request, as the provider gets them; each is copied when it is read.
    """

    type: ClassVar[Literal["before_model_request"]] = "before_model_request"
    request_id: str = ""
    purpose: str = "conversation"
    plugin: str | None = None
    attempt: int = 1
    model: Model
    estimated_tokens: int = 0
    system_prompt: str = field(default="", repr=False)
    messages: Sequence[AgentMessage] = field(default=(), repr=False)


@frozen(kw_only=True, eq=False, repr=False)
class BeforeModelRequestResult(Value):
    """A refusal (``block``) to make the request.

    A refused request is answered with ``reason`` as its error, so write it for the user. The conversation's run
    ends; ``ctx.complete`` returns that answer. A refused request is not repeated. A process that was started for
    one prompt, such as ``pi -p``, ends with ``exit_code``, 1 to 255, when a request of its conversation was
    refused; None means 1. Budgets use 4.
    """

    block: bool = False
    reason: str | None = None
    exit_code: int | None = None

    def problem(self, event: BeforeModelRequestEvent) -> str | None:
        """Return what is wrong with the reason or the exit code; None if nothing is."""
        del event
        return _refusal_problem(self.reason, self.exit_code)


@frozen(kw_only=True, eq=False, repr=False)
class BeforeProviderRequestEvent(ReprMixin):
    """The request as the provider is about to send it.

    Attributes:
        payload: What is sent, in the API's own format.
        model: The model that is asked.
        request_id: The request's id, 16 hexadecimal digits; the other events of the same request have it, too.
        purpose: ``conversation``, or what a request outside it is for: ``compaction``, ``branch_summary``, the
            ``purpose`` of ``ctx.complete``.
        plugin: The plugin that makes the request; None for the conversation and for programs.
        attempt: 1, plus the number of times that the request was repeated after a failure.
        base_url: The address that it is sent to, without user name and password.
        headers: HTTP headers to add to the request: empty at first, to be changed in place. They replace headers of the
            same name; None removes one that models.json, an option or another plugin has set (since 1.2). APIs that do
            not use HTTP ignore them.
        changes: For an implementation marked ``observe=True``: which plugin changed what, in order, as
            ``("tier", "payload.service_tier")`` or ``("trace", "headers.traceparent")``. ``payload.messages[2:5]`` are
            elements that were added or removed.
    """

    type: ClassVar[Literal["before_provider_request"]] = "before_provider_request"
    payload: Any
    model: Model | None = None
    request_id: str = ""
    purpose: str = "conversation"
    plugin: str | None = None
    attempt: int = 1
    base_url: str = ""
    headers: dict[str, str | None] = field(factory=dict, repr=False)
    changes: tuple[tuple[str, str], ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class AfterProviderResponseEvent(ReprMixin):
    """A response begins: HTTP status and headers.

    Attributes:
        status: HTTP status.
        headers: The headers of the response; their names are in lower case.
        request_id: Id of the request. This field and the next four are as in ``BeforeProviderRequestEvent``.
        purpose: What the request is for.
        plugin: The plugin that made it.
        attempt: How often the request was made, including this time.
        base_url: The address that it was sent to.
    """

    type: ClassVar[Literal["after_provider_response"]] = "after_provider_response"
    status: int
    headers: dict[str, str]
    request_id: str = ""
    purpose: str = "conversation"
    plugin: str | None = None
    attempt: int = 1
    base_url: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class ProviderStreamEvent(ReprMixin):
    """The host of a model has sent an event of its answer.

    Attributes:
        provider: The provider.
        api: The API, such as ``anthropic-messages``, in whose format the event is.
        model: The model's id.
        data: The event as the host sent it, parsed. Do not change it: the answer is read from it.
        request_id: The request's id, as in ``BeforeModelRequestEvent``.
    """

    type: ClassVar[Literal["provider_stream_event"]] = "provider_stream_event"
    provider: str
    api: str
    model: str
    data: Any = field(repr=False)
    request_id: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class ModelUsageEvent(ReprMixin):
    """A request has ended, with this usage.

    Attributes:
        request_id: Id of the request. This field and the next three are as in ``BeforeModelRequestEvent``.
        purpose: What the request was for.
        plugin: The plugin that made it.
        attempt: How often the request was made, including this time.
        model: The model that was asked.
        usage: Tokens and cost, as the answer reports them; all 0 if the provider reported none.
        duration_ms: Milliseconds from the beginning of the request to the end of its answer.
        error: Why it failed or was aborted; None for an answer.
        payload: What was sent, in the API's own format, after ``before_provider_request``; not to be changed. None
            if nothing was sent.
        answer: A copy of the answer, which may be incomplete if ``error`` is set.
    """

    type: ClassVar[Literal["model_usage"]] = "model_usage"
    request_id: str = ""
    purpose: str = "conversation"
    plugin: str | None = None
    attempt: int = 1
    model: Model
    usage: Usage
    duration_ms: int = 0
    error: str | None = None
    payload: Any = field(default=None, repr=False)
    answer: AssistantMessage | None = field(default=None, repr=False)
