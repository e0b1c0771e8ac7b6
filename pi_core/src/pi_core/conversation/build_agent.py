"""Builds the agent of a session: implements the loop's callbacks with hooks, settings, models and the current call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_core.agent.agent import Agent
from pi_core.agent.convert import convert_to_llm
from pi_core.agent.types import LoopCallbacks
from pi_core.base.process.forks import exit_if_child
from pi_hookspecs import StreamOptions, UsageLimitExceeded

if TYPE_CHECKING:
    from pi_core.agent.queue import QueueMode
    from pi_core.agent.types import BeforeToolCall
    from pi_core.conversation.admission import Admission
    from pi_core.conversation.hook_bridge import HookBridge
    from pi_core.conversation.plugin_scope import PluginScope
    from pi_core.conversation.prompt_gate import PromptGate
    from pi_core.conversation.request_hooks import RequestHooks
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import (
        AbortSignal,
        ExecutionMode,
        Model,
        ThinkingLevel,
        ToolCall,
        ToolCallResult,
        ToolContext,
        ToolUpdate,
    )

__all__ = ["build_agent", "prepare_request", "stream_answer"]

_QUEUE_MODES: tuple[QueueMode, ...] = ("one-at-a-time", "all")
_TOOL_EXECUTION: tuple[ExecutionMode, ...] = ("parallel", "sequential")
_STEERING_INTERRUPT: tuple[Literal["wait", "skip"], ...] = ("wait", "skip")


def stream_answer(models: ModelRegistry, model: Model, context: Any, options: StreamOptions) -> Any:
    """Send a request to the provider of the model's API and return the events of its answer."""
    return models.stream_of(model)(model, context, options)


async def prepare_request(
    models: ModelRegistry, gate: PromptGate, requests: RequestHooks, model: Model, options: StreamOptions
) -> tuple[Model, StreamOptions]:
    """Return model and options for the provider; a request that exceeds a limit aborts the prompt.

    Raises:
        UsageLimitExceeded: A limit of the current prompt is reached.
    """
    if gate.call is not None:
        try:
            gate.call.meter.begin_request()
        except UsageLimitExceeded as error:
            gate.abort(str(error))
            raise
    model, options = await models.prepare(model, options)
    return model, requests.bind(model, options)


def build_agent(
    *,
    settings: Settings,
    models: ModelRegistry,
    manager: SessionManager,
    gate: PromptGate,
    bridge: HookBridge,
    plugins: PluginScope,
    admission: Admission,
    model: Model | None,
    thinking_level: ThinkingLevel,
) -> Agent:
    """Return an agent with the messages of the session's tree."""
    choice = settings.get_choice

    def tool_context(call: ToolCall, update: ToolUpdate) -> ToolContext:
        signal: AbortSignal | None = agent.signal
        assert signal is not None  # noqa: S101 - tools run only inside a run
        return plugins.for_tool_call(call, update, signal)

    async def prepare(model: Model, options: StreamOptions) -> tuple[Model, StreamOptions]:
        call = gate.call
        options = options if call is None else call.options(options)
        return await prepare_request(models, gate, bridge.requests, model, options)

    async def route(*request: Any) -> tuple[Model, ThinkingLevel]:
        from pi_core.conversation.routing import Routing  # only needed for virtual models

        return await Routing(settings, models, manager, plugins, bridge.requests.retries).route(*request)

    async def before_tool_call(question: BeforeToolCall, signal: AbortSignal) -> ToolCallResult | None:
        settings.refresh()
        refusal = gate.call.meter.refuse_call(question.assistant_message) if gate.call is not None else None
        return refusal or await bridge.before_tool_call(question, signal)

    def stream(model: Model, context: Any, options: StreamOptions) -> Any:
        context = bridge.requests.without_refused(model, context)
        if model.prompt_cache is not None:
            options = bridge.requests.remember(model, context, options)
        return stream_answer(models, model, context, options)

    agent = Agent(
        stream=stream,
        model=model,
        thinking_level=thinking_level,
        messages=manager.conversation(),
        options=StreamOptions(session_id=manager.id),
        steering_mode=choice("steeringMode", _QUEUE_MODES, "one-at-a-time"),
        follow_up_mode=choice("followUpMode", _QUEUE_MODES, "one-at-a-time"),
        callbacks=LoopCallbacks(
            convert_to_llm=convert_to_llm,
            transform_context=bridge.transform_context,
            route_request=route,
            begin_request=bridge.requests.begin,
            prepare_request=prepare,
            end_request=bridge.requests.end,
            before_tool_call=before_tool_call,
            after_tool_call=bridge.review_result,
            admit_message=admission.admit,
            finish_message=bridge.finish_message,
            finish_turn=bridge.finish_turn,
            tool_context=tool_context,
            on_tool_raise=exit_if_child,
            tool_execution=choice("toolExecution", _TOOL_EXECUTION, "parallel"),
            steering_interrupt=choice("steeringInterrupt", _STEERING_INTERRUPT, None),
        ),
    )
    return agent
