"""One request to the model, sent through the provider's stream; it always ends in an answer.

A failure at any step becomes the answer: an assistant message with the stop reason ``error`` or ``aborted`` and the
content that was received until then.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from os import urandom
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.agent.cancel import Grace, cancelled_from_outside
from pi_core.agent.safe_text import exception_location, exception_message, format_exception, is_interrupt, is_library
from pi_hookspecs import (
    ABORT_GRACE,
    AssistantMessage,
    Context,
    MessageStartEvent,
    MessageUpdateEvent,
    PiError,
    TextContent,
    ThinkingContent,
    ToolCall,
)
from pi_hookspecs.deferred import define, field
from pi_hookspecs.models import VIRTUAL_API
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from pi_core.agent.types import AgentContext, LoopConfig, RouteCallback
    from pi_hookspecs import (
        AbortSignal,
        AgentEvent,
        AssistantMessageEvent,
        Message,
        Model,
        StreamOptions,
        ThinkingLevel,
    )

__all__ = ["ask_model"]

ABORTED = "Request was aborted"

_PARTIAL_EVENTS = frozenset(
    ("start", *(f"{block}_{step}" for block in ("text", "thinking", "toolcall") for step in ("start", "delta", "end")))
)
_CALL_EVENTS = frozenset(("toolcall_start", "toolcall_end"))
_WRAPPERS = os.path.join("pi_core", "models", "")  # noqa: PTH118 - plain text, as code objects have it
"""In the files of the generators that pass a provider's events on."""

_EMPTY = (TextContent(""), ThinkingContent(""))


def ask_model(
    context: AgentContext,
    config: LoopConfig,
    signal: AbortSignal,
    emit: Callable[[AgentEvent], Awaitable[None]],
) -> Coroutine[Any, Any, tuple[AssistantMessage, str]]:
    """Send a request, and emit ``message_start`` and every ``message_update``.

    Returns:
        The model's answer and the request's id; the id is empty if no request was made.
    """
    return _Request(context, config, signal, emit).run()


@define(eq=False, repr=False)
class _Request(ReprMixin):
    """One request and the state of its answer.

    Attributes:
        id: The request's id, 16 hexadecimal digits; empty until the request is known to be allowed.
        announced: Whether ``message_start`` was emitted.
        final: The answer; None until the stream has ended.
        latest: The provider's latest event, with the partial answer.
        complete_calls: The tool calls that were completely received.
        level: The reasoning effort that was chosen together with the model; None unless the model was virtual.
    """

    context: AgentContext
    config: LoopConfig
    signal: AbortSignal
    emit: Callable[[AgentEvent], Awaitable[None]]
    id: str = ""
    announced: bool = False
    final: AssistantMessage | None = None
    latest: Any = None
    complete_calls: list[ToolCall] = field(factory=list)
    level: ThinkingLevel | None = None

    async def run(self) -> tuple[AssistantMessage, str]:
        if not self.signal.aborted:
            try:
                await self.receive()
            except asyncio.CancelledError:
                await self.report_end(self.failed_answer(ABORTED))
                raise
        final = self.final or self.failed_answer("")
        await self.report_end(final)
        if not self.announced:
            start = evolve(final, stop_reason="pending", error_message=None)
            await self.emit(MessageStartEvent(message=start, request_id=self.id))
        return final, self.id

    async def receive(self) -> None:
        """Receive the answer; an exception that is raised before it is complete becomes a failed answer."""
        failure = ""
        try:
            await self.send()
        except asyncio.CancelledError:
            if cancelled_from_outside():
                raise
            failure = f"Provider {self.config.model.provider!r} cancelled its own request"
        except BaseException as error:  # of a provider, callback or listener
            if isinstance(error, GeneratorExit) or is_interrupt(error):
                raise
            failure = self.described(error)
        if self.final is None:
            self.final = self.failed_answer(failure)

    def described(self, error: BaseException) -> str:
        """Return the message of an exception; of a mistake in the provider's code, with its type and place."""
        is_mistake = not isinstance(error, (PiError, OSError)) and _is_of_provider(error)
        place = exception_location(error) if is_mistake else ""
        if not place:
            return exception_message(error)
        return f"Provider {self.config.model.provider!r} failed: {format_exception(error)}{place}"

    async def report_end(self, answer: AssistantMessage) -> None:
        if self.id and self.config.end_request is not None:
            await self.config.end_request(answer)

    async def send(self) -> None:
        """Send the request and read the provider's stream, which after an abort has a grace period to end by itself."""
        stream: Any = None
        try:
            with Grace(self.signal, ABORT_GRACE) as grace:
                stream = self.config.stream(*await self.prepare())
                await self.consume(stream, grace)
        finally:
            await _close(stream)

    async def prepare(self) -> tuple[Model, Context, StreamOptions]:
        config, messages = self.config, tuple(self.context.messages)
        if config.transform_context is not None:
            messages = tuple(await config.transform_context(messages, self.signal))
        sent = tuple(config.convert_to_llm(messages))
        if config.model.api == VIRTUAL_API and config.route_request is not None:
            config = await self.route(config, config.route_request, sent)
        key = await config.get_api_key(config.model.provider) if config.get_api_key is not None else None
        context = Context(
            system_prompt=self.context.system_prompt,
            messages=sent,
            tools=self.context.tools,
        )
        request_id = urandom(8).hex()
        if config.begin_request is not None:
            await config.begin_request(request_id, config.model, context)
        self.id = request_id
        model, options = config.model, evolve(config.options, signal=self.signal, api_key=key or config.options.api_key)
        if config.prepare_request is not None:
            model, options = await config.prepare_request(model, options)
        return model, context, options

    async def route(self, config: LoopConfig, choose: RouteCallback, sent: tuple[Message, ...]) -> LoopConfig:
        """Use the model and reasoning effort that answer this request to a virtual model."""
        selected = config.options.reasoning or "off"
        model, self.level = await choose(config.model, selected, sent, self.context.messages, self.signal)
        options = evolve(config.options, reasoning=None if self.level == "off" else self.level)
        self.config = evolve(config, model=model, options=options)
        return self.config

    async def consume(self, stream: AsyncIterator[AssistantMessageEvent], grace: Grace) -> None:
        provider = self.config.model.provider
        if not hasattr(stream, "__aiter__"):
            message = f"Provider {provider!r} returned {stream!r:.80}, which is not an async iterator"
            raise PiError(message)
        async for event in stream:
            kind = getattr(event, "type", None)
            if kind in _PARTIAL_EVENTS:  # the fast path: nearly all events
                self.latest = event
                if kind in _CALL_EVENTS:
                    self.on_call_event(event)
                if not self.announced:
                    self.announced = True
                    await self.emit(MessageStartEvent(message=event.partial, request_id=self.id))  # type: ignore[union-attr]
                if kind != "start":
                    await self.emit(MessageUpdateEvent(assistant_message_event=event, request_id=self.id))
            elif kind == "done":
                return self.end(event.message)  # type: ignore[union-attr]
            elif kind == "error":
                return self.end(event.error, failed=True)  # type: ignore[union-attr]
            else:
                message = f"Provider {provider!r} sent an unknown stream event: {kind or event!r:.80}"
                raise PiError(message)
            if grace.ends_at is not None:
                grace.check()
        message = f"Provider {provider!r} ended its stream without 'done' or 'error'"
        raise PiError(message)

    def on_call_event(self, event: Any) -> None:
        if event.type == "toolcall_end":
            self.complete_calls.append(event.tool_call)
        else:
            self.expect_call(getattr(event, "tool_name", None))

    def expect_call(self, name: str | None) -> None:
        """Prepare the validation of a call while its arguments are received."""
        tool = next((tool for tool in self.context.tools if tool.name == name), None)
        if tool is not None:
            self.config.validator.load_soon(tool)

    def end(self, message: object, *, failed: bool = False) -> None:
        """Set the final answer from the provider's last event; after an abort, its stop reason is ``aborted``."""
        if not isinstance(message, AssistantMessage):
            provider = self.config.model.provider
            raise PiError(f"Provider {provider!r} ended its stream with {message!r:.80}, which is not a message")
        if self.signal.aborted and message.stop_reason != "aborted":
            message = evolve(message, stop_reason="aborted", error_message=ABORTED)
        elif failed and message.stop_reason not in ("error", "aborted"):
            message = evolve(message, stop_reason="error")
        self.final = message if self.level is None else evolve(message, thinking_level=self.level)

    def failed_answer(self, why: str) -> AssistantMessage:
        """Return the answer of a request that failed: the content received so far, without incomplete tool calls."""
        partial = self.partial()
        content = tuple(
            block
            for block in partial.content
            if block not in _EMPTY and (not isinstance(block, ToolCall) or block in self.complete_calls)
        )
        if self.signal.aborted:
            return evolve(partial, content=content, stop_reason="aborted", error_message=ABORTED)
        return evolve(partial, content=content, stop_reason="error", error_message=why)

    def partial(self) -> AssistantMessage:
        with suppress(Exception):  # an event of a provider's own class
            if isinstance(partial := self.latest.partial, AssistantMessage):
                return partial if self.level is None else evolve(partial, thinking_level=self.level)
        model = self.config.model
        return AssistantMessage(
            api=model.api,
            provider=model.provider,
            model=model.id,
            thinking_level=self.level,
            stop_reason="pending",
        )


async def _close(stream: Any) -> None:
    """Close a stream, within the grace period; an error while closing does not change the answer."""
    if asyncio.iscoroutine(stream):
        stream.close()
    close = getattr(stream, "aclose", None)
    if close is None:
        return
    try:
        async with asyncio.timeout(ABORT_GRACE):
            await close()
    except BaseException as error:
        is_ours = isinstance(error, asyncio.CancelledError) and cancelled_from_outside()
        if is_ours or isinstance(error, GeneratorExit) or is_interrupt(error):
            raise


def _is_of_provider(error: BaseException) -> bool:
    """Whether an exception comes from the provider's stream, and not from a callback or a listener."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        code, following = entry.tb_frame.f_code, entry.tb_next.tb_frame.f_code
        if code is _Request.consume.__code__:
            inner = entry.tb_next
            while inner.tb_next is not None and _WRAPPERS in inner.tb_frame.f_code.co_filename:
                inner = inner.tb_next
            return not is_library(inner.tb_frame.f_code.co_filename)  # a listener is called by the agent
        if code is _Request.send.__code__ and following is not _Request.consume.__code__:
            return following is not _Request.prepare.__code__
        entry = entry.tb_next
    return False
