"""``Agent``: the loop with a state, queues, subscribers and one abort signal per run.

An agent does not know about sessions, files or settings; ``AgentSession`` adds them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from attrs import asdict, evolve

from pi_core.agent.loop import run_loop
from pi_core.agent.queue import MessageQueue
from pi_core.agent.safe_text import exception_message
from pi_core.agent.state import AgentState
from pi_core.agent.subscribers import Subscribers
from pi_core.agent.types import AgentContext, LoopCallbacks, LoopConfig
from pi_core.agent.validation import ArgumentValidator
from pi_hookspecs import (
    AbortController,
    AgentBusy,
    AgentEndEvent,
    AssistantMessage,
    MessageEndEvent,
    MessageStartEvent,
    NoModel,
    PiError,
    StreamOptions,
    TextContent,
    TurnEndEvent,
    UserMessage,
)
from pi_hookspecs.deferred import define, field
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_core.agent.queue import QueueMode
    from pi_core.agent.subscribers import Listener
    from pi_hookspecs import (
        AbortSignal,
        AgentEvent,
        AgentMessage,
        ImageContent,
        Model,
        StreamFunction,
        ThinkingLevel,
        Tool,
        ToolExecutionEndEvent,
        ToolResultMessage,
    )

__all__ = ["Agent", "AgentState"]

_BUSY_PROMPT = (
    "Agent is already processing a prompt. Use steer() or followUp() to queue messages, or wait for completion."
)
_BUSY_CONTINUE = "Agent is already processing. Wait for completion before continuing."
_BUSY_RESET = "Agent is already processing. Wait for completion before resetting."


@define(eq=False, repr=False)
class _Run(ReprMixin):
    """The state of one run.

    Attributes:
        abort: Aborts the run.
        context: What the loop sends to the model.
        prompts: The messages that the run begins with.
        new: The messages that the run has appended.
        finished: The ends of the latest answer's calls, by the calls' ids.
        ended: Whether ``agent_end`` was emitted.
    """

    abort: AbortController
    context: AgentContext
    prompts: Sequence[AgentMessage]
    new: list[AgentMessage] = field(factory=list)
    finished: dict[str, ToolExecutionEndEvent] = field(factory=dict)
    ended: bool = False


class Agent:
    """Runs the loop for one prompt at a time, and queues messages that arrive during a run.

    Args:
        stream: The provider's ``stream``.
        model: The model that requests are sent to. If it is None, ``prompt`` raises ``NoModel``.
        system_prompt: Sent with every request.
        tools: The tools that the model may call.
        messages: The conversation so far.
        thinking_level: Reasoning effort of the model.
        callbacks: The loop's callbacks, such as ``before_tool_call``.
        options: The options of every request.
        steering_mode: ``one-at-a-time`` delivers the oldest queued message in each turn; ``all`` delivers all of them.
        follow_up_mode: The same for follow-ups.
    """

    def __init__(
        self,
        *,
        stream: StreamFunction,
        model: Model | None = None,
        system_prompt: str = "",
        tools: Sequence[Tool] = (),
        messages: Sequence[AgentMessage] = (),
        thinking_level: ThinkingLevel = "off",
        options: StreamOptions | None = None,
        steering_mode: QueueMode = "one-at-a-time",
        follow_up_mode: QueueMode = "one-at-a-time",
        callbacks: LoopCallbacks | None = None,
    ) -> None:
        self.state = AgentState(
            system_prompt=system_prompt,
            model=model,
            thinking_level=thinking_level,
            tools=tuple(tools),
            messages=list(messages),
        )
        self.stream_function = stream
        self.options = options or StreamOptions()
        self.callbacks = callbacks or LoopCallbacks()
        self._validator = ArgumentValidator()
        self._steering = MessageQueue(steering_mode)
        self._follow_up = MessageQueue(follow_up_mode)
        self._subscribers = Subscribers()
        self._run: _Run | None = None
        self.signal: AbortSignal | None = None
        """The current run's abort signal; None between runs."""
        self._idle = asyncio.Event()
        self._idle.set()

    # Running

    async def prompt(
        self, prompt: str | AgentMessage | Iterable[AgentMessage], images: Sequence[ImageContent] = ()
    ) -> None:
        """Run the loop for a text, a message or several messages, and return when the agent is idle again.

        Raises:
            AgentBusy: A run is in progress.
            NoModel: No model is set.
        """
        if self.state.is_streaming:
            raise AgentBusy(_BUSY_PROMPT)
        if isinstance(prompt, str):
            messages: list[AgentMessage] = [UserMessage(content=(TextContent(prompt), *images))]
        elif isinstance(prompt, Iterable):
            messages = list(prompt)
        else:
            messages = [prompt]
        await self._run_loop(messages)

    async def continue_(self) -> None:
        """Continue from the transcript, to retry or to answer messages that were queued while the agent was idle.

        Raises:
            AgentBusy: A run is in progress.
            PiError: There is nothing to continue from.
        """
        if self.state.is_streaming:
            raise AgentBusy(_BUSY_CONTINUE)
        if not self.state.messages:
            raise PiError("No messages to continue from")
        if self.state.messages[-1].role != "assistant":
            await self._run_loop([])
        elif steering := self._steering.drain():
            await self._run_loop(steering, skip_first_poll=True)
        elif follow_up := self._follow_up.drain():
            await self._run_loop(follow_up)
        else:
            raise PiError("Cannot continue from message role: assistant")

    async def run_on(self) -> None:
        """Make one more request from the transcript, whatever its last message is.

        If the transcript ends in a failed answer, that answer is first removed from the context; the session keeps it.

        Raises:
            AgentBusy: A run is in progress.
        """
        if self.state.is_streaming:
            raise AgentBusy(_BUSY_CONTINUE)
        last = self.state.messages[-1] if self.state.messages else None
        if isinstance(last, AssistantMessage) and last.stop_reason in ("error", "aborted"):
            self.state.messages.pop()
        await self._run_loop([])

    def abort(self, reason: str = "Operation aborted") -> None:
        """Abort the current run, if there is one; queued messages stay queued."""
        if self._run is not None:
            self._run.abort.abort(reason)

    async def wait_for_idle(self) -> None:
        """Return when no run is in progress and every subscriber to its last event has returned."""
        await self._idle.wait()

    # Queues

    @property
    def steering_mode(self) -> QueueMode:
        """Whether a turn takes the oldest steering message or all of them."""
        return self._steering.mode

    @steering_mode.setter
    def steering_mode(self, mode: QueueMode) -> None:
        self._steering.mode = mode

    @property
    def follow_up_mode(self) -> QueueMode:
        """Whether a turn takes the oldest follow-up or all of them."""
        return self._follow_up.mode

    @follow_up_mode.setter
    def follow_up_mode(self, mode: QueueMode) -> None:
        self._follow_up.mode = mode

    def steer(self, message: AgentMessage) -> None:
        """Queue a message to be delivered before the next request."""
        self._steering.put(message)

    def follow_up(self, message: AgentMessage) -> None:
        """Queue a message to be delivered when the agent would otherwise stop."""
        self._follow_up.put(message)

    def clear_steering_queue(self) -> list[AgentMessage]:
        """Remove and return the queued steering messages."""
        return self._steering.clear()

    def clear_follow_up_queue(self) -> list[AgentMessage]:
        """Remove and return the queued follow-ups."""
        return self._follow_up.clear()

    def clear_all_queues(self) -> list[AgentMessage]:
        """Remove and return all queued messages, steering messages first."""
        return self.clear_steering_queue() + self.clear_follow_up_queue()

    def has_queued_messages(self) -> bool:
        """Whether either queue holds a message."""
        return bool(self._steering or self._follow_up)

    def peek_queued_messages(self) -> tuple[tuple[AgentMessage, ...], tuple[AgentMessage, ...]]:
        """Return the queued steering messages and follow-ups, without removing them."""
        return self._steering.peek(), self._follow_up.peek()

    # State

    def set_system_prompt(self, system_prompt: str) -> None:
        """Set the system prompt, starting with the next request."""
        self.state.system_prompt = system_prompt
        if self._run is not None:
            self._run.context.system_prompt = system_prompt

    def set_model(self, model: Model) -> None:
        """Set the model, starting with the next run."""
        self.state.model = model

    def set_thinking_level(self, level: ThinkingLevel) -> None:
        """Set the reasoning effort, starting with the next run."""
        self.state.thinking_level = level

    def set_tools(self, tools: Sequence[Tool]) -> None:
        """Set the tools to offer, starting with the next request."""
        self.state.tools = tuple(tools)
        if self._run is not None:
            self._run.context.tools = self.state.tools

    def replace_messages(self, messages: Iterable[AgentMessage]) -> None:
        """Replace the conversation; a current run sends it with its next request."""
        self.state.messages = list(messages)
        if self._run is not None:
            self._run.context.messages[:] = self.state.messages

    def append_message(self, message: AgentMessage) -> None:
        """Append a message to the conversation without a request; a current run sends it with its next one."""
        self.state.messages.append(message)
        if self._run is not None:
            self._run.context.messages.append(message)

    def clear_messages(self) -> None:
        """Remove all messages from the conversation."""
        self.state.messages = []

    def reset(self) -> None:
        """Clear the conversation, the queues and the error; keep the model, the system prompt and the tools.

        Raises:
            AgentBusy: A run is in progress.
        """
        if self.state.is_streaming:
            raise AgentBusy(_BUSY_RESET)
        self.clear_messages()
        self.clear_all_queues()
        self.state.error_message = None

    # Events

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call a listener with every event, in order; return a function that unsubscribes it.

        The listener may be ``async``, and may take the run's abort signal as a second argument. An exception
        that it raises fails the run.
        """
        return self._subscribers.add(listener)

    async def _emit(self, run: _Run, event: AgentEvent) -> None:
        if event.type == "message_update":  # the fast path: thousands per answer, and only this changes
            self.state.partial_event = event
        else:
            self._update(run, event)
        for listener in self._subscribers.listeners:  # as ``emit`` does, which would be one more call per delta
            waiting = listener(event, run.abort.signal)
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting

    def _update(self, run: _Run, event: AgentEvent) -> None:
        """Update state, queues and run before the event is emitted."""
        self.state.update(event)
        if isinstance(event, MessageStartEvent):
            self._steering.mark_delivered(event.message)
            self._follow_up.mark_delivered(event.message)
        elif isinstance(event, MessageEndEvent):
            run.new.append(event.message)
            if isinstance(event.message, AssistantMessage):
                run.finished.clear()
        elif event.type == "tool_execution_end":  # by name, as a run without calls does not load this class
            run.finished[event.tool_call_id] = event
        elif isinstance(event, AgentEndEvent):
            run.ended = True

    # One run

    async def _run_loop(self, prompts: list[AgentMessage], *, skip_first_poll: bool = False) -> None:
        state, model = self.state, self.state.model
        if model is None:
            raise NoModel("No model configured")
        self._idle.clear()
        state.begin_run()
        context = AgentContext(state.system_prompt, list(state.messages), state.tools)
        self._run = run = _Run(AbortController(), context, prompts)
        self.signal = run.abort.signal
        try:
            config = self._loop_config(model, skip_first_poll=skip_first_poll)
            await run_loop(prompts, context, config, run.abort.signal, partial(self._emit, run))
        except asyncio.CancelledError:
            run.abort.abort("The run was cancelled")  # threads cannot be cancelled, but they can read the signal
            await self._end_failed(run, "Request was aborted", model)
            raise
        except Exception as error:
            if run.ended:
                raise
            await self._end_failed(run, exception_message(error), model)
            run.abort.abort("The run failed")
        finally:
            self._steering.put_back()
            self._follow_up.put_back()
            self._run = self.signal = None
            state.end_run()
            self._idle.set()

    def _loop_config(self, model: Model, *, skip_first_poll: bool) -> LoopConfig:
        polls = iter(range(int(skip_first_poll)))

        async def steering() -> Sequence[AgentMessage]:
            return self._steering.drain() if next(polls, None) is None else ()

        async def follow_up() -> Sequence[AgentMessage]:
            return self._follow_up.drain()

        callbacks, admit = self.callbacks, self.callbacks.admit_message
        if admit is not None:
            callbacks = evolve(callbacks, admit_message=partial(self._admit, admit))
        level = self.state.thinking_level
        return LoopConfig(
            model=model,
            stream=self.stream_function,
            options=evolve(self.options, reasoning=None if level == "off" else level),
            get_steering_messages=steering,
            get_follow_up_messages=follow_up,
            validator=self._validator,
            **asdict(callbacks, recurse=False),
        )

    async def _admit(self, admit: Callable[[Any], Awaitable[Any]], message: AgentMessage) -> AgentMessage:
        """Admit a message; the one that replaces a queued message is delivered in its place."""
        admitted: AgentMessage = await admit(message)
        if admitted is not message:
            self._steering.replace(message, admitted)
            self._follow_up.replace(message, admitted)
        return admitted

    async def _end_failed(self, run: _Run, why: str, model: Model) -> None:
        """End a run that failed: append a failed answer and emit the events that front ends wait for.

        A message that had started is ended first; an answer that had started becomes the failed answer. Calls without
        a result message get one: their result, if they had ended.
        """
        if run.ended:
            return
        reason: Literal["aborted", "error"] = "aborted" if run.abort.signal.aborted else "error"
        unfinished, answer = self.state.streaming_message, self.state.broken_answer(model)
        if not isinstance(unfinished, AssistantMessage):
            if unfinished is not None:
                await self._emit_despite_errors(run, MessageEndEvent(message=unfinished))
            for result in _missing_results(run):
                await self._emit_despite_errors(run, MessageStartEvent(message=result))
                await self._emit_despite_errors(run, MessageEndEvent(message=result))
            for message in run.prompts[len(run.new) :]:  # keep the user's messages, whatever failed before
                await self._emit_despite_errors(run, MessageStartEvent(message=message))
                await self._emit_despite_errors(run, MessageEndEvent(message=message))
            await self._emit_despite_errors(run, MessageStartEvent(message=answer))
        answer = evolve(answer, stop_reason=reason, error_message=why)
        await self._emit_despite_errors(run, MessageEndEvent(message=answer))
        await self._emit_despite_errors(run, TurnEndEvent(message=answer))
        error = why if reason == "error" else None
        await self._emit_despite_errors(run, AgentEndEvent(messages=tuple(run.new), error=error))

    async def _emit_despite_errors(self, run: _Run, event: AgentEvent) -> None:
        self._update(run, event)
        await self._subscribers.emit_despite_errors(event, run.abort.signal)


def _missing_results(run: _Run) -> list[ToolResultMessage]:
    """Return results for the calls of the latest answer that have no result message."""
    answers = [index for index, message in enumerate(run.new) if isinstance(message, AssistantMessage)]
    answer = run.new[answers[-1]] if answers else None
    if not isinstance(answer, AssistantMessage) or answer.stop_reason in ("error", "aborted"):
        return []
    done = [getattr(message, "tool_call_id", None) for message in run.new[answers[-1] + 1 :]]
    missing = [call for call in answer.tool_calls if call.id not in done]
    if not missing:
        return []
    from pi_core.agent.tool_calls import message_of
    from pi_core.agent.tool_run import ABORTED, failure

    results = []
    for call in missing:
        end = run.finished.get(call.id)
        result, duration_ms = (failure(ABORTED), None) if end is None else (end.result, end.duration_ms)
        results.append(message_of(call, result, duration_ms))
    return results
