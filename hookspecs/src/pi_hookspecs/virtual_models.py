"""Virtual models: the user selects one like any other, and its plugin chooses the model that answers each request."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.models import THINKING_LEVELS, VIRTUAL_API, Model, ProviderInfo
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.messages import AssistantMessage
    from pi_hookspecs.models import ThinkingLevel
    from pi_hookspecs.rare_messages import AgentMessage

__all__ = ["Route", "RouteReason", "RouteRequest", "VirtualModel"]

RouteReason: TypeAlias = Literal["user", "continuation", "retry", "direct"]
"""Why a request is made.

``user`` is the first one after a message of the user, ``continuation`` any other of the same run, ``retry`` the
repetition of a failed one, and ``direct`` one outside the conversation, such as a summary.
"""


@frozen(kw_only=True, eq=False, repr=False)
class RouteRequest(ReprMixin):
    """A request to a virtual model that is about to be made.

    Attributes:
        model: The virtual model.
        thinking_level: The reasoning effort that the user selected for it.
        reason: Why the request is made.
        previous: Model and reasoning effort of the conversation's last successful answer; None before the first.
        failed: With ``retry``, the answer that failed: its ``provider``, ``model``, ``thinking_level`` and
            ``error_message``. None if no model was chosen for it.
        messages: The messages of the request, as a provider gets them; each is copied when it is read.
        signal: Aborts the request.
    """

    model: Model
    thinking_level: ThinkingLevel
    reason: RouteReason
    previous: tuple[Model, ThinkingLevel] | None = None
    failed: AssistantMessage | None = None
    messages: Sequence[AgentMessage] = field(default=(), repr=False)
    signal: AbortSignal | None = field(default=None, repr=False)


Route: TypeAlias = "tuple[Model | str, ThinkingLevel | None]"
"""The model that answers a request, or its name as ``--model`` takes it, and its reasoning effort.

The effort is replaced by the nearest one that the model supports; None means that of the request.
"""


@frozen(kw_only=True, eq=False, repr=False)
class VirtualModel(ReprMixin):
    """A model that answers no request itself, as ``register_models`` returns it.

    It is selected, listed, scoped and stored under ``provider/id`` like any other model, and needs no key. Answers name
    the model that gave them. Once there is an answer, the limits of the model that gave the last one apply instead of
    those declared here.

    Attributes:
        provider: Id of its provider, which has no other model.
        id: Its id.
        name: Display name.
        route: Called before each request; returns the model and the reasoning effort, or a coroutine of them. It may
            ask models itself, with ``ctx.complete``. If it raises, gives no answer in time (30 s; the setting
            ``hooks.plugins.NAME.timeout``), or returns a virtual model or a model without a key, the request ends with
            an error.
        thinking_levels: The levels that the user can select.
        context_window: Tokens of input and output together, until there is an answer.
        max_tokens: Maximum tokens of output, until there is an answer.
        input: The kinds of input it accepts.
    """

    key_variables: ClassVar[tuple[str, ...]] = ()
    keyless: ClassVar[bool] = True
    default_model: ClassVar[str | None] = None
    only_by_name: ClassVar[bool] = False

    provider: str
    id: str
    name: str
    route: Callable[[RouteRequest, PiContext], Route | Awaitable[Route]] = field(repr=False)
    thinking_levels: tuple[ThinkingLevel, ...] = ("off",)
    context_window: int = 128_000
    max_tokens: int = 16_384
    input: tuple[Literal["text", "image"], ...] = ("text",)

    @cached_property
    def info(self) -> ProviderInfo:
        """Its provider, which has this model only."""
        model = Model(
            id=self.id,
            name=self.name,
            api=VIRTUAL_API,
            provider=self.provider,
            reasoning=any(level != "off" for level in self.thinking_levels),
            thinking_level_map={each: each if each in self.thinking_levels else None for each in THINKING_LEVELS},
            context_window=self.context_window,
            max_tokens=self.max_tokens,
            input=tuple(self.input),
        )
        return ProviderInfo(id=self.provider, name=self.name, api=VIRTUAL_API, keyless=True, models=(model,))

    def problem(self) -> str | None:
        """Return why it cannot be registered; None if it can."""
        for attribute in ("id", "name"):
            value: Any = getattr(self, attribute)
            if not value or not isinstance(value, str):
                return f"virtual model of {self.provider!r}: {attribute} is {value!r:.60}, which is not a string"
        route: Any = self.route
        if not callable(route):
            return f"virtual model {self.provider}/{self.id}: route is {route!r:.60}, which is not callable"
        if not self.thinking_levels or not set(self.thinking_levels) <= set(THINKING_LEVELS):
            known = ", ".join(THINKING_LEVELS)
            return f"virtual model {self.provider}/{self.id}: thinking_levels must be some of {known}"
        return None
