"""The agent inside a session: which of its questions are answered by hooks, settings, and the session itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_core.agent.agent import Agent
from pi_core.agent.convert import convert_to_llm
from pi_core.agent.types import LoopCallbacks
from pi_core.base.process.forks import leave_if_child
from pi_core.plugin_api.context import ToolCallContext
from pi_hookspecs import StreamOptions, UsageLimitExceeded

if TYPE_CHECKING:
    from pi_core.agent.queue import QueueMode
    from pi_core.agent.types import BeforeToolCall
    from pi_core.conversation.session import AgentSession
    from pi_hookspecs import (
        AbortSignal,
        ExecutionMode,
        Model,
        ThinkingLevel,
        ToolCall,
        ToolCallResult,
        ToolUpdate,
    )

__all__ = ["make_agent", "prepare_request", "stream_answer"]

_QUEUE_MODES: tuple[QueueMode, ...] = ("one-at-a-time", "all")
_TOOL_EXECUTION: tuple[ExecutionMode, ...] = ("parallel", "sequential")
_STEERING_INTERRUPT: tuple[Literal["wait", "skip"], ...] = ("wait", "skip")


def stream_answer(session: AgentSession, model: Model, context: Any, options: StreamOptions) -> Any:
    """Ask the provider that speaks the model's API and return the events of its answer."""
    if session.settings.get_bool("images.blockImages", default=False):
        from pi_core.agent.convert import without_images

        context = without_images(context)
    return session.models.stream_of(model)(model, context, options)


async def prepare_request(session: AgentSession, model: Model, options: StreamOptions) -> tuple[Model, StreamOptions]:
    """Return model and options as they go to the provider; a request that a limit forbids ends the prompt.

    Raises:
        UsageLimitExceeded: A limit of the prompt that is being answered is reached.
    """
    if session.call is not None:
        try:
            session.call.meter.begin_request()
        except UsageLimitExceeded as error:
            session.request_abort(str(error))
            raise
    return await session.models.prepare(model, options)


def make_agent(session: AgentSession, model: Model | None, thinking_level: ThinkingLevel) -> Agent:
    """Return the agent of a session, with the conversation that the session's tree holds."""
    choice, bridge = session.settings.get_choice, session.bridge

    def tool_context(call: ToolCall, update: ToolUpdate) -> ToolCallContext:
        signal: AbortSignal | None = session.agent.signal
        assert signal is not None  # noqa: S101 - tools run only inside a run
        return ToolCallContext(session, call, update, signal)

    async def prepare(model: Model, options: StreamOptions) -> tuple[Model, StreamOptions]:
        call = session.call
        return await prepare_request(session, model, options if call is None else call.options(options))

    async def before_tool_call(question: BeforeToolCall, signal: AbortSignal) -> ToolCallResult | None:
        session.settings.refresh()
        refusal = session.call.meter.refuse_call(question.assistant_message) if session.call is not None else None
        return refusal or await bridge.before_tool_call(question, signal)

    return Agent(
        stream=lambda model, context, options: stream_answer(session, model, context, options),
        model=model,
        thinking_level=thinking_level,
        messages=session.session_manager.conversation(),
        options=StreamOptions(
            session_id=session.session_id, on_payload=bridge.on_payload, on_response=bridge.on_response
        ),
        steering_mode=choice("steeringMode", _QUEUE_MODES, "one-at-a-time"),
        follow_up_mode=choice("followUpMode", _QUEUE_MODES, "one-at-a-time"),
        callbacks=LoopCallbacks(
            convert_to_llm=convert_to_llm,
            transform_context=bridge.transform_context,
            prepare_request=prepare,
            before_tool_call=before_tool_call,
            after_tool_call=bridge.after_tool_call,
            finish_message=bridge.finish_message,
            finish_turn=bridge.finish_turn,
            tool_context=tool_context,
            on_tool_raise=leave_if_child,
            tool_execution=choice("toolExecution", _TOOL_EXECUTION, "parallel"),
            steering_interrupt=choice("steeringInterrupt", _STEERING_INTERRUPT, None),
        ),
    )
