"""From the events of the Messages API to pi's: text and tool calls, what came of them and what it cost."""

from collections.abc import Iterator
from typing import Any

from pi_hookspecs import AssistantMessageEvent, Model, StopReason, Usage
from pi_provider_kit import AnswerBuilder, HttpFailed, parse_json, with_cost

STOPS: dict[str, StopReason] = {"max_tokens": "length", "tool_use": "toolUse"}


class Reading:
    """One answer while it comes; the builder knows what pi's events look like, and what it is when it fails."""

    def __init__(self, model: Model) -> None:
        self.builder = AnswerBuilder(model)
        self.finished = False  # only the end of the stream does that
        self._open: dict[int, tuple[str, int]] = {}
        self._stop = ""

    def feed(self, data: bytes) -> Iterator[AssistantMessageEvent]:
        """Yield the events for one event of the API; unknown ones are ignored."""
        event: dict[str, Any] = parse_json(data)
        builder = self.builder
        match event["type"]:
            case "message_start":
                self._count(event["message"]["usage"])
                yield builder.start()
            case "content_block_start":
                yield self._begin(event["index"], event["content_block"])
            case "content_block_delta":
                kind, index = self._open[event["index"]]
                delta = event["delta"]
                yield (
                    builder.tool_call(index, delta["partial_json"])
                    if kind == "tool_use"
                    else builder.text(index, delta["text"])
                )
            case "content_block_stop":
                kind, index = self._open.pop(event["index"])
                yield builder.tool_call_end(index) if kind == "tool_use" else builder.text_end(index)
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or ""
                self._count(event.get("usage") or {})
            case "error":
                raise HttpFailed(event["error"]["message"], kind="event")

    def end(self) -> list[AssistantMessageEvent]:
        """End the answer; one that was cut off did not end well."""
        if not self._stop:
            raise HttpFailed("The answer ended before it was complete", kind="incomplete")
        return [self.builder.done(STOPS.get(self._stop, "stop"))]

    def _begin(self, index: int, block: dict[str, Any]) -> AssistantMessageEvent:
        if block["type"] == "tool_use":
            call = self.builder.tool_call_start(block["id"], block["name"])
            self._open[index] = "tool_use", call.content_index
            return call
        text = self.builder.text_start()
        self._open[index] = "text", text.content_index
        return text

    def _count(self, counts: dict[str, Any]) -> None:
        before = self.builder.usage
        read, written = counts.get("input_tokens", before.input), counts.get("output_tokens", before.output)
        usage = Usage(input=read, output=written, total_tokens=read + written)
        self.builder.usage = with_cost(self.builder.model, usage)
