"""Converts the API's events to ours: checks their order, tracks usage and the stop reason.

Only calls have a start event; text and thinking begin with their first delta. A stream out of order ends in an error,
because the missing event may be part of a call. Unknown events are ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pi_hookspecs.messages import Usage
from pi_provider_bedrock.blocks import Block, Call, Text, Thinking
from pi_provider_bedrock.failures import frame_failure
from pi_provider_bedrock.frames import broken
from pi_provider_kit import (
    BlockReader,
    HttpFailed,
    dicts,
    ending_of,
    merged_counts,
    parse_object,
    status_of_ending,
    token_count,
    unread_calls,
    with_cost,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs.messages import StopReason
    from pi_hookspecs.stream import AssistantMessageEvent, Done
    from pi_provider_bedrock.frames import Frame
    from pi_provider_kit import AnswerBuilder

__all__ = ["Reading"]

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}

_INPUT = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")

_REFUSED = "The model refused to answer"

_REFUSALS = {
    "content_filtered": _REFUSED,
    "guardrail_intervened": "A guardrail of the account ended the answer",
}


class Reading(BlockReader):
    """Reads one answer; implements ``AnswerReader`` of the kit.

    Args:
        builder: Makes our events.
    """

    def __init__(self, builder: AnswerBuilder) -> None:
        super().__init__(builder)
        self._open: dict[int, Block] = {}
        self._has_calls = False
        self._reported: dict[str, Any] = {}
        self._handlers: dict[str, Callable[[dict[str, Any]], Sequence[AssistantMessageEvent]]] = {
            "contentBlockDelta": self._delta,
            "contentBlockStart": self._block_start,
            "contentBlockStop": self._block_stop,
            "messageStart": self._message_start,
            "messageStop": self._message_stop,
            "metadata": self._metadata,
        }

    def feed(self, frame: Frame) -> Sequence[AssistantMessageEvent]:
        """Return our events for one frame.

        Raises:
            HttpFailed: The frame reports an error, is invalid, or is out of order.
        """
        headers, payload = frame
        if headers.get(":message-type", "event") != "event":
            raise frame_failure(headers, payload)
        handler = self._handlers.get(headers.get(":event-type", ""))
        return handler(parse_object(payload, broken)) if handler is not None else ()

    def end(self) -> Sequence[AssistantMessageEvent]:
        """Return the last events of an answer that is complete: of blocks left open, and ``Done``.

        Raises:
            HttpFailed: It is not complete, or the model refused to give one.
        """
        if self.stop is None:
            raise HttpFailed("Bedrock stream ended before messageStop", kind="incomplete")
        if any(isinstance(block, Call) for block in self._open.values()):
            raise broken("a tool call has no end")
        closing = [event for block in self._open.values() for event in block.end()]
        return (*closing, self._done(self.stop))

    def _done(self, stop: str) -> Done:
        ending: Any = _STOP_REASONS.get(stop) or ending_of(stop)
        if stop in _REFUSALS or ending == "filtered":
            raise HttpFailed(f"{_REFUSALS.get(stop, _REFUSED)} (stop reason {stop!r})", kind="filtered")
        if ending in ("failed", "unknown", ""):
            status = status_of_ending(stop) if ending == "failed" else None
            raise HttpFailed(f"An unknown error occurred (stop reason {stop!r})", kind="event", status=status)
        if ending == "toolUse" and not self._has_calls:
            raise unread_calls(stop)
        return self.builder.done(
            "length" if ending == "length" else "stop"
        )  # the builder knows whether there is a call

    # One kind of event each

    def _message_start(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        if self.started:
            raise broken("the message began twice")
        return self.begin()

    def _block_start(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        index, start = event.get("contentBlockIndex"), event.get("start")
        call = start.get("toolUse") if isinstance(start, dict) else None
        if not isinstance(call, dict):
            return self.begin()
        if not isinstance(index, int) or index in self._open:
            raise broken(f"a tool call begins as block {index!r}")
        name, call_id = call.get("name"), call.get("toolUseId")
        if not isinstance(name, str) or not name:
            raise broken("a tool call has no name")
        if not isinstance(call_id, str) or not call_id:
            call_id = f"tooluse_pi_{uuid4().hex}"
        block = self._open[index] = Call(self.builder)
        self._has_calls = True
        return (*self.begin(), block.begin(call_id, name))

    def _delta(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        index, delta = event.get("contentBlockIndex"), event.get("delta")
        if not isinstance(index, int) or not isinstance(delta, dict):
            raise broken("something is added to no block")
        block = self._open.get(index)
        if block is not None:
            return block.add(delta)
        kind = next((kind for key, kind in _BY_DELTA.items() if key in delta), None)
        if kind is None:
            if "toolUse" in delta:
                raise broken(f"something is added to block {index}, which is not open")
            return ()
        value = delta[kind.key]
        if not (any(value.values()) if isinstance(value, dict) else value):
            return self.begin()  # a block without content would have an index of its own, and no place in the message
        block = self._open[index] = kind(self.builder)
        return (*self.begin(), block.open(), *block.add(delta))

    def _block_stop(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        index = event.get("contentBlockIndex")
        block = self._open.pop(index, None) if isinstance(index, int) else None
        return block.end() if block is not None else ()

    def _message_stop(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        self.note_stop(event.get("stopReason"))
        return self.begin()

    def _metadata(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        usage = event.get("usage")
        if isinstance(usage, dict):
            self._reported = merged_counts(self._reported, usage, _INPUT)
            self.builder.usage = with_cost(self.builder.model, usage_of(self._reported))
        self.finished = self.stop is not None
        return self.begin()


_BY_DELTA: dict[str, type[Text | Thinking]] = {"text": Text, "reasoningContent": Thinking}
"""Key of a delta, to the kind of block that it opens."""


def usage_of(reported: dict[str, Any]) -> Usage:
    """Return the tokens, without their price. ``inputTokens`` leaves out cached ones, as ours does."""
    writes = dicts(reported.get("cacheDetails"))
    long_writes = sum(token_count(each.get("inputTokens")) for each in writes if each.get("ttl") == "1h")
    return Usage(
        input=token_count(reported.get("inputTokens")),
        output=token_count(reported.get("outputTokens")),
        cache_read=token_count(reported.get("cacheReadInputTokens")),
        cache_write=token_count(reported.get("cacheWriteInputTokens")),
        cache_write_1h=long_writes or None,
        total_tokens=token_count(reported.get("totalTokens")),
    )
