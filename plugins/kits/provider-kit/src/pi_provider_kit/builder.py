"""The message builder for providers: lenient while a tool call streams, strict when it is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.content import ToolCall, UnknownContent
from pi_hookspecs.errors import Aborted, RequestFailed
from pi_hookspecs.stream import ARGUMENTS_TEXT, MessageBuilder, ToolCallEnd
from pi_provider_kit.partial import PartialJson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.messages import StopReason
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_hookspecs.stream import Done, Error, ToolCallStart
    from pi_provider_kit.sent_tools import SentTools

__all__ = ["REPAIR_NOTE", "AnswerBuilder"]

REPAIR_NOTE = "argumentsRepair"
"""Key of a repaired call's note: ``call.extra["argumentsRepair"]``, for the details of the tool result."""


_SLIPS = (AttributeError, LookupError, TypeError)
"""Python errors of unvalidated values, whose texts mean nothing to a user."""


class AnswerBuilder(MessageBuilder):
    """A ``MessageBuilder`` that parses partial arguments, repairs complete ones, and formats failures.

    Arguments are repaired in ``done``, when it is known that the message did not stop for length; the call in the
    final message then differs from that of its ``toolcall_end``, which had ``arguments_error``.

    Attributes:
        tools: The tools as they were sent, if names or schemas were changed for the API: calls get the tools' own names
            and arguments.
    """

    def __init__(self, model: Model, tools: SentTools | None = None) -> None:
        super().__init__(model, PartialJson())
        self.tools = tools
        self._dropped = 0
        self._call_ids: set[str] = set()

    def received(self, index: int) -> str:
        """Return the text of a block so far."""
        return "".join(self._blocks[index].parts)

    def drop_received(self) -> None:
        """Make what was received no part of the answer: the server makes a second attempt in the same stream.

        In the final message these blocks are of the type ``discarded``, which no model gets: the blocks behind them
        keep the index of their events.
        """
        self._dropped = len(self._blocks)

    def tool_call_start(self, call_id: str, name: str) -> ToolCallStart:
        """Open a tool call. A duplicate id is changed: results are matched to calls by id."""
        own, number = call_id, 1
        while own in self._call_ids:
            number += 1
            own = f"{call_id.partition('|')[0]}_{number}"  # Responses: without the other call's item id
        self._call_ids.add(own)
        return super().tool_call_start(own, name if self.tools is None else self.tools.ours(name))

    def tool_call_end(self, index: int, *, thought_signature: str | None = None) -> ToolCallEnd:
        """Close a tool call, see ``MessageBuilder.tool_call_end``."""
        event = super().tool_call_end(index, thought_signature=thought_signature)
        call = self._in_own_words(event.tool_call)
        if call is event.tool_call:
            return event
        self._blocks[index].finished = call
        return ToolCallEnd(source=self, content_index=index, tool_call=call)

    def _in_own_words(self, call: ToolCall) -> ToolCall:
        """Return a call with the arguments that the tool expects."""
        if self.tools is None:
            return call
        arguments = self.tools.arguments(call.name, call.arguments)
        return call if arguments is call.arguments else evolve(call, arguments=arguments)

    def done(self, reason: StopReason = "stop") -> Done:
        """End the answer successfully, see ``MessageBuilder.done``."""
        for block in self._blocks[: self._dropped]:
            block.finished = UnknownContent("discarded", extra={"kind": block.kind, "text": "".join(block.parts)})
        if reason != "length":
            for block in self._blocks:
                call = block.finished
                if isinstance(call, ToolCall) and call.arguments_error is not None:
                    block.finished = self._in_own_words(_repaired(call, "".join(block.parts)))
        return super().done(reason)

    def end_for(
        self, problem: BaseException, options: StreamOptions | None = None, secrets: Iterable[str] = ()
    ) -> Error:
        """End the answer with an exception of ``stream_events``: an abort, or a failure with advice.

        Status, request id and the server's retry delay are kept in ``message.extra["requestFailure"]``.

        Args:
            problem: The exception.
            options: The options of the request. Their key, and secret headers of the options and the model, are
                redacted from the message: an event of the stream or a hook's error may have repeated them.
            secrets: Further values to redact.
        """
        if isinstance(problem, Aborted):
            return self.abort()
        text = str(problem) or type(problem).__name__
        if isinstance(problem, RequestFailed):
            known: dict[str, Any] = {
                "status": problem.status,
                "requestId": problem.request_id,
                "retryAfterMs": problem.retry_after_ms,
            }
            known = {name: value for name, value in known.items() if value is not None}
            if known:
                self.extras["extra"] = {**self.extras.get("extra", {}), "requestFailure": known}
            from pi_provider_kit.explaining import explained

            text = explained(problem, self.model, options.max_retry_delay_ms if options is not None else None)
        elif isinstance(problem, _SLIPS):
            text = (
                f"The request cannot be made, or its answer cannot be read ({type(problem).__name__}: {text}). Check "
                f"the entry of {self.model.reference!r} in models.json, especially its compat; if it is correct, "
                f"report this."
            )
        if options is not None:
            from pi_provider_kit.failure import redact, secrets_of

            headers = {**(self.model.headers or {}), **(options.headers or {})}
            text = redact(text, secrets_of(headers, options.api_key, *secrets))
        return self.fail(text)


def _repaired(call: ToolCall, text: str) -> ToolCall:
    from pi_provider_kit.repair import repair_arguments  # only a broken call needs it

    repair = repair_arguments(text)
    if repair is None:
        return call
    arguments, note = repair
    extra = {name: value for name, value in call.extra.items() if name != ARGUMENTS_TEXT}
    return evolve(call, arguments=arguments, arguments_error=None, extra={**extra, REPAIR_NOTE: note})
