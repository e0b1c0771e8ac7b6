"""The rules for every stream of events, and ``listen``, which checks a stream against them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from pi_hookspecs import Context, Done, Error, Start, TextContent, ThinkingContent, ToolCall, UserMessage
from pi_testing.patience import soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_hookspecs import AssistantMessage, AssistantMessageEvent, Message, Model
    from pi_testing.contract_case import ProviderCase

__all__ = ["Heard", "StreamRules", "asking", "everything_in", "listen"]

QUESTION = "The contract's question"

_KINDS = {"text": TextContent, "thinking": ThinkingContent, "toolcall": ToolCall}
_GOOD_ENDS = ("stop", "length", "toolUse", "deferred")


@frozen(eq=False)
class Heard:
    """All events of an answer, checked against the rules.

    Attributes:
        message: The final message.
    """

    events: tuple[AssistantMessageEvent, ...]
    message: AssistantMessage

    @property
    def types(self) -> list[str]:
        """The types of the events."""
        return [event.type for event in self.events]

    @property
    def deltas(self) -> list[str]:
        """The deltas of all blocks."""
        return [event.delta for event in self.events if hasattr(event, "delta")]

    @property
    def done(self) -> AssistantMessage:
        """The message of a successful answer."""
        assert isinstance(self.events[-1], Done), f"the answer failed: {self.message.error_message}"
        return self.message

    @property
    def aborted(self) -> AssistantMessage:
        """The message of an answer that was aborted."""
        ended = f"ended with {self.message.stop_reason!r}, not with an abort: {self.message.error_message}"
        assert self.message.stop_reason == "aborted", ended
        return self.message

    @property
    def error(self) -> str:
        """The error text of an answer that failed without being aborted."""
        assert self.message.stop_reason == "error", f"ended with {self.message.stop_reason!r}, not with an error"
        return self.message.error_message or ""


def asking(*messages: Message, **fields: Any) -> Context:
    """Return a context of these messages, by default of a plain question."""
    return Context(messages=messages or (UserMessage(content=QUESTION, timestamp=1),), **fields)


async def listen(
    case: ProviderCase,
    context: Context | None = None,
    *,
    model: Model | None = None,
    on_event: Callable[[AssistantMessageEvent], object] = lambda _: None,
    **options: Any,
) -> Heard:
    """Send a request to the case's provider and return its answer; every event is checked as it arrives.

    Raises:
        AssertionError: A rule of the stream was broken, the stream raised, or it did not end.
    """
    model = model or case.model
    rules = StreamRules(model)

    async def read() -> None:
        async for event in case.provider.stream(model, context or asking(), case.options(**options)):
            rules.see(event)
            on_event(event)

    try:
        await soon(read(), lambda: f"the stream to end; so far: {[event.type for event in rules.events]}")
    except Exception as problem:
        if isinstance(problem, AssertionError):
            raise
        raise AssertionError(f"the stream raised {problem!r}; a failed request is an answer") from problem
    return Heard(tuple(rules.events), rules.ended())


def everything_in(value: Any) -> str:
    """Return every string in plain data, keys included, in order; JSON in strings is searched, too."""
    found: list[str] = []
    _collect(value, found)
    return "\n".join(found)


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
        if value[:1] in ("{", "["):
            try:
                _collect(json.loads(value), found)
            except ValueError:
                return
    elif isinstance(value, dict):
        for key, item in value.items():
            found.append(key)
            _collect(item, found)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, found)


@define
class _Open:
    """A block that has started."""

    kind: str
    call: tuple[str, str] = ("", "")
    deltas: list[str] = field(factory=list)
    end: Any = None


class StreamRules:
    """Checks events one after another and fails at the first that breaks a rule.

    Args:
        model: The answering model.
        corrected: A block may end with another text than that of its deltas, because the API corrected itself.
    """

    def __init__(self, model: Model, *, corrected: bool = False) -> None:
        self.events: list[AssistantMessageEvent] = []
        self._model = model
        self._corrected = corrected
        self._blocks: list[_Open] = []
        self._kept: list[tuple[AssistantMessage, str]] = []

    def see(self, event: AssistantMessageEvent) -> None:
        assert not self._is_over(), f"{event.type} came after {self.events[-1].type}, which is the last event"
        first = not self.events
        self.events.append(event)
        if isinstance(event, Start):
            assert first, "start came again, or late"
        elif isinstance(event, Done | Error):
            assert not first or isinstance(event, Error), "done came without a start"
            self._see_end(event)
            return
        else:
            assert not first, f"{event.type} came before start"
            self._see_block(event)
        self._see_partial(event.partial)

    def ended(self) -> AssistantMessage:
        """Return the final message; partial messages that were emitted must be unchanged."""
        assert self._is_over(), f"the stream ended without done or error: {[event.type for event in self.events]}"
        for partial, original in self._kept:
            assert repr(partial) == original, "a partial changed after it was given away"
        last = self.events[-1]
        assert isinstance(last, Done | Error)
        return last.message if isinstance(last, Done) else last.error

    def _is_over(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], Done | Error)

    def _see_block(self, event: Any) -> None:
        kind, _, step = event.type.partition("_")
        assert kind in _KINDS, f"{event.type!r} is not an event of a stream"
        index = event.content_index
        if step == "start":
            assert index == len(self._blocks), f"block {index} began, the next one is {len(self._blocks)}"
            self._blocks.append(_Open(kind, (event.id, event.tool_name) if kind == "toolcall" else ("", "")))
            return
        assert 0 <= index < len(self._blocks), f"{event.type} of block {index}, which never began"
        block = self._blocks[index]
        assert block.kind == kind, f"{event.type} of block {index}, which is {block.kind}"
        assert block.end is None, f"{event.type} of block {index}, which has ended"
        if step == "delta":
            assert isinstance(event.delta, str)
            block.deltas.append(event.delta)
        elif kind == "toolcall":
            block.end = event.tool_call
            assert (block.end.id, block.end.name) == block.call, "a call ended as another than it began"
        else:
            block.end = event.content
            if self._corrected:
                block.deltas[:] = [block.end]
            assert _joined([block.end]) == _joined(block.deltas), "a block is not what its deltas were"

    def _see_partial(self, partial: AssistantMessage) -> None:
        assert partial.stop_reason == "pending", f"a partial answer has a stop reason: {partial.stop_reason!r}"
        assert len(partial.content) >= len(self._blocks), "a partial lacks a block that began"
        for block, content in zip(self._blocks, partial.content, strict=False):  # it may be ahead of the events
            assert isinstance(content, _KINDS[block.kind]), f"a partial shows {content!r:.80} where {block.kind} began"
            if isinstance(content, ToolCall):
                assert isinstance(content.arguments, dict)
                assert (content.id, content.name) == block.call
            else:
                assert _joined([_text_of(content)]).startswith(_joined(block.deltas)), (
                    "a partial is not what its deltas were"
                )
        before = self._kept[-1][0].content if self._kept and not self._corrected else ()
        for old, new in zip(before, partial.content, strict=False):
            assert _joined([_text_of(new)]).startswith(_joined([_text_of(old)])), "a partial shrank"
        self._kept.append((partial, repr(partial)))

    def _see_end(self, event: Done | Error) -> None:
        message = event.message if isinstance(event, Done) else event.error
        model = self._model
        assert (message.api, message.provider, message.model) == (model.api, model.provider, model.id)
        self._see_content(message, complete=isinstance(event, Done))
        if isinstance(event, Error):
            assert message.stop_reason in ("error", "aborted"), f"an error has the stop reason {message.stop_reason!r}"
            assert message.error_message, "an error has no message"
            return
        assert message.error_message is None
        assert message.stop_reason in _GOOD_ENDS, f"done has the stop reason {message.stop_reason!r}"
        if message.stop_reason in ("stop", "toolUse"):
            assert (message.stop_reason == "toolUse") == bool(message.tool_calls), "the reason does not fit the calls"
        unended = [block.kind for block in self._blocks if block.end is None]
        assert not unended, f"blocks never ended: {unended}"

    def _see_content(self, message: AssistantMessage, *, complete: bool) -> None:
        """Compare the final content with what was streamed; empty blocks may be missing."""
        streamed = [_joined(block.deltas) for block in self._blocks if block.kind != "toolcall"]
        got = [_joined([_text_of(each)]) for each in message.content]
        assert list(filter(None, got)) == list(filter(None, streamed)), "the final message is not what was streamed"
        ended = [block.end.id for block in self._blocks if block.kind == "toolcall" and block.end is not None]
        calls = [call.id for call in message.tool_calls]
        assert calls == ended if complete else set(calls) <= set(ended), f"calls {calls} remain of {ended}"


def _text_of(block: Any) -> str:
    """Return the text or thinking of a block; empty for a call."""
    return str(getattr(block, "text", "") or getattr(block, "thinking", ""))


def _joined(deltas: Iterable[str]) -> bytes:
    """Return the deltas as one text, the same whether or not halves of a character in two of them have met."""
    return "".join(deltas).encode("utf-16-le", "surrogatepass")
