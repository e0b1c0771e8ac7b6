"""Converts chunks of Chat Completions to an answer, with the deviations of many hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_provider_kit import (
    PARALLEL_CALLS,
    HttpFailed,
    WholeText,
    billed_dollars,
    compact_json,
    dicts,
    ending_of,
    generated_calls,
    is_complete,
    is_filter,
    merged_counts,
    parallel_calls,
    reported_error,
    reported_status,
    sanitized_id,
    shown_bytes,
    status_of_ending,
    unread_calls,
    with_cost,
)
from pi_provider_openai.completions_messages import REASONING_FIELDS
from pi_provider_openai.feed import Feeder
from pi_provider_openai.shared import counted_tokens, tier_factor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pi_hookspecs.messages import StopReason, Usage
    from pi_hookspecs.models import Model
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_hookspecs.tools import Tool

__all__ = ["CompletionsFeeder", "add_detail", "completions_usage", "failed_generation"]

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
        known = last.get(key)
        if known is None or (value and (key == "signature" or not known)):  # an empty signature may come first
            last[key] = value
    return True


_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "end": "stop",
    "length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
}
"""Finish reasons of the API; ``ending_of`` knows those of other servers."""

_USUAL = frozenset(("role", "content", "tool_calls", "reasoning_details", *REASONING_FIELDS))
"""Keys of most deltas."""

_PROMPT = ("prompt_tokens", "prompt_tokens_details", "prompt_cache_hit_tokens", "cached_tokens")

_OWN = ("choices", "usage", "object", "id", "x_groq", "prompt_filter_results")
"""Keys of the API's events, whatever else is beside them."""


@define(eq=False, repr=False)
class _Call:
    """A partial tool call; it has an index in the message once its name is known."""

    id: str = ""
    """The host's own id; empty if there is none."""
    name: str = ""
    index: int | None = None
    waiting: list[str] = field(factory=list)
    pieces: WholeText = field(factory=WholeText)
    signature: str = ""


class CompletionsFeeder(Feeder):
    """A ``Feeder`` for one answer.

    Args:
        model: The model.
        needs_finish_reason: Whether the host sends a finish reason; one that does not may just end the stream.
        tools: The offered tools.
    """

    def __init__(self, model: Model, *, needs_finish_reason: bool = True, tools: Iterable[Tool] = ()) -> None:
        super().__init__(model)
        self._needs_finish_reason = needs_finish_reason
        self._offered = {tool.name for tool in tools}
        self._reason: StopReason | None = None
        self._problem: HttpFailed | None = None
        """The failure that a finish reason stands for; raised at the end, because the usage follows it."""
        self._unknown = ""
        """A finish reason that means nothing to us."""
        self._others: list[dict[str, Any]] = []
        """Further choices of a chunk: some hosts put the calls there."""
        self._has_delta = False
        self._whole: dict[str, Any] | None = None
        """A whole message that came beside or after the deltas."""
        self._reported: dict[str, Any] = {}
        self._tier: Any = None
        self._text: int | None = None
        self._thinking: int | None = None
        self._field = ""
        self._signature = ""
        """Google's signature of the whole message."""
        self._said, self._thought = WholeText(), WholeText()
        self._calls: list[_Call] = []
        self._by_index: dict[Any, _Call] = {}
        self._details: list[dict[str, Any]] = []

    def take(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """See ``Feeder``."""
        choices = event.get("choices")
        self._note(event)
        if not choices or event.get("error"):
            yield from self._without_choices(event)
        first = None
        for choice in dicts(choices):
            if first is None:
                first = choice
            elif choice.get("index", first.get("index")) != first.get("index"):
                self._others.append(choice)
                continue
            delta = choice.get("delta")
            if isinstance(delta, dict):
                self._has_delta = self._has_delta or bool(delta)
                yield from self._delta(delta)
            if "message" in choice:
                yield from self._message(choice)
            if choice.get("usage") and event.get("usage") is None:
                self._count(choice["usage"])  # Moonshot puts it there
            if choice.get("finish_reason"):
                self._finish(choice)
            elif choice.get("error"):
                yield from self._failed(choice["error"])

    def end(self) -> Iterator[AssistantMessageEvent]:
        """See ``Feeder``."""
        if self.finished:
            return
        yield from self._left()
        if self._problem is not None:
            raise self._problem
        if self._unknown and not self._has_content:
            raise HttpFailed(f"Provider finish_reason: {self._unknown}", kind="event")
        if self._reason is None and not self._may_end():
            raise HttpFailed("Stream ended without finish_reason", kind="incomplete")
        reason = self._reason or "stop"
        yield from self._close_text()
        yield from self._close_thinking()
        yield from self._close_calls()
        if reason == "toolUse" and not self.builder.has_calls:
            raw = str(self.builder.extras.get("raw_stop_reason"))
            if raw != "function_call":  # of a function that nobody offered
                raise unread_calls(raw)
            reason = "stop"
        self.finished = True
        yield self.builder.done(reason)

    def _may_end(self) -> bool:
        """Whether an answer without a finish reason is complete: its stream was ended, and so were its calls."""
        if not self._needs_finish_reason and self._started:
            return True
        calls = (self._arguments(call) for call in self._calls)
        return self._marked and self._has_content and all(map(is_complete, calls))

    @property
    def _has_content(self) -> bool:
        return bool(self._calls) or self.builder.has_content

    def _left(self) -> Iterator[AssistantMessageEvent]:
        """Take what came beside the answer, as far as the answer lacks it."""
        whole, self._whole = self._whole, None
        if whole is not None:
            yield from self._delta(whole if not self._has_content else _calls_of(whole) if not self._calls else {})
        others, self._others = self._others, []
        index = next((choice.get("index") for choice in others if _has_calls(choice)), None)
        for choice in others if not self._calls else ():
            if choice.get("index") == index:
                yield from self._delta(_calls_of(choice.get("delta") or choice.get("message")))

    # Metadata

    def _note(self, chunk: dict[str, Any]) -> None:
        extras = self.builder.extras
        if "response_id" not in extras and isinstance(chunk.get("id"), str) and chunk["id"]:
            extras["response_id"] = chunk["id"]
        model = chunk.get("model")
        if "response_model" not in extras and isinstance(model, str) and model not in ("", self.builder.model.id):
            extras["response_model"] = model
        if chunk.get("service_tier"):
            self._tier = chunk["service_tier"]
        usage = chunk.get("usage")
        if usage is not None:
            self._count(usage)

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict) and usage:
            self._reported = merged_counts(self._reported, usage, _PROMPT)
            self.builder.usage = completions_usage(self._reported, self.builder.model, self._tier)

    def _finish(self, choice: dict[str, Any]) -> None:
        raw = str(choice["finish_reason"])
        reason = _REASONS.get(raw)
        ending = reason or ending_of(raw)
        if not ending:
            return
        self.builder.extras["raw_stop_reason"] = raw
        if ending == "failed" and choice.get("error"):  # OpenRouter reports upstream errors there
            self._problem = _failure(choice["error"])
        elif ending == "failed":
            status = status_of_ending(raw)
            self._problem = HttpFailed(f"Provider finish_reason: {raw}", kind="event", status=status)
        elif ending == "filtered":
            self._problem = HttpFailed(f"Provider finish_reason: {raw}", kind="filtered")
        elif ending == "unknown":
            self._unknown, self._reason = raw, self._reason or "stop"
        elif self._reason != "length":
            native = choice.get("native_finish_reason")  # OpenRouter calls a call that the limit cut a call
            is_cut = isinstance(native, str) and ending_of(native) == "length"
            self._reason = "length" if is_cut else ending

    # Errors

    def _without_choices(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        error = reported_error(event, _OWN)
        if error is not None:
            yield from self._failed(error)

    def _failed(self, error: Any) -> Iterator[AssistantMessageEvent]:
        """Take an error of the host.

        Raises:
            HttpFailed: The answer had not ended before it, and it is not a call that the host could not read.
        """
        calls = generated_calls(generation) if (generation := failed_generation(error)) else None
        if calls:
            yield from self._close_text()
            yield from self._close_thinking()
            for number, (name, arguments) in enumerate(calls):
                yield from self._made_call(self._own_id(number), name, arguments)
            self._calls.clear()
            self.finished = True
            yield self.builder.done()
        elif self._reason is None or not self._has_content:
            raise _failure(error)

    # The answer

    def _delta(self, delta: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        for name in REASONING_FIELDS:
            if (thought := delta.get(name)) and isinstance(thought, str):
                yield from self._think(thought, name)
                break
        if delta.get("reasoning_details"):
            yield from self._detail(dicts(delta["reasoning_details"]))
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                yield from self._say(content)
        elif content:
            yield from self._mixed(content)
        if calls := delta.get("tool_calls"):
            for piece in dicts(calls if isinstance(calls, list) else [calls]):
                yield from self._call(piece)
        if not delta.keys() <= _USUAL:
            yield from self._more(delta)

    def _more(self, delta: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Take what few hosts put into a delta."""
        if isinstance(delta.get("refusal"), str) and delta["refusal"]:
            yield from self._say(delta["refusal"])
        if "extra_content" in delta or "thought_signature" in delta:
            self._signature = _google_signature(delta) or self._signature
        if isinstance(function := delta.get("function_call"), dict):  # the form before there were tools
            name = function.get("name")
            if self._calls or (isinstance(name, str) and name in self._offered):
                yield from self._call({"function": function})

    def _message(self, choice: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Take a whole message: in place of deltas at once, beside or after them only as far as they lack it."""
        message = choice["message"]
        if isinstance(message, dict) and not self._has_delta and not choice.get("delta"):
            yield from self._delta(message)
        elif isinstance(message, dict):
            self._whole = message

    def _say(self, text: str) -> Iterator[AssistantMessageEvent]:
        text = self._said.add(text)
        if not text:
            return
        if self._text is None:
            yield from self._open_text()
        if self._text is not None:
            yield self.builder.text(self._text, text)

    def _open_text(self) -> Iterator[AssistantMessageEvent]:
        if not self._details:  # more of the thinking may follow
            yield from self._close_thinking()
        event = self.builder.text_start()
        self._text = event.content_index
        yield event

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

    def _mixed(self, content: Any) -> Iterator[AssistantMessageEvent]:
        """Take content that is no text.

        Mistral's compatible endpoint sends parts, of thinking too, and Cloudflare's JSON mode the object itself.
        """
        if isinstance(content, dict):
            yield from self._say(compact_json(content))
        for part in dicts(content):
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
        call = self._which(piece.get("index"), call_id, name, arguments)
        if call is None:
            return
        call.id = call.id or call_id
        call.name = call.name or name
        if "extra_content" in piece or "thought_signature" in piece or "thought_signature" in function:
            call.signature = _google_signature(piece) or _google_signature(function) or call.signature
        if call.index is None and call.name and (call.id or arguments) and call.name not in PARALLEL_CALLS:
            yield from self._open_call(call)
        arguments = call.pieces.add(arguments)
        if not arguments:
            return
        if call.index is None:
            call.waiting.append(arguments)
        else:
            yield self.builder.tool_call(call.index, arguments)

    def _which(self, index: Any, call_id: str, name: str, arguments: str) -> _Call | None:
        """Return the call that a piece belongs to, None if the piece only repeats one.

        Usually the index tells, but some servers give every call the index 0, and some give none; ids may be missing or
        the same for all. Then a name begins a call, unless the call of this name is still incomplete.
        """
        key = index if isinstance(index, int) else call_id or None
        last = self._calls[-1] if self._calls else None
        known = self._by_index.get(key) if key is not None else last
        if known is not None and name and known.name:
            another_id = bool(call_id and known.id and known.id != call_id)
            begun = self._arguments(known)
            if another_id or name != known.name or (key is None and not begun):
                known = None
            elif arguments and begun.strip() and is_complete(begun):
                if begun == arguments:
                    return None
                known = None
        if known is None:
            known = _Call()
            self._calls.append(known)
            if key is not None:
                self._by_index[key] = known
        return known

    def _arguments(self, call: _Call) -> str:
        """Return the text of a call's arguments so far."""
        return "".join(call.waiting) if call.index is None else self.builder.received(call.index)

    def _open_call(self, call: _Call) -> Iterator[AssistantMessageEvent]:
        yield from self._close_text()
        if not self._details:
            yield from self._close_thinking()
        call_id = call.id
        if not call_id or any(other.id == call_id and other.index is not None for other in self._calls):
            call_id = self._own_id(self._calls.index(call))
        event = self.builder.tool_call_start(call_id, call.name)
        call.index = event.content_index
        yield event
        for arguments in call.waiting:
            yield self.builder.tool_call(call.index, arguments)

    def _made_call(self, call_id: str, name: str, arguments: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Yield the events of a call that is complete."""
        event = self.builder.tool_call_start(call_id, name)
        yield event
        yield self.builder.tool_call(event.content_index, compact_json(arguments))
        yield self.builder.tool_call_end(event.content_index)

    def _own_id(self, number: int) -> str:
        """Return a generated id for a call without one."""
        return sanitized_id(f"call_{number}_{self.builder.extras.get('response_id', '')}".rstrip("_"), 40)

    # Ends

    def _close_text(self) -> Iterator[AssistantMessageEvent]:
        if self._text is not None:
            index, self._text = self._text, None
            yield self.builder.text_end(index, None if self._calls else self._signature or None)

    def _close_thinking(self) -> Iterator[AssistantMessageEvent]:
        if self._thinking is not None:
            index, self._thinking = self._thinking, None
            yield self.builder.thinking_end(
                index, compact_json(self._details) if self._details else self._field or None
            )

    def _close_calls(self) -> Iterator[AssistantMessageEvent]:
        if self._signature and self._calls and not any(call.signature for call in self._calls):
            self._calls[0].signature = self._signature
        for call in self._calls:
            text = self._arguments(call)
            if call.index is None and (several := parallel_calls(call.name, text, self._offered)):
                for number, (name, arguments) in enumerate(several):
                    yield from self._made_call(f"{call.id or 'call'}_{number}", name, arguments)
                continue
            if call.index is None and call.name:  # it has neither an id nor arguments
                yield from self._open_call(call)
            if call.index is None and (self._reason == "length" or not text.strip()):
                continue  # the limit cut it before its name, or there is nothing in it
            if call.index is None:
                raise HttpFailed(
                    f"Stream ended without the name of a tool call, whose arguments are {shown_bytes(text.encode())}",
                    kind="incomplete",
                )
            yield self.builder.tool_call_end(call.index, thought_signature=self._signature_of(call))

    def _signature_of(self, call: _Call) -> str | None:
        """Return what the host wants back with a call: the encrypted reasoning, or Google's signature."""
        detail = next((each for each in self._details if each.get("id") == call.id and each.get("data")), None)
        return compact_json(detail) if detail else call.signature or None


def failed_generation(error: Any) -> str:
    """Return the text in an error that a host could not read as a call (Groq's ``tool_use_failed``); else empty."""
    inner = error.get("error") if isinstance(error, dict) else None
    known = inner if isinstance(inner, dict) else error if isinstance(error, dict) else {}
    text = known.get("failed_generation")
    return text if isinstance(text, str) else ""


def _calls_of(message: Any) -> dict[str, Any]:
    """Return the calls of a message or a delta, with what belongs to them."""
    names = ("tool_calls", "function_call", "extra_content", "thought_signature")
    return {name: message[name] for name in names if name in message} if isinstance(message, dict) else {}


def _has_calls(choice: dict[str, Any]) -> bool:
    return any(_calls_of(choice.get("delta") or choice.get("message")).values())


def _google_signature(value: dict[str, Any]) -> str:
    """Return the signature that Google's compatible endpoint gives a call or a message; empty if there is none."""
    extra = value.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    signature = google.get("thought_signature") if isinstance(google, dict) else None
    signature = signature or value.get("thought_signature")
    return signature if isinstance(signature, str) else ""


def completions_usage(usage: dict[str, Any], model: Model, tier: str | None = None) -> Usage:
    """Return the tokens of a chunk's ``usage``, with their cost.

    ``prompt_tokens`` includes cache reads and writes, for which hosts have three formats, and ``completion_tokens`` the
    reasoning. Some leave one of them out: ``total_tokens`` tells which. What the host itself bills is taken.

    Args:
        usage: All that was reported.
        model: The model, for its prices.
        tier: The service tier that answered.
    """
    counted = counted_tokens(
        usage,
        ("prompt_tokens", "completion_tokens"),
        usage.get("prompt_tokens_details"),
        usage.get("completion_tokens_details"),
    )
    return with_cost(model, counted, billed_dollars(usage), factor=tier_factor(tier, model))


def _failure(error: Any) -> HttpFailed:
    """Return the failure of an ``error`` within the stream, in the format of an HTTP error."""
    kind = "filtered" if is_filter(error) else "event"
    if not isinstance(error, dict):
        return HttpFailed(error if isinstance(error, str) else compact_json(error), kind=kind)
    code, status = error.get("code"), reported_status(error)
    text = f"{code}: {compact_json(error)}" if status is not None and code == status else compact_json(error)
    return HttpFailed(text, kind=kind, status=status)
