"""Providers of programs: their streams of events as those of any provider, and their logins."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_core import message_from_wire, to_wire, wire_name
from pi_hookspecs import AssistantMessage, Done, Error, MessageBuilder, PiError, UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from pi_hookspecs import AssistantMessageEvent, Context, Model, PiContext, StreamOptions
    from pi_isolated.plugin import Member

__all__ = ["ProgramLogin", "ProgramStream"]

_OPTIONS = (
    "api_key",
    "headers",
    "temperature",
    "max_tokens",
    "reasoning",
    "thinking_budgets",
    "cache_retention",
    "session_id",
    "transport",
    "tool_choice",
    "metadata",
    "max_retries",
    "max_retry_delay_ms",
    "timeout_ms",
)
"""What a program gets of the options: those that are data."""


class ProgramStream:
    """Asks a program for an answer of a model (``StreamFunction``).

    Args:
        member: The plugin.
        provider: The id of the provider.
    """

    def __init__(self, member: Member, provider: str) -> None:
        self._member = member
        self._provider = provider

    async def __call__(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``."""
        builder = MessageBuilder(model)
        events: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        task = asyncio.create_task(self._ask(model, context, options, events))
        task.add_done_callback(lambda _: events.put_nowait(None))
        read = _Reader(builder)
        try:
            while (event := await events.get()) is not None:
                for each in read(event):
                    yield each
                if read.is_over:
                    return
            failure = task.exception() if not task.cancelled() else None
            if options.signal is not None and options.signal.aborted:
                yield builder.abort()
            else:
                yield builder.fail(failure or "the stream of its program ended without a last event")
        finally:
            task.cancel()

    async def _ask(
        self, model: Model, context: Context, options: StreamOptions, events: asyncio.Queue[Mapping[str, Any] | None]
    ) -> None:
        ctx = context_of(self._member)
        process = await self._member.process(ctx)
        tools = [
            {"name": each.name, "description": each.description, "parameters": each.parameters}
            for each in context.tools
        ]
        message = {
            "type": "stream",
            "provider": self._provider,
            "model": to_wire(model),
            "context": {
                "systemPrompt": context.system_prompt,
                "messages": to_wire(context.messages),
                "tools": to_wire(tools),
            },
            "options": _plain(options),
        }
        request = asyncio.ensure_future(
            self._member.ask(process, message, ctx, lambda update: events.put_nowait(_event(update)))
        )
        forget = options.signal.on_abort(request.cancel) if options.signal is not None else None
        try:
            await request
        finally:
            if forget is not None:
                forget()


def _plain(options: StreamOptions) -> dict[str, Any]:
    values = {wire_name(name): getattr(options, name) for name in _OPTIONS}
    return {name: to_wire(value) for name, value in values.items() if value is not None}


def _event(update: Any) -> Mapping[str, Any]:
    event = update.get("event") if isinstance(update, dict) else None
    if not isinstance(event, dict):
        raise PiError(f"an update of a stream has an object 'event', not {update!r:.80}")
    return event


class _Reader:
    """Turns the events of a program into those of a provider."""

    def __init__(self, builder: MessageBuilder) -> None:
        self._builder = builder
        self._indexes: dict[Any, int] = {}
        self._steps = self._by_type()
        self.is_over = False

    def __call__(self, event: Mapping[str, Any]) -> list[AssistantMessageEvent]:
        """Return the events for one event of the program; none for one that is not known.

        Raises:
            PiError: A field is missing.
        """
        kind = event.get("type")
        if kind in ("done", "error"):
            self.is_over = True
            return [self._last(kind, event)]
        if kind == "start":
            return [self._builder.start()]
        step = self._steps.get(str(kind))
        try:
            return [step(event)] if step is not None else []
        except (KeyError, IndexError) as error:
            raise PiError(f"an event {kind!r} of its stream does not fit: {error}") from error

    def _by_type(self) -> dict[str, Callable[[Mapping[str, Any]], AssistantMessageEvent]]:
        builder = self._builder
        return {
            "text_start": lambda event: self._begin(event, builder.text_start()),
            "text_delta": lambda event: builder.text(self._index(event), str(event["delta"])),
            "text_end": lambda event: builder.text_end(self._index(event)),
            "thinking_start": lambda event: self._begin(event, builder.thinking_start()),
            "thinking_delta": lambda event: builder.thinking(self._index(event), str(event["delta"])),
            "thinking_end": lambda event: builder.thinking_end(self._index(event), event.get("signature")),
            "toolcall_start": lambda event: self._begin(
                event, builder.tool_call_start(str(event["id"]), str(event["name"]))
            ),
            "toolcall_delta": lambda event: builder.tool_call(self._index(event), str(event["delta"])),
            "toolcall_end": lambda event: builder.tool_call_end(self._index(event)),
        }

    def _begin(self, event: Mapping[str, Any], begun: Any) -> AssistantMessageEvent:
        self._indexes[event.get("contentIndex")] = begun.content_index
        return begun  # type: ignore[no-any-return]

    def _index(self, event: Mapping[str, Any]) -> int:
        return self._indexes[event.get("contentIndex")]

    def _last(self, kind: str, event: Mapping[str, Any]) -> Done | Error:
        message = message_from_wire(event.get("message"))
        if not isinstance(message, AssistantMessage):
            raise PiError(f"the last event of its stream has no assistant message, but {event.get('message')!r:.80}")
        return Done(message=message) if kind == "done" else Error(error=message)


class ProgramLogin:
    """Signs in to a provider of a program (``Login``): its dialogs are those of the session.

    Args:
        member: The plugin.
        provider: The id of the provider.
    """

    def __init__(self, member: Member, provider: str) -> None:
        self._member = member
        self.name = provider

    async def login(self, ui: Any) -> dict[str, Any]:
        """Run the login dialog and return the credential to store."""
        del ui  # the program asks with that of the session
        return await self._ask("login", None)

    async def refresh(self, credential: dict[str, Any]) -> dict[str, Any]:
        """Return a fresh credential for one that has expired."""
        return await self._ask("refresh", credential)

    def api_key(self, credential: dict[str, Any]) -> str:
        """Return the key or token to send to the provider."""
        return str(credential.get("apiKey") or credential.get("access") or "")

    async def _ask(self, step: str, credential: dict[str, Any] | None) -> dict[str, Any]:
        ctx = context_of(self._member)
        message = {"type": "login", "provider": self.name, "step": step, "credential": credential}
        answer = await self._member.request(message, ctx)
        if not isinstance(answer, dict):
            raise PiError(f"the answer to a login is the credential, an object, not {answer!r:.40}")
        return {"type": "oauth", **answer}


def context_of(member: Member) -> PiContext:
    """Return the context of the plugin's session.

    Raises:
        UserError: The session has not begun.
    """
    if member.ctx is None:
        raise UserError(f"plugin {member.name!r} works only in a session; start pi, and use /login there to sign in")
    return member.ctx
