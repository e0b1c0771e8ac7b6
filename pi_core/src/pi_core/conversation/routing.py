"""Requests to virtual models: asks the plugin of the model which other model answers, and applies its choice.

The plugin's function is called like a hook, with a deadline and an interruption if it blocks, but a failure ends only
the request: it becomes the answer's error, and the next request calls the function again.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.conversation.event_copies import LazyCopies
from pi_core.hooks.acting import acting
from pi_core.hooks.invoker import Invoker
from pi_core.hooks.records import CompiledHook, HookCall, HookImplementation
from pi_core.host.deadlines import deadlines_of
from pi_core.models.thinking import clamp_thinking_level
from pi_core.session.copies import copy_message
from pi_hookspecs import (
    THINKING_LEVELS,
    AssistantMessage,
    Deadline,
    MessageEntry,
    Model,
    ModelDispatchedEvent,
    Order,
    PiError,
    RouteRequest,
    Rule,
    UserMessage,
    answers,
    answers_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.conversation.plugin_scope import PluginScope
    from pi_core.hooks.reports import HookFailure
    from pi_core.host.registry import Registered
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import AbortSignal, AgentMessage, Message, PiContext, RouteReason, ThinkingLevel

__all__ = ["Routing", "with_limits_in_use"]

STEP = "route"

_routing: ContextVar[bool] = ContextVar("routing", default=False)
"""Whether the current task runs inside a function that chooses a model."""


@answers(Rule.FIRST, deadline=Deadline.SHORT)
async def _route(event: RouteRequest, ctx: PiContext) -> Any:
    """Stand for the specification of the function of every virtual model."""


class Routing:
    """Chooses the model that answers a request to a virtual model.

    Args:
        settings: Read for the deadline.
        models: The models and their keys.
        manager: The session, which knows the last answer.
        plugins: Provides the ``ctx`` for the function.
        retries: Returns how often the conversation's current request was made before.
    """

    def __init__(
        self,
        settings: Settings,
        models: ModelRegistry,
        manager: SessionManager,
        plugins: PluginScope,
        retries: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._models = models
        self._manager = manager
        self._plugins = plugins
        self._retries = retries

    async def route(
        self,
        model: Model,
        level: ThinkingLevel,
        sent: Sequence[Message],
        messages: Sequence[AgentMessage],
        signal: AbortSignal,
    ) -> tuple[Model, ThinkingLevel]:
        """Return the model and reasoning effort for a request of the conversation, and emit ``model_dispatched``.

        Args:
            model: The virtual model.
            level: The selected reasoning effort.
            sent: The messages of the request.
            messages: The messages of the conversation, which say whether the user has sent one since the last answer.
            signal: Aborts the request.

        Raises:
            PiError: No model was chosen, or it cannot answer.
        """
        reason: RouteReason = "retry" if self._retries() else _reason(messages)
        request = self._request(model, level, reason, sent, signal)
        chosen, chosen_level = await self._choose(request)
        previous = request.previous
        changed = previous is not None and (previous[0].reference, previous[1]) != (chosen.reference, chosen_level)
        ctx = self._plugins.ctx
        await ctx.emit(
            ModelDispatchedEvent(
                virtual=model.reference,
                provider=chosen.provider,
                model=chosen.id,
                thinking_level=chosen_level,
                reason=reason,
                changed=changed,
                context_window=chosen.context_window,
            )
        )
        if changed and ctx.has_ui:
            effort = f" • {chosen_level}" if chosen.reasoning else ""
            ctx.ui.notify(f"{model.id} now uses {chosen.id}{effort}")
        return chosen, chosen_level

    async def route_directly(
        self,
        model: Model,
        level: ThinkingLevel,
        sent: Sequence[Message],
        _messages: Sequence[AgentMessage],
        signal: AbortSignal,
    ) -> tuple[Model, ThinkingLevel]:
        """Return the model and reasoning effort for a request outside the conversation; errors as in ``route``."""
        return await self._choose(self._request(model, level, "direct", sent, signal))

    def _request(
        self, model: Model, level: ThinkingLevel, reason: RouteReason, sent: Sequence[Message], signal: AbortSignal
    ) -> RouteRequest:
        return RouteRequest(
            model=model,
            thinking_level=level,
            reason=reason,
            previous=self._previous(level),
            failed=self._failed(model) if reason == "retry" else None,
            messages=LazyCopies(sent),
            signal=signal,
        )

    def _previous(self, level: ThinkingLevel) -> tuple[Model, ThinkingLevel] | None:
        """Return model and reasoning effort of the last successful answer, where its provider is still known."""
        answer = self._manager.last_answer()
        if answer is None:
            return None
        model = answering_model(self._models, answer)
        if model is None:
            return None
        recorded = next((each for each in THINKING_LEVELS if each == answer.thinking_level), level)
        return model, clamp_thinking_level(model, recorded)

    def _failed(self, virtual: Model) -> AssistantMessage | None:
        """Return the answer that failed; None if no model was asked, so that it names the virtual one."""
        for entry in reversed(self._manager.get_branch()):
            if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
                answer = entry.message
                is_its_own = (answer.provider, answer.model) == (virtual.provider, virtual.id)
                return None if is_its_own or answer.stop_reason != "error" else copy_message(answer)
        return None

    async def _choose(self, request: RouteRequest) -> tuple[Model, ThinkingLevel]:
        name = request.model.reference
        if _routing.get():
            raise PiError(f"The function that chooses the model of {name} must name a model for its own requests.")
        found = self._models.virtual(request.model)
        if found is None:
            raise PiError(f"No plugin registers the virtual model {name} any more. Choose another with /model.")
        answer = await self._call(found, request)
        return self._checked(answer, request, found.plugin)

    async def _call(self, found: Registered, request: RouteRequest) -> Any:
        """Call the function; a failure, the end of its time included, is raised as the reason of the error."""
        failures: list[HookFailure] = []
        invoker = Invoker(failures.append, lambda *_args, **_options: None, None)
        spec_answers = answers_of(_route)
        assert spec_answers is not None  # noqa: S101 - declared above
        seconds = deadlines_of(self._settings).of(found.plugin, STEP, spec_answers.deadline.value)
        invoker.watchdog.shortest = seconds
        hook = CompiledHook(STEP, _route, spec_answers, _never_combined)
        function = found.thing.route
        implementation = HookImplementation(STEP, found.plugin, function, function, seconds, 1, Order())
        token = _routing.set(True)
        try:
            with acting(found.plugin):
                answer = await invoker.invoke(HookCall(hook, self._plugins.ctx), implementation, request)
        finally:
            _routing.reset(token)
            invoker.watchdog.close()
        if request.signal is not None:
            request.signal.raise_if_aborted()
        if failures:
            raise _failure(request, found.plugin, failures[-1].message)
        return answer

    def _checked(self, answer: Any, request: RouteRequest, plugin: str) -> tuple[Model, ThinkingLevel]:
        """Return the chosen model and a reasoning effort that it supports.

        Raises:
            PiError: The answer is not a model that can be used.
        """
        if not isinstance(answer, tuple | list) or len(answer) != 2:  # noqa: PLR2004 - a pair
            raise _failure(request, plugin, f"it returned {answer!r:.80}, not a pair of model and thinking level")
        chosen, level = answer
        try:
            model = self._models.find(chosen) if isinstance(chosen, str) else chosen
            if not isinstance(model, Model):
                raise _failure(request, plugin, f"it returned {chosen!r:.80}, which is neither a model nor a name")
            if model.is_virtual:
                raise _failure(request, plugin, f"it chose {model.reference}, which is itself virtual")
            level = clamp_thinking_level(model, request.thinking_level if level is None else level)
        except _RouteError:
            raise
        except PiError as error:
            raise _failure(request, plugin, f"it made a choice that does not exist: {error}") from error
        try:
            self._models.stream_of(model)
            self._models.check(model)
        except PiError as error:  # such as a missing key: what helps is what the error says
            raise _RouteError(
                f"The virtual model {request.model.reference} of plugin {plugin!r} chose {model.reference}, "
                f"which cannot be used: {str(error).rstrip('.')}. Or choose another model with /model."
            ) from error
        return model, level


class _RouteError(PiError):
    """No model was chosen for a request to a virtual model."""


def _failure(request: RouteRequest, plugin: str, why: str) -> _RouteError:
    return _RouteError(
        f"The virtual model {request.model.reference} of plugin {plugin!r} chose no model for this request: "
        f"{why.rstrip('.')}. Choose another model with /model, or fix the plugin."
    )


async def _never_combined(*_: Any) -> None:
    """Stand for the function that combines the answers of a hook, because there is one answer."""


def _reason(messages: Sequence[AgentMessage]) -> RouteReason:
    """Return ``user`` if the user has sent a message since the last answer, else ``continuation``."""
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return "continuation"
        if isinstance(message, UserMessage):
            return "user"
    return "continuation"


def answering_model(models: ModelRegistry, answer: AssistantMessage) -> Model | None:
    """Return the model that gave an answer; None if its provider is not known any more, or the model is virtual."""
    try:
        model = models.exact(answer.provider, answer.model)
    except PiError:
        return None
    return None if model.is_virtual else model


def with_limits_in_use(virtual: Model, models: ModelRegistry, answer: AssistantMessage | None) -> Model:
    """Return a virtual model with the limits of the model that gave an answer; unchanged if that is not known."""
    model = answering_model(models, answer) if answer is not None else None
    if model is None:
        return virtual
    return evolve(virtual, context_window=model.context_window, max_tokens=model.max_tokens)
