"""Converts chunks of Chat Completions to an answer, with the deviations of many hosts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_hookspecs.errors import RequestFailed
from pi_hookspecs.messages import Usage
from pi_provider_kit import (
    REPAIR_NOTE,
    HttpFailed,
    WholeText,
    compact_json,
    dicts,
    sanitized_id,
    token_count,
    with_cost,
)
from pi_provider_openai.completions_messages import REASONING_FIELDS
from pi_provider_openai.feed import Feeder
from pi_provider_openai.shared import status_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pi_hookspecs.messages import StopReason
    from pi_hookspecs.models import Model
    from pi_hookspecs.stream import AssistantMessageEvent

__all__ = ["CompletionsFeeder", "add_detail", "completions_usage"]

_GROWS = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Streamed kinds, and the field of their text."""

_KINDS = (*_GROWS, "reasoning.encrypted")


def add_detail(details: list[dict[str, Any]], piece: dict[str, Any]) -> bool:
    """Add a piece; one of the same kind as the last continues its text.

    Returns:
        Whether it was of a known kind; others are left out, because no host accepts them back.
    """
    kind = piece.get("type")
    if kind not in _KINDS:
        return False
    last = details[-1] if details else None
    name = _GROWS.get(kind)
    if name is None or last is None or last["type"] != kind or last.get("index") != piece.get("index"):
        details.append(dict(piece))
        return True
    last[name] = f"{last.get(name) or ''}{piece.get(name) or ''}"
    for key, value in piece.items():
        if last.get(key) is None:
            last[key] = value
    return True


_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "end": "stop",
    "length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
}
"""Finish reasons; every other reason is a failure."""

_MOST_DOLLARS = 10**9


@define(eq=False, repr=False)
class _Call:
    """A partial tool call; it has an index in the message once its name is known."""

    id: str = ""
    name: str = ""
    index: int | None = None
    waiting: list[str] = field(factory=list)
    pieces: WholeText = field(factory=WholeText)


class CompletionsFeeder(Feeder):
    """A ``Feeder`` for one answer.

    Args:
        model: The model.
        needs_finish_reason: Whether the host sends a finish reason; one that does not may just end the stream.
        tools: Names of tools that a model may call by writing XML into its text; empty if that is never a call.
    """

    def __init__(self, model: Model, *, needs_finish_reason: bool = True, tools: Collection[str] = ()) -> None:
        super().__init__(model)
        self._needs_finish_reason = needs_finish_reason
        self._tools = tools
        self._reason: StopReason | None = None
        self._text: int | None = None
        self._thinking: int | None = None
        self._field = ""
        self._said, self._thought = WholeText(), WholeText()
        self._calls: list[_Call] = []
        self._by_index: dict[Any, _Call] = {}
        self._details: list[dict[str, Any]] = []

    def take(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """See ``Feeder``."""
        if event.get("error"):
            raise _failure(event["error"])
        self._note(event)
        for choice in dicts(event.get("choices"))[:1]:
            delta = choice.get("delta") or choice.get("message")  # some hosts send a whole message at once
            if isinstance(delta, dict):
                yield from self._delta(delta)
            if event.get("usage") is None:
                self._count(choice.get("usage"))  # Moonshot puts it there
            if choice.get("finish_reason"):
                self._finish(choice)

    def end(self) -> Iterator[AssistantMessageEvent]:
        """See ``Feeder``."""
        if self.finished:
            return
        if self._reason is None and (self._needs_finish_reason or not self._started):
            raise HttpFailed("Stream ended without finish_reason", kind="incomplete")
        yield from self._close_text()
        yield from self._close_thinking()
        yield from self._close_calls()
        reason = self._reason or "stop"
        if reason == "stop" and not self._calls:
            yield from self._written_calls()
        if reason == "toolUse" and not self._calls:
            reason = "stop"
        self.finished = True
        yield self.builder.done(reason)

    # Metadata

    def _note(self, chunk: dict[str, Any]) -> None:
        extras = self.builder.extras
        if "response_id" not in extras and isinstance(chunk.get("id"), str) and chunk["id"]:
            extras["response_id"] = chunk["id"]
        model = chunk.get("model")
        if "response_model" not in extras and isinstance(model, str) and model not in ("", self.builder.model.id):
            extras["response_model"] = model
        if chunk.get("usage") is not None:
            self._count(chunk["usage"])

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict) and usage:
            self.builder.usage = completions_usage(usage, self.builder.model)

    def _finish(self, choice: dict[str, Any]) -> None:
        raw = str(choice["finish_reason"])
        self.builder.extras["raw_stop_reason"] = raw
        if raw not in _REASONS:
            if choice.get("error"):  # OpenRouter reports upstream errors there
                raise _failure(choice["error"])
            raise HttpFailed(f"Provider finish_reason: {raw}", kind="filtered" if raw == "content_filter" else "event")
        self._reason = _REASONS[raw]

    # The answer

    def _delta(self, delta: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        name = next((name for name in REASONING_FIELDS if isinstance(delta.get(name), str) and delta[name]), None)
        if name is not None:
            yield from self._think(delta[name], name)
        if delta.get("reasoning_details"):
            yield from self._detail(dicts(delta["reasoning_details"]))
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                yield from self._say(content)
        elif content:
            yield from self._mixed(dicts(content))
        if isinstance(delta.get("refusal"), str) and delta["refusal"]:
            yield from self._say(delta["refusal"])
        if delta.get("tool_calls"):
            for piece in dicts(delta["tool_calls"]):
                yield from self._call(piece)

    def _say(self, text: str) -> Iterator[AssistantMessageEvent]:
        text = self._said.add(text)
        if not text:
            return
        if self._text is None:
            if not self._details:  # more of the thinking may follow
                yield from self._close_thinking()
            event = self.builder.text_start()
            self._text = event.content_index
            yield event
        yield self.builder.text(self._text, text)

    def _think(self, text: str, name: str) -> Iterator[AssistantMessageEvent]:
        if self._thinking is None:
            yield from self._open_thinking()
            self._field = name
        elif not self._field:
            self._field = name
        text = self._thought.add(text)
        if text and self._thinking is not None:
            yield self.builder.thinking(self._thinking, text)

    def _open_thinking(self) -> Iterator[AssistantMessageEvent]:
        yield from self._close_text()
        event = self.builder.thinking_start()
        self._thinking = event.content_index
        self._field = ""
        yield event

    def _detail(self, details: list[dict[str, Any]]) -> Iterator[AssistantMessageEvent]:
        for detail in details:
            if add_detail(self._details, detail) and self._thinking is None:
                yield from self._open_thinking()

    def _mixed(self, parts: list[dict[str, Any]]) -> Iterator[AssistantMessageEvent]:
        """Take content that is a list of parts: Mistral's compatible endpoint sends thinking so."""
        for part in parts:
            if part.get("type") == "text" and isinstance(part.get("text"), str) and part["text"]:
                yield from self._say(part["text"])
            elif part.get("type") == "thinking":
                for thought in dicts(part.get("thinking")):
                    if isinstance(thought.get("text"), str) and thought["text"]:
                        yield from self._think(thought["text"], "")

    def _call(self, piece: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        call_id = piece["id"] if isinstance(piece.get("id"), str) else ""
        name = function["name"] if isinstance(function.get("name"), str) else ""
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # some local servers send the object itself
            arguments = compact_json(arguments)
        arguments = arguments if isinstance(arguments, str) else ""
        call = self._which(piece.get("index"), call_id, name)
        call.id = call.id or call_id
        call.name = call.name or name
        if call.index is None and call.name and (call.id or arguments):
            yield from self._open_call(call)
        arguments = call.pieces.add(arguments)
        if not arguments:
            return
        if call.index is None:
            call.waiting.append(arguments)
        else:
            yield self.builder.tool_call(call.index, arguments)

    def _which(self, index: Any, call_id: str, name: str) -> _Call:
        """Return the call that a piece belongs to.

        Usually the index, but some servers give every call the index 0 and its own id, and some give none: then a piece
        with a name and a new id begins a call.
        """
        key = index if isinstance(index, int) else call_id or None
        known = self._by_index.get(key) if key is not None else self._calls[-1] if self._calls and not name else None
        if known is None or (call_id and name and known.id and known.id != call_id):
            known = _Call()
            self._calls.append(known)
            if key is not None:
                self._by_index[key] = known
        return known

    def _open_call(self, call: _Call) -> Iterator[AssistantMessageEvent]:
        yield from self._close_text()
        if not self._details:
            yield from self._close_thinking()
        if not call.id or any(other.id == call.id and other.index is not None for other in self._calls):
            call.id = self._own_id(self._calls.index(call))
        event = self.builder.tool_call_start(call.id, call.name)
        call.index = event.content_index
        yield event
        for arguments in call.waiting:
            yield self.builder.tool_call(call.index, arguments)

    def _own_id(self, number: int) -> str:
        """Return a generated id for a call without one."""
        return sanitized_id(f"call_{number}_{self.builder.extras.get('response_id', '')}".rstrip("_"), 40)

    # Ends

    def _close_text(self) -> Iterator[AssistantMessageEvent]:
        if self._text is not None:
            index, self._text = self._text, None
            yield self.builder.text_end(index)

    def _close_thinking(self) -> Iterator[AssistantMessageEvent]:
        if self._thinking is not None:
            index, self._thinking = self._thinking, None
            yield self.builder.thinking_end(
                index, compact_json(self._details) if self._details else self._field or None
            )

    def _close_calls(self) -> Iterator[AssistantMessageEvent]:
        for call in self._calls:
            if call.index is None and call.name:  # it has neither an id nor arguments
                yield from self._open_call(call)
            if call.index is None and self._reason == "length":  # the limit cut it before its name
                continue
            if call.index is None:
                raise RequestFailed("The model made a tool call without a name. Try again, or choose another model.")
            detail = next((each for each in self._details if each.get("id") == call.id and each.get("data")), None)
            yield self.builder.tool_call_end(call.index, thought_signature=compact_json(detail) if detail else None)

    def _written_calls(self) -> Iterator[AssistantMessageEvent]:
        """Convert XML at the end of a local model's text to calls."""
        if not self._tools:
            return
        from pi_provider_kit import xml_calls

        text = self.builder.partial().text
        if "<" not in text or (found := xml_calls(text, self._tools)) is None:
            return
        for number, (name, arguments) in enumerate(found[1]):
            event = self.builder.tool_call_start(self._own_id(number), name)
            index = event.content_index
            yield event
            yield self.builder.tool_call(index, json.dumps(arguments))
            end = self.builder.tool_call_end(index)
            self.builder.change(index, extra={REPAIR_NOTE: "Read the call from the text, where the model wrote it"})
            yield end


def completions_usage(usage: dict[str, Any], model: Model) -> Usage:
    """Return the tokens of a chunk's ``usage``, with their cost.

    ``prompt_tokens`` includes cache reads and writes, for which hosts have three formats. OpenRouter's ``cost`` is the
    billed amount.
    """
    inputs = usage.get("prompt_tokens_details")
    inputs = inputs if isinstance(inputs, dict) else {}
    outputs = usage.get("completion_tokens_details")
    outputs = outputs if isinstance(outputs, dict) else {}
    read = token_count(inputs.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens"))
    written = token_count(inputs.get("cache_write_tokens"))
    return with_cost(
        model,
        Usage(
            input=max(0, token_count(usage.get("prompt_tokens")) - read - written),
            output=token_count(usage.get("completion_tokens")),
            cache_read=read,
            cache_write=written,
            reasoning=token_count(outputs.get("reasoning_tokens")),
        ),
        _dollars(usage.get("cost")),
    )


def _dollars(billed: Any) -> float | None:
    known = isinstance(billed, int | float) and not isinstance(billed, bool) and 0 <= billed < _MOST_DOLLARS
    return float(billed) if known else None


def _failure(error: Any) -> RequestFailed:
    """Return the failure of an ``error`` within the stream, in the format of an HTTP error."""
    if not isinstance(error, dict):
        return HttpFailed(str(error), kind="event")
    code, status = error.get("code"), status_of(error)
    text = f"{code}: {compact_json(error)}" if code == status else compact_json(error)
    return HttpFailed(text, kind="event", status=status)
