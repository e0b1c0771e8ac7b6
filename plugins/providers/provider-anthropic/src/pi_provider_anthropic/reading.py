"""Converts the API's events to ours: checks their order, tracks usage and the stop reason.

A stream out of order ends in an error, because the missing event may be part of a tool call. Starts that a gateway
repeats, and ends that it leaves out behind a complete block, do no harm. Unknown events, blocks and deltas are ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_anthropic.blocks import ToolUse, block_of
from pi_provider_anthropic.usage import usage_of
from pi_provider_anthropic.wire_events import broken, error_of
from pi_provider_kit import BlockReader, HttpFailed, ending_of, merged_counts, status_of_ending, unread_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs.messages import AssistantMessage, StopReason
    from pi_hookspecs.stream import AssistantMessageEvent, Done
    from pi_provider_anthropic.blocks import Block
    from pi_provider_kit import AnswerBuilder

__all__ = ["Reading"]

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "pause_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}

_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation")

_REFUSALS = ("refusal", "sensitive")


class Reading(BlockReader):
    """Reads one answer; implements ``AnswerReader`` of the kit.

    Args:
        builder: Makes our events.
        on_answer: Called with the complete answer.
    """

    def __init__(self, builder: AnswerBuilder, on_answer: Callable[[AssistantMessage], None] | None = None) -> None:
        super().__init__(builder)
        self._on_answer = on_answer
        self._blocks: list[Block] = []
        self._at: dict[int, Block] = {}
        """The latest block of each index: some gateways use the same index for every block."""
        self._details: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._handlers: dict[str, Callable[[dict[str, Any]], Sequence[AssistantMessageEvent]]] = {
            "content_block_delta": self._delta,
            "content_block_start": self._block_start,
            "content_block_stop": self._block_stop,
            "message_start": self._message_start,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "error": self._error,
        }

    def feed(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        """Return our events for one of the API's.

        Raises:
            RequestFailed: The event is an error, or cannot follow those before it.
        """
        kind = event.get("type")
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        return handler(event) if handler is not None else ()

    def end(self) -> Sequence[AssistantMessageEvent]:
        """Return the last events of an answer that is complete: of blocks left open, and ``Done``.

        Raises:
            RequestFailed: It is not complete, or the model refused to give one.
        """
        if not self.finished:
            raise HttpFailed("Anthropic stream ended before message_stop", kind="incomplete")
        if self.stop is None:
            raise HttpFailed("Anthropic stream ended without a stop reason", kind="incomplete")
        closing = [event for block in self._blocks if block.open for event in self._end_of(block)]
        return (*closing, self._done(self.stop))

    def _end_of(self, block: Block) -> Sequence[AssistantMessageEvent]:
        """Return the events of a block that has no end of its own: some gateways leave it out.

        Raises:
            HttpFailed: It is a call without all of its arguments, and no limit cut it.
        """
        if isinstance(block, ToolUse) and not block.is_complete and _STOP_REASONS.get(self.stop or "") != "length":
            raise HttpFailed(
                "Anthropic stream ended before the end of a tool call, which is not run", kind="incomplete"
            )
        return block.end()

    def _done(self, stop: str) -> Done:
        ending: Any = _STOP_REASONS.get(stop) or ending_of(stop)
        if stop in _REFUSALS or ending == "filtered":
            explanation = self._details.get("explanation")
            why = f": {explanation}" if isinstance(explanation, str) and explanation else ""
            raise HttpFailed(f"The model refused to answer (stop reason {stop!r}){why}", kind="filtered")
        if ending == "failed" or (ending == "unknown" and not self._blocks):
            status = status_of_ending(stop) if ending == "failed" else None
            raise HttpFailed(f"An unknown error occurred (stop reason {stop!r})", kind="event", status=status)
        if ending == "toolUse" and not self._blocks_of_calls():
            raise unread_calls(stop)
        reason: StopReason = "length" if ending == "length" else "stop"  # the builder knows whether there is a call
        done = self.builder.done(reason)
        if self._on_answer is not None:
            self._on_answer(done.message)
        return done

    def _blocks_of_calls(self) -> bool:
        """Whether there are calls, also those that the server itself made."""
        return any(isinstance(block, ToolUse) or not block.kind for block in self._blocks)

    # One kind of event each

    def _message_start(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        message, builder = event.get("message"), self.builder
        anew: Sequence[AssistantMessageEvent] = ()
        if isinstance(message, dict):
            response_id, answered = message.get("id"), message.get("model")
            if self._blocks and response_id != builder.extras.get("response_id"):
                anew = self._begin_anew()
            self._take_usage(message.get("usage"))
            if isinstance(response_id, str) and response_id:
                builder.extras["response_id"] = response_id
            if isinstance(answered, str) and answered not in ("", builder.model.id):
                builder.extras["response_model"] = answered
        return (*self.begin(), *anew)

    def _begin_anew(self) -> Sequence[AssistantMessageEvent]:
        """Take another message in the same stream as a second attempt: the first is not part of the answer."""
        ended = [
            event for block in self._blocks if block.open and not isinstance(block, ToolUse) for event in block.end()
        ]
        self.builder.drop_received()
        self._blocks.clear()
        self._at.clear()
        self._usage, self.stop = {}, None
        return ended

    def _block_start(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        index, content = event.get("index"), event.get("content_block")
        if not isinstance(index, int) or not isinstance(content, dict):
            raise broken("a block begins without index or content")
        known = self._at.get(index)
        if known is not None and known.open:
            if known.is_begun_by(content):
                return ()
            raise broken(f"block {index} began twice")
        block = self._at[index] = block_of(content, self.builder)
        self._blocks.append(block)
        return (*self.begin(), *block.begin(content))

    def _delta(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        block = self._block(event)
        if block is None or not block.open:
            raise broken(f"something is added to block {event.get('index')!r}, which is not open")
        delta = event.get("delta")
        return block.add(delta) if isinstance(delta, dict) else ()

    def _block_stop(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        block = self._block(event)
        return block.end() if block is not None and block.open else ()

    def _block(self, event: dict[str, Any]) -> Block | None:
        index = event.get("index")
        return self._at.get(index) if isinstance(index, int) else None

    def _message_delta(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        self._take_usage(event.get("usage"))
        delta = event.get("delta")
        if isinstance(delta, dict):
            details = delta.get("stop_details")
            self.note_stop(delta.get("stop_reason"))
            if isinstance(details, dict):
                self._details = details
        return self.begin()

    def _message_stop(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        self.finished = True
        return self.begin()

    def _error(self, event: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        if self.stop is None or not self._blocks:
            raise error_of(event)
        self.finished = True  # the answer had ended before it
        return ()

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._usage = merged_counts(self._usage, usage, _INPUT)
            self.builder.usage = usage_of(self.builder.model, self._usage)
