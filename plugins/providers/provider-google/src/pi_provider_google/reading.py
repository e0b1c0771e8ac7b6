"""Converts the API's chunks to an answer: consecutive parts are joined to blocks, the last finish reason applies.

A stream has no final event. Some hosts repeat a finish reason in every chunk, so it is read to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import Usage, now_ms
from pi_provider_kit import (
    AnswerBuilder,
    HttpFailed,
    WholeText,
    clean_json,
    compact_json,
    dicts,
    ending_of,
    is_filter,
    parse_object,
    reported_error,
    reported_status,
    token_count,
    unread_calls,
    with_cost,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs.messages import StopReason
    from pi_hookspecs.models import Model
    from pi_hookspecs.stream import AssistantMessageEvent

__all__ = ["Reading", "failure_of", "usage_of"]

_WELL: dict[str, StopReason] = {"STOP": "stop", "MAX_TOKENS": "length"}
_MISCALLED = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE")
_UNEXPECTED = "UNEXPECTED_TOOL_CALL"
"""A call of a tool that was not declared. It is in the answer, and the loop tells the model that there is none."""
_UNEXPLAINED = ("OTHER", "FINISH_REASON_UNSPECIFIED", "CONTINUATION")


_OWN = ("candidates", "promptFeedback", "usageMetadata", "responseId", "modelVersion")
"""Keys of the API's events, whatever else is beside them."""

_PROMPT = ("promptTokenCount", "cachedContentTokenCount", "toolUsePromptTokenCount")


class Reading:
    """Reads one answer; implements ``AnswerReader`` of the kit; only the end of the stream finishes it.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        self.finished = False
        self.builder = AnswerBuilder(model)
        self._started = False
        self._kind = ""
        """Kind of the open block: ``text``, ``thinking``, or empty."""
        self._at = -1
        self._signature: str | None = None
        self._pieces = WholeText()
        self._ids: set[str] = set()
        self._moment = now_ms()
        self._finish: str | None = None
        self._why = ""
        self._reported: dict[str, Any] = {}

    def feed(self, data: bytes) -> Iterator[AssistantMessageEvent]:
        """Yield what one event (the data of a server-sent event) adds.

        Raises:
            RequestFailed: The event reports a failure, or is invalid.
        """
        event = self._event(data)
        if isinstance(event.get("response"), dict):  # Cloud Code Assist wraps every chunk
            event = event["response"]
        if "candidates" not in event and (failure := failure_of(event)) is not None:
            if self._finish is not None:
                return  # the answer had ended before it
            raise failure
        if not self._started:
            self._started = True
            yield self.builder.start()
        self._note(event)
        for candidate in dicts(event.get("candidates"))[:1]:
            content = candidate.get("content")
            for part in dicts(content.get("parts")) if isinstance(content, dict) else ():
                yield from self._part(part)
            if isinstance(candidate.get("finishReason"), str):
                self._finish = self.builder.extras["raw_stop_reason"] = candidate["finishReason"]
                self._why = _text(candidate.get("finishMessage"))

    def _event(self, data: bytes) -> dict[str, Any]:
        """Return an event; empty for what gateways send as the end of another API."""
        if data[:1] != b"{" and (data := data.strip()) in (b"", b"[DONE]"):
            return {}
        if data[:1].isalpha() and data != b"null":  # the text of an error
            return {"error": data.decode("utf-8", "replace")}
        return parse_object(data, _broken)

    def end(self) -> Iterator[AssistantMessageEvent]:
        """Yield the last events of an answer that is complete.

        Raises:
            RequestFailed: It is not complete, or the API refused to give one.
        """
        if self._finish is None:
            raise HttpFailed("Google stream ended without a finish reason", kind="incomplete")
        ending: str | None = _WELL.get(self._finish)
        if ending is None and self._finish == _UNEXPECTED and self._ids:
            ending = "stop"
        elif ending is None and self._finish not in _MISCALLED:
            ending = ending_of(self._finish)
        if ending not in ("stop", "length", "toolUse"):
            raise _refusal(self._finish, self._why)
        if ending == "toolUse" and not self._ids:
            raise unread_calls(self._finish)
        yield from self._close()
        # A call arrives complete: it runs even if the answer was then cut at the length limit.
        yield self.builder.done("length" if ending == "length" and not self._ids else "stop")

    # Metadata

    def _note(self, event: dict[str, Any]) -> None:
        builder = self.builder
        feedback = event.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            why = _text(feedback.get("blockReasonMessage"))
            message = f"Google blocked the prompt ({feedback['blockReason']}){f': {why}' if why else ''}"
            raise HttpFailed(message, kind="filtered")
        if isinstance(event.get("usageMetadata"), dict):
            self._count(event["usageMetadata"])
        if _text(event.get("responseId")):
            builder.extras.setdefault("response_id", event["responseId"])
        answered = _text(event.get("modelVersion"))
        if answered and answered != builder.model.id:
            builder.extras.setdefault("response_model", answered)

    def _count(self, reported: dict[str, Any]) -> None:
        """Take the counts of a chunk, which are of all chunks so far; zeros take nothing back."""
        if not any(token_count(value) for value in reported.values()):
            return
        kept = {} if reported.get("promptTokenCount") else {name: self._reported.get(name) for name in _PROMPT}
        self._reported = {**reported, **kept} if any(kept.values()) else reported
        self.builder.usage = usage_of(self.builder.model, self._reported)

    # Parts

    def _part(self, part: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        signature = _text(part.get("thoughtSignature")) or None
        if isinstance(part.get("functionCall"), dict):
            yield from self._call(part["functionCall"], signature)
        elif isinstance(part.get("text"), str):
            yield from self._say("thinking" if part.get("thought") is True else "text", part["text"], signature)

    def _say(self, kind: str, text: str, signature: str | None) -> Iterator[AssistantMessageEvent]:
        if not text and (kind != self._kind and not signature):
            return
        if kind != self._kind:
            yield from self._close()
            opened = self.builder.text_start() if kind == "text" else self.builder.thinking_start()
            self._kind, self._at = kind, opened.content_index
            yield opened
        self._signature = signature or self._signature  # some hosts sign the first piece only, some the last
        text = self._pieces.add(text)
        if text:
            yield (self.builder.text if kind == "text" else self.builder.thinking)(self._at, text)

    def _call(self, call: dict[str, Any], signature: str | None) -> Iterator[AssistantMessageEvent]:
        name = _text(call.get("name"))
        if not name:
            raise _broken("a function call has no name")
        yield from self._close()
        call_id = self._id(_text(call.get("id")), name)
        started = self.builder.tool_call_start(call_id, name)
        yield started
        if call.get("args"):
            yield self.builder.tool_call(started.content_index, compact_json(clean_json(call["args"])))
        yield self.builder.tool_call_end(started.content_index, thought_signature=signature)

    def _id(self, given: str, name: str) -> str:
        """Return the id of a call: the API's, or a generated one where it is missing or repeated."""
        number = len(self._ids) + 1
        call_id = given if given and given not in self._ids else f"{name}_{self._moment}_{number}"
        self._ids.add(call_id)
        return call_id

    def _close(self) -> Iterator[AssistantMessageEvent]:
        kind, at, signature = self._kind, self._at, self._signature
        self._kind, self._signature, self._pieces = "", None, WholeText()
        if kind == "text":
            yield self.builder.text_end(at, signature)
        elif kind == "thinking":
            yield self.builder.thinking_end(at, signature)


def usage_of(model: Model, reported: dict[str, Any]) -> Usage:
    """Return the usage of a chunk's ``usageMetadata``.

    ``promptTokenCount`` includes tokens read from the cache; thoughts are output, but not in ``candidatesTokenCount``.
    """
    read = token_count(reported.get("cachedContentTokenCount"))
    thoughts = token_count(reported.get("thoughtsTokenCount"))
    asked = token_count(reported.get("promptTokenCount")) + token_count(reported.get("toolUsePromptTokenCount"))
    usage = Usage(
        input=max(0, asked - read),
        output=token_count(reported.get("candidatesTokenCount")) + thoughts,
        cache_read=read,
        reasoning=thoughts,
        total_tokens=token_count(reported.get("totalTokenCount")),
    )
    return with_cost(model, usage)


# Failures


def failure_of(event: Any) -> HttpFailed | None:
    """Return the failure that an event or a whole answer reports, with its own JSON; None if it reports none."""
    error = reported_error(event, _OWN)
    if error is None:
        return None
    text = compact_json(event if error is event else {"error": error})
    return HttpFailed(text, kind="filtered" if is_filter(error) else "event", status=reported_status(error))


def _refusal(reason: str, why: str) -> HttpFailed:
    if reason in _MISCALLED:
        # "ended without" is for the retry rules: another try may give a good call.
        what, kind = "Stream ended without a usable call. The model made a call that Google cannot read", "incomplete"
    elif reason in _UNEXPLAINED:
        what, kind = "Google ended the answer without a reason", "incomplete"
    elif ending_of(reason) == "failed":
        what, kind = "Google stream ended before the answer was complete", "incomplete"
    else:
        what, kind = "Google withheld the answer", "filtered"
    return HttpFailed(f"{what} (finish reason {reason!r}){f': {why}' if why else ''}", kind=kind)


def _broken(what: str) -> HttpFailed:
    return HttpFailed(f"Google stream is broken: {what}", kind="event")


# JSON


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
