"""Converts the chunks of a model's process to our events: text, thinking, calls, usage and the stop reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_hookspecs.errors import RequestFailed
from pi_hookspecs.messages import Usage
from pi_provider_kit import WholeText, compact_json, dicts, token_count, unread_calls, with_cost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs.messages import StopReason
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import AnswerBuilder

__all__ = ["Reading"]

_REASONS: dict[str, StopReason] = {"stop": "stop", "length": "length", "tool_calls": "toolUse"}


class Reading:
    """Reads one answer; implements ``AnswerReader`` of the kit.

    Args:
        builder: Makes our events.
    """

    def __init__(self, builder: AnswerBuilder) -> None:
        self.finished = False
        """Whether the answer is complete."""
        self.builder = builder
        self._started = False
        self._kind: Literal["text", "thinking", "call", ""] = ""
        self._block = -1
        self._calls = 0
        self._pieces = WholeText()
        self._reason: StopReason | None = None

    def feed(self, chunk: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Yield what one chunk adds.

        Raises:
            RequestFailed: The chunk reports a failure.
        """
        if not self._started:
            self._started = True
            yield self.builder.start()
        if (error := chunk.get("error")) is not None:
            raise RequestFailed(_words(error))
        if isinstance(chunk.get("usage"), dict):
            self.builder.usage = self._usage(chunk["usage"])
        for choice in dicts(chunk.get("choices"))[:1]:
            delta = choice.get("delta")
            if isinstance(delta, dict):
                yield from self._delta(delta)
            if isinstance(choice.get("finish_reason"), str):
                self._reason = _REASONS.get(choice["finish_reason"], "stop")

    def end(self) -> Iterator[AssistantMessageEvent]:
        """Yield the last events of an answer.

        Raises:
            RequestFailed: It broke off.
        """
        if self.finished:
            return
        if self._reason is None:
            raise RequestFailed("The model's process ended its answer too early. Send the prompt again")
        yield from self._close()
        self.finished = True
        if self._reason == "toolUse" and not self._calls:
            raise unread_calls("tool_calls")
        yield self.builder.done(self._reason)

    def _usage(self, usage: dict[str, Any]) -> Usage:
        details = usage.get("prompt_tokens_details")
        cached = token_count(details.get("cached_tokens")) if isinstance(details, dict) else 0
        prompt = token_count(usage.get("prompt_tokens"))
        read = min(prompt, cached)
        output = token_count(usage.get("completion_tokens"))
        return with_cost(self.builder.model, Usage(input=prompt - read, output=output, cache_read=read))

    def _delta(self, delta: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        if isinstance(thought := delta.get("reasoning_content"), str):
            yield from self._append("thinking", thought)
        if isinstance(text := delta.get("content"), str):
            yield from self._append("text", text)
        for call in dicts(delta.get("tool_calls")):
            function = call.get("function")
            if isinstance(function, dict):
                yield from self._call(function)

    def _append(self, kind: Literal["text", "thinking"], text: str) -> Iterator[AssistantMessageEvent]:
        if not text:
            return
        if kind != self._kind:
            yield from self._close()
            event = self.builder.text_start() if kind == "text" else self.builder.thinking_start()
            self._kind, self._block = kind, event.content_index
            yield event
        if text := self._pieces.add(text):
            yield (self.builder.text if kind == "text" else self.builder.thinking)(self._block, text)

    def _call(self, function: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        if isinstance(name := function.get("name"), str):
            yield from self._close()
            self._calls += 1
            event = self.builder.tool_call_start(f"call_{self._calls}", name)
            self._kind, self._block = "call", event.content_index
            yield event
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = compact_json(arguments)
        if self._kind == "call" and isinstance(arguments, str) and (text := self._pieces.add(arguments)):
            yield self.builder.tool_call(self._block, text)

    def _close(self) -> Iterator[AssistantMessageEvent]:
        kind, self._kind, self._pieces = self._kind, "", WholeText()
        if kind == "text":
            yield self.builder.text_end(self._block)
        elif kind == "thinking":
            yield self.builder.thinking_end(self._block, None)
        elif kind == "call":
            yield self.builder.tool_call_end(self._block)


def _words(error: Any) -> str:
    """Return llama.cpp's description of a failure."""
    message = error.get("message") if isinstance(error, dict) else error
    return f"llama.cpp: {message}"
