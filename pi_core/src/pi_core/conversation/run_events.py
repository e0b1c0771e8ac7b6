"""Handles each event of a run: hooks first, then the transcript, then the subscribers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.conversation.event_copies import copy_event
from pi_hookspecs import AgentEndEvent, AssistantMessage, MessageEndEvent
from pi_hookspecs.models import VIRTUAL_API

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pi_core.conversation.message_queue import MessageQueue
    from pi_core.conversation.retry import Retry
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.system_prompts import PromptRecord
    from pi_hookspecs import AbortSignal, AgentEvent, Model

__all__ = ["RunEvents"]

_CALLED_BY_BRIDGE = frozenset({"message_end", "turn_end"})
"""Hooks with a result, which the bridge calls while the loop waits."""

_BEFORE_HOOKS = frozenset({"agent_start", "message_start", "turn_start"})
"""Events that require work before hooks are called."""


class RunEvents:
    """Subscribes to the agent.

    Args:
        runtime: The objects that all parts share.
        queue: Emits the remaining messages after a queued message was taken.
        retry: Decides whether to retry a failed run.
        record: Stores the system prompt of each turn.
    """

    def __init__(self, runtime: Runtime, *, queue: MessageQueue, retry: Retry, record: PromptRecord) -> None:
        self._runtime = runtime
        self._queue = queue
        self._retry = retry
        self._record = record

    def on_event(self, event: AgentEvent, signal: AbortSignal) -> Awaitable[None] | None:
        """Handle one event. A delta without hooks is passed directly to the session's subscribers."""
        runtime = self._runtime
        if event.type == "message_update" and "message_update" not in runtime.hooks.implemented:
            return runtime.events.emit_delta(event, signal)
        return self._handle(event, signal)

    async def _handle(self, event: AgentEvent, signal: AbortSignal) -> None:
        runtime, kind = self._runtime, event.type
        if isinstance(event, AgentEndEvent):
            event = evolve(event, will_retry=self._retry.plan_retry(runtime.transcript.last_answer()))
        if kind not in _CALLED_BY_BRIDGE:
            if kind in _BEFORE_HOOKS:
                self._before_hooks(event, signal)
            if kind in runtime.hooks.implemented:
                await runtime.hooks.notify(copy_event(event), runtime.ctx)
            if kind == "turn_start":  # hooks may have changed the prompt and tools of the turn's request
                self._record.update()
        elif isinstance(event, MessageEndEvent):
            runtime.transcript.record(event.message)
            if runtime.gate.call is not None:
                runtime.gate.call.add(event.message)
        else:
            runtime.manager.sync()
        await runtime.events.emit(event, signal)
        if isinstance(event, MessageEndEvent) and isinstance(event.message, AssistantMessage):
            await self._on_answer(event.message)

    async def _on_answer(self, answer: AssistantMessage) -> None:
        runtime = self._runtime
        model, warming = runtime.agent.state.model, runtime.bridge.requests.warming
        if model is not None and model.api == VIRTUAL_API:
            self._use_limits(model, answer)
        if warming is not None:
            warming.on_answer(answer)
        if self._retry.attempt:
            await self._retry.on_answer(answer)

    def _use_limits(self, virtual: Model, answer: AssistantMessage) -> None:
        """Give a virtual model the limits of the model that answered."""
        if answer.stop_reason not in ("error", "aborted"):
            from pi_core.conversation.routing import with_limits_in_use

            self._runtime.agent.state.model = with_limits_in_use(virtual, self._runtime.models, answer)

    def _before_hooks(self, event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "message_start" and not isinstance(event.message, AssistantMessage):
            self._queue.emit_update()
        elif event.type == "agent_start":
            self._forward_abort(signal)
        elif event.type == "turn_start":
            self._runtime.settings.refresh()

    def _forward_abort(self, signal: AbortSignal) -> None:
        """Let an abort of the prompt end its run, and an abort of the run end the hooks that are called meanwhile."""
        hooks, agent, stop = self._runtime.hooks, self._runtime.agent, self._runtime.gate.signal
        signal.on_abort(lambda: hooks.abort(signal))
        if stop is not None:
            stop.on_abort(lambda: agent.abort(stop.reason or ""))
