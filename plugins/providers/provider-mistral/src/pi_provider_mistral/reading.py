"""Converts the chunks of an answer to our events: text, thinking, calls, and the stop reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import define, field

from pi_provider_kit import (
    EventReader,
    HttpFailed,
    WholeText,
    compact_json,
    dicts,
    ending_of,
    merged_counts,
    mistral_id,
    status_of_ending,
    unread_calls,
)
from pi_provider_mistral.chunks import failure_of, parse_chunk, usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs.messages import StopReason
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import AnswerBuilder

__all__ = ["Reading"]

_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "model_length": "length",
    "tool_calls": "toolUse",
}
"""``model_length`` is a full window. ``ending_of`` knows the words of other servers."""

_PROMPT = ("prompt_tokens", "prompt_tokens_details", "prompt_token_details", "num_cached_tokens")

_NO_ID = ("", "null")
"""Placeholders for a missing id; the vendor's own client writes ``"null"``."""


@define(eq=False)
class _Call:
    """A call that has begun: its block, the number that the API gives it, and the text of its arguments."""

    block: int
    number: int
    pieces: WholeText = field(factory=WholeText)


class Reading(EventReader):
    """Reads one answer; implements ``AnswerReader`` of the kit.

    Args:
        builder: Makes our events.
    """

    def __init__(self, builder: AnswerBuilder) -> None:
        super().__init__(builder)
        self._kind: Literal["text", "thinking", ""] = ""
        """Kind of the open block; calls stay open in addition until the end."""
        self._block = -1
        self._pieces = WholeText()
        self._signature: str | None = None
        self._calls: dict[tuple[str, int], _Call] = {}
        self._ids: set[str] = set()
        self._reason: StopReason | None = None
        self._problem: HttpFailed | None = None
        """The failure that a finish reason stands for; raised at the end, because the usage follows it."""
        self._reported: dict[str, Any] = {}

    def parse(self, data: bytes) -> dict[str, Any]:
        """Return an event's JSON object."""
        return parse_chunk(data)

    def take(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Yield what one chunk adds."""
        self._note(event)
        if (failure := failure_of(event)) is not None:
            if self._reason is None:
                raise failure
            return  # the answer had ended before it
        for choice in dicts(event.get("choices"))[:1]:
            delta = choice.get("delta")
            if isinstance(delta, dict):
                yield from self._delta(delta)
            if choice.get("finish_reason"):
                self._finish(str(choice["finish_reason"]))

    def end(self) -> Iterator[AssistantMessageEvent]:
        """Yield the last events of an answer that is complete: of blocks left open, and ``Done``.

        Raises:
            RequestFailed: It is not complete.
        """
        if self.finished:
            return
        if self._problem is not None:
            raise self._problem
        if self._reason is None:
            raise HttpFailed("Stream ended without finish_reason", kind="incomplete")
        yield from self._close()
        for call in self._calls.values():
            yield self.builder.tool_call_end(call.block)
        if self._reason == "toolUse" and not self._calls:
            raise unread_calls(str(self.builder.extras.get("raw_stop_reason")))
        self.finished = True
        yield self.builder.done(self._reason)

    # Metadata

    def _note(self, chunk: dict[str, Any]) -> None:
        builder, extras = self.builder, self.builder.extras
        answer_id, model = chunk.get("id"), chunk.get("model")
        if "response_id" not in extras and isinstance(answer_id, str) and answer_id:
            extras["response_id"] = answer_id
        if "response_model" not in extras and isinstance(model, str) and model not in ("", builder.model.id):
            extras["response_model"] = model
        if isinstance(chunk.get("usage"), dict):
            self._reported = merged_counts(self._reported, chunk["usage"], _PROMPT)
            builder.usage = usage_of(self._reported, builder.model)

    def _finish(self, raw: str) -> None:
        ending: Any = _REASONS.get(raw) or ending_of(raw)
        if not ending:
            return
        self.builder.extras["raw_stop_reason"] = raw
        if ending in ("failed", "filtered") or (ending == "unknown" and self._block < 0 and not self._calls):
            kind = "filtered" if ending == "filtered" else "event"
            status = status_of_ending(raw) if ending == "failed" else None
            self._problem = HttpFailed(f"Provider finish_reason: {raw}", kind=kind, status=status)
        else:
            self._reason = "stop" if ending == "unknown" else ending

    # The answer

    def _delta(self, delta: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        content = delta.get("content")
        if isinstance(content, str):
            yield from self._append("text", content)
        elif isinstance(content, list):
            for part in content:
                yield from self._part(part)
        for piece in dicts(delta.get("tool_calls")):
            yield from self._call(piece)

    def _part(self, part: Any) -> Iterator[AssistantMessageEvent]:
        """Take one part of content that is a list; kinds other than text (references, files) are ignored."""
        if isinstance(part, str):
            yield from self._append("text", part)
        elif isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield from self._append("text", part["text"])
        elif isinstance(part, dict) and part.get("type") == "thinking":
            for thought in dicts(part.get("thinking")):
                if isinstance(thought.get("text"), str):
                    yield from self._append("thinking", thought["text"])
            if isinstance(part.get("signature"), str) and part["signature"]:
                yield from self._open("thinking")
                self._signature = part["signature"]

    def _append(self, kind: Literal["text", "thinking"], text: str) -> Iterator[AssistantMessageEvent]:
        if not text:
            return
        yield from self._open(kind)
        if text := self._pieces.add(text):
            yield (self.builder.text if kind == "text" else self.builder.thinking)(self._block, text)

    def _open(self, kind: Literal["text", "thinking"]) -> Iterator[AssistantMessageEvent]:
        """Open a block of this kind unless it is the one that is open."""
        if kind != self._kind:
            yield from self._close()
            event = self.builder.text_start() if kind == "text" else self.builder.thinking_start()
            self._kind, self._block = kind, event.content_index
            yield event

    def _close(self) -> Iterator[AssistantMessageEvent]:
        """Close the text or the thinking, whichever is open."""
        kind, self._kind, self._pieces = self._kind, "", WholeText()
        if kind == "text":
            yield self.builder.text_end(self._block)
        elif kind == "thinking":
            signature, self._signature = self._signature, None
            yield self.builder.thinking_end(self._block, signature)

    # Calls

    def _call(self, piece: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # the API's types allow the object itself
            arguments = compact_json(arguments) if arguments else ""
        key = _key(piece)
        call = self._calls.get(key)
        if call is None:
            name = function.get("name")
            call = self._latest(key[1]) if not name else None
            if call is None:
                yield from self._begin(key, name)
                call = self._calls[key]
        if isinstance(arguments, str) and (whole := call.pieces.add(arguments)):
            yield self.builder.tool_call(call.block, whole)

    def _latest(self, number: int) -> _Call | None:
        """Return the call that a piece without a name continues."""
        return next((call for call in reversed(self._calls.values()) if call.number == number), None)

    def _begin(self, key: tuple[str, int], name: Any) -> Iterator[AssistantMessageEvent]:
        if not isinstance(name, str) or not name:
            raise HttpFailed("The model made a tool call without a name", kind="event")
        yield from self._close()
        event = self.builder.tool_call_start(self._new_id(key[0]), name)
        self._calls[key] = _Call(event.content_index, key[1])
        yield event

    def _new_id(self, call_id: str) -> str:
        """Return the server's id of a call, or a generated one where it is missing or repeated."""
        number = len(self._calls)
        while not call_id or call_id in self._ids:
            call_id = mistral_id(f"{self.builder.extras.get('response_id', '')}:{number}")
            number += 1
        self._ids.add(call_id)
        return call_id


def _key(piece: dict[str, Any]) -> tuple[str, int]:
    """Return the key of a call: its id and its number, because some servers send only one of them."""
    call_id, number = piece.get("id"), piece.get("index")
    call_id = "" if not isinstance(call_id, str) or call_id in _NO_ID else call_id
    return call_id, number if isinstance(number, int) else 0
