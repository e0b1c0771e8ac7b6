"""A provider that answers with scripted turns and records every request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from itertools import count
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from attrs import define

from pi_hookspecs import Aborted, MessageBuilder, Model, ProviderInfo, ToolResultMessage, UserMessage, hookimpl, text_of
from pi_testing.patience import soon
from pi_testing.steps import Stage, Step, error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from pi_hookspecs import AssistantMessageEvent, Context, Message, Provider, StreamOptions

__all__ = ["Request", "ScriptedProvider", "TurnFunction"]


@define(eq=False, repr=False)
class Request:
    """A request that the provider received.

    Attributes:
        model: The requested model.
        context: The system prompt, messages and tools that the provider received.
        options: The options of the request, including the abort signal and the key.
        payload: The payload that a real provider would send, after the ``before_provider_request`` hooks. Its shape is
            specific to the scripted API: ``{"model", "system_prompt", "messages": [{"role", "text"}], "tools"}``.
    """

    model: Model
    context: Context
    options: StreamOptions
    payload: Any = None

    @property
    def system_prompt(self) -> str:
        """The system prompt."""
        return self.context.system_prompt

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation."""
        return self.context.messages

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the offered tools."""
        return tuple(tool.name for tool in self.context.tools)

    @property
    def tool_results(self) -> tuple[ToolResultMessage, ...]:
        """The tool results after the last answer, which are new in this request."""
        latest: list[ToolResultMessage] = []
        for message in self.messages:
            if message.role == "assistant":
                latest = []
            elif isinstance(message, ToolResultMessage):
                latest.append(message)
        return tuple(latest)

    @property
    def user_text(self) -> str:
        """The text of the last user message; empty if there is none."""
        texts = (message.text for message in reversed(self.messages) if isinstance(message, UserMessage))
        return next(texts, "")

    def __repr__(self) -> str:
        roles = ", ".join(message.role for message in self.messages)
        return (
            f"<Request to {self.model.reference}: {roles or 'no messages'}; tools: {', '.join(self.tools) or 'none'}>"
        )


TurnFunction: TypeAlias = "Callable[[Request], Sequence[Step] | Step | Awaitable[Sequence[Step] | Step]]"
"""A function that creates a turn from the request."""


class ScriptedProvider:
    """Answers each request with the next scripted turn.

    For example: ``script.turn(text("Let me look."), tool_call("ls")).turn(text("Done."))``. The object is a provider
    (API id ``scripted``) and also a plugin that registers itself and its model. The start event of an answer is sent
    together with its first block. Between two steps, other tasks can run.

    Attributes:
        model: The model ``scripted/model``, which supports thinking.
        image_model: The image model ``scripted/painter``, whose turns contain ``image()`` steps.
        classifier: The classifier ``scripted/judge``, whose turns contain a text: a label, or a JSON object of scores.
        info: The provider's description; it needs no key.
        requests: The requests received so far, oldest first.
    """

    api = "scripted"

    def __init__(self) -> None:
        self.model = Model(
            id="model",
            name="Scripted model",
            api=self.api,
            provider="scripted",
            reasoning=True,
            input=("text", "image"),
        )
        self.image_model = Model(
            id="painter",
            name="Scripted image model",
            api=self.api,
            provider="scripted",
            input=("text", "image"),
            type="image",
        )
        self.classifier = Model(
            id="judge", name="Scripted classifier", api=self.api, provider="scripted", type="classifier"
        )
        self.info = ProviderInfo(
            id="scripted",
            name="Scripted",
            api=self.api,
            keyless=True,
            default_model=self.model.id,
            models=(self.model, self.image_model, self.classifier),
        )
        self.requests: list[Request] = []
        self._turns: list[tuple[Step, ...] | TurnFunction] = []
        self._calls = count(1)
        self._stalled = asyncio.Event()
        self._broken: list[BaseException] = []

    # Writing the script

    def turn(self, *steps: Step | TurnFunction) -> Self:
        """Add the answer to one request: its steps, or a function that creates them from the ``Request``.

        A turn ends successfully unless a step ends it differently. A turn without steps is an empty answer.

        Raises:
            TypeError: An argument is neither a step nor such a function.
        """
        if len(steps) == 1 and not isinstance(steps[0], Step) and callable(steps[0]):
            self._turns.append(steps[0])
        else:
            self._turns.append(_checked(steps))
        return self

    @property
    def remaining(self) -> int:
        """The number of turns that have not been played yet."""
        return max(0, len(self._turns) - len(self.requests))

    async def stalled(self) -> None:
        """Wait until an answer has reached a ``stall()`` step."""
        await soon(self._stalled.wait(), lambda: f"an answer to come to a stall(); requests: {self.requests}")

    def check(self) -> None:
        """Raise the exception of a turn's function again; in the stream it only looks like a failed request.

        The ``script`` fixture does this at the end of the test.
        """
        for problem in self._broken:
            raise problem

    # Playing

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Record the request and play the next turn."""
        request = Request(model, context, options)
        self.requests.append(request)
        return self._play(request, len(self.requests))

    async def _play(self, request: Request, number: int) -> AsyncIterator[AssistantMessageEvent]:
        builder = MessageBuilder(request.model)
        try:
            await _send(request)
        except Exception as problem:  # noqa: BLE001 - of a hook; a request that fails is an answer, whatever failed
            yield builder.abort() if isinstance(problem, Aborted) else builder.fail(problem)
            return
        stage = Stage(builder, request.options.signal, lambda: f"call_{next(self._calls)}", self._stalled)
        for step in await self._steps(request, number):
            await asyncio.sleep(0)
            if stage.is_aborted():
                break
            events = step.play(stage)
            for event in await events if isinstance(events, Awaitable) else events:
                if not stage.started and event.type != "error":
                    stage.started = True
                    yield builder.start()
                yield event
                if stage.is_aborted():
                    break
            if stage.ended:
                return
        if stage.is_aborted():
            yield builder.abort()
            return
        if not stage.started:
            yield builder.start()
        yield builder.done(stage.reason)

    async def _steps(self, request: Request, number: int) -> Sequence[Step]:
        if number > len(self._turns):
            turns = f"{len(self._turns)} turn{'' if len(self._turns) == 1 else 's'}"
            return [error(f"The script is exhausted: this is request {number}, and it has {turns}")]
        turn = self._turns[number - 1]
        if isinstance(turn, tuple):
            return turn
        try:
            steps = turn(request)
            if isinstance(steps, Awaitable):
                steps = await steps
            return _checked([steps] if isinstance(steps, Step) else steps)
        except Exception as problem:
            self._broken.append(problem)
            raise

    # As a plugin

    @hookimpl
    def register_providers(self) -> Sequence[Provider]:
        """Register this provider for the API id ``scripted``."""
        return [self]

    @hookimpl
    def register_models(self) -> Sequence[ProviderInfo]:
        """Register the provider ``scripted`` with its one model."""
        return [self.info]


async def _send(request: Request) -> None:
    """Do what a provider does when it sends a request: let hooks change the payload, report the response headers."""
    options = request.options
    request.payload = {
        "model": request.model.id,
        "system_prompt": request.system_prompt,
        "messages": [{"role": message.role, "text": text_of(message.content)} for message in request.messages],
        "tools": list(request.tools),
    }
    if options.on_payload is not None:
        request.payload = await options.on_payload(request.payload, request.model)
    if options.on_response is not None:
        await options.on_response(200, {})
    if options.on_stream_event is not None:
        await options.on_stream_event({"type": "scripted"})


def _checked(steps: Iterable[object]) -> tuple[Step, ...]:
    steps = tuple(steps)
    for step in steps:
        if not isinstance(step, Step):
            raise TypeError(f"A turn is made of steps such as text('...') or tool_call('ls'), not of {step!r:.80}")
    return cast("tuple[Step, ...]", steps)
