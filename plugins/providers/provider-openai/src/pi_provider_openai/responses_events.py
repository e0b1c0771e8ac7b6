"""Converts events of Responses to an answer; items may be interleaved, repeated, or sent only at their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import define, evolve, field

from pi_hookspecs.errors import RequestFailed
from pi_provider_kit import (
    PARALLEL_CALLS,
    HttpFailed,
    WholeText,
    billed_dollars,
    clean_text,
    compact_json,
    dicts,
    ending_of,
    is_filter,
    parallel_calls,
    reported_error,
    reported_status,
    token_count,
    with_cost,
)
from pi_provider_openai.feed import Feeder
from pi_provider_openai.responses_messages import TextSignature
from pi_provider_openai.shared import counted_tokens, tier_factor

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from pi_hookspecs.messages import Usage
    from pi_hookspecs.models import Model
    from pi_hookspecs.stream import AssistantMessageEvent

__all__ = ["ResponsesFeeder", "responses_usage"]

_NO_END = "OpenAI Responses stream ended before a terminal response event"

_NO_NAME = "The model made a tool call without a name. Try again, or choose another model."

_KINDS: dict[str, Literal["text", "thinking", "call"]] = {
    "message": "text",
    "reasoning": "thinking",
    "function_call": "call",
}


@define(eq=False)
class _Item:
    """An item of the output and its block."""

    kind: Literal["text", "thinking", "call"]
    index: int
    id: str = ""
    part: Any = None
    """The last summary or content part."""
    closed: bool = False
    has_all: bool = False
    """Whether a call's arguments were marked complete."""
    pieces: WholeText = field(factory=WholeText)
    signed: dict[str, Any] | None = None
    """The reasoning item in the block's signature."""


class ResponsesFeeder(Feeder):
    """A ``Feeder`` for one answer.

    Args:
        model: The model.
        prefix: Prefix of an error within the stream.
        tools: Names of the offered tools.
    """

    def __init__(self, model: Model, *, prefix: str = "", tools: Iterable[str] = ()) -> None:
        super().__init__(model)
        self._prefix = prefix
        self._offered = frozenset(tools)
        self._items: dict[Any, _Item] = {}
        self._latest: dict[int, Any] = {}
        """Key of the latest item with an output index that several share."""
        self._nameless: dict[Any, list[str]] = {}
        """Arguments so far of calls whose name was not received yet."""
        self._takes: dict[str, Callable[[dict[str, Any]], Iterator[AssistantMessageEvent]]] = {
            "response.output_text.delta": self._text,
            "response.refusal.delta": self._text,
            "response.reasoning_summary_text.delta": self._thinking,
            "response.reasoning_text.delta": self._thinking,
            "response.function_call_arguments.delta": self._arguments,
            "response.function_call_arguments.done": self._all_arguments,
            "response.output_item.added": self._added,
            "response.output_item.done": self._done,
            "response.created": self._created,
            "response.completed": self._completed,
            "response.incomplete": self._completed,
            "response.done": self._completed,
            "response.failed": self._failed,
            "error": self._error,
        }

    def take(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """See ``Feeder``."""
        kind = event.get("type")
        take = self._takes.get(kind) if isinstance(kind, str) else None
        if take is not None:
            yield from take(event)
        elif reported_error(event, () if kind is None else ("type",)) is not None:
            yield from self._error(event)

    def end(self) -> Iterator[AssistantMessageEvent]:
        """See ``Feeder``."""
        if self.finished:
            return
        if (
            not self._marked
            or not self._items
            or self._nameless
            or not all(each.closed for each in self._items.values())
        ):
            raise HttpFailed(_NO_END, kind="incomplete")
        self.finished = True  # a gateway that ends as Completions does, after all items
        yield self.builder.done()

    # Pieces

    def _text(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        item = yield from self._open(event, "text")
        if item is not None and (text := _delta(item, event)):
            yield self.builder.text(item.index, text)

    def _thinking(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        item = yield from self._open(event, "thinking")
        if item is None or not (text := _delta(item, event)):
            return
        part = (event["type"], event.get("summary_index", event.get("content_index")))
        if item.part is not None and part != item.part:
            yield self.builder.thinking(item.index, "\n\n")
        item.part = part
        yield self.builder.thinking(item.index, text)

    def _arguments(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        key, delta = self._key(event, "call"), event.get("delta")
        if key in self._nameless and isinstance(delta, str):
            self._nameless[key].append(delta)
        item = self._items.get(key)
        open_call = item is not None and item.kind == "call" and not item.closed and not item.has_all
        if item is not None and open_call and (text := _delta(item, event)):
            yield self.builder.tool_call(item.index, text)

    def _all_arguments(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        key, arguments = self._key(event, "call"), _text_of(event.get("arguments"))
        if key in self._nameless and arguments:
            self._nameless[key][:] = [arguments]
        item = self._items.get(key)
        if item is not None and item.kind == "call" and not item.closed:
            item.has_all = True
            yield from self._complete(item, arguments)

    def _open(
        self, event: dict[str, Any], kind: Literal["text", "thinking"]
    ) -> Generator[AssistantMessageEvent, None, _Item | None]:
        """Yield the start of the block if it is new; return the item, None if it cannot grow."""
        key = self._key(event, kind)
        item = self._items.get(key)
        if item is None:
            start = self.builder.text_start() if kind == "text" else self.builder.thinking_start()
            item = self._items[key] = _Item(kind, start.content_index, str(event.get("item_id") or ""))
            yield start
        return item if item.kind == kind and not item.closed else None

    # Items

    def _added(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        item = event.get("item")
        if isinstance(item, dict) and (key := self._key(event, _kind_of(item), begins=True)) not in self._items:
            yield from self._begin(key, item)

    def _key(self, event: dict[str, Any], kind: str | None, *, begins: bool = False) -> Any:
        """Return the key of an item: its index in the output, or its id where a host omits the index.

        Some hosts give several items the same index, and some give an item another id in each event. So an item is
        another one only if it begins, or if the one before has ended, and its id is new.
        """
        index = event.get("output_index")
        if not begins and not self._latest and isinstance(index, int):  # the way of almost every event
            known = self._items.get(index)
            if known is not None and not known.closed and known.kind == kind:
                return index
        item = event.get("item")
        item_id = str(event.get("item_id") or (item.get("id") if isinstance(item, dict) else None) or "")
        if not isinstance(index, int):
            return item_id
        if (index, item_id) in self._items:
            return index, item_id
        first = self._items.get(index)
        if first is not None and item_id and first.id == item_id:
            return index
        key = self._latest.get(index, index)
        known = self._items.get(key)
        if known is None or (item_id and known.id == item_id) or (begins and known.kind == kind and not item_id):
            return key
        ended = known.closed and bool(item_id)
        if (begins or ended) and kind is not None and (known.kind != kind or (item_id and known.id)):
            key = self._latest[index] = (index, item_id)
        return key

    def _begin(self, key: Any, item: dict[str, Any], *, whole: bool = False) -> Iterator[AssistantMessageEvent]:
        kind = _KINDS.get(str(item.get("type")))
        item_id = item["id"] if isinstance(item.get("id"), str) else ""
        if kind == "text":
            start: Any = self.builder.text_start()
        elif kind == "thinking":
            start = self.builder.thinking_start()
        elif kind == "call" and isinstance(item.get("name"), str) and self._may_begin(item["name"], whole=whole):
            start = self.builder.tool_call_start(_call_id(item, key), item["name"])
        else:  # an item that pi does not use, or that is still incomplete
            if kind == "call":
                self._nameless.setdefault(key, [])
            return
        self._items[key] = _Item(kind, start.content_index, item_id)
        yield start
        if kind == "call":
            waited = [*self._nameless.pop(key, ()), *self._nameless.pop(item_id, ())]
            if arguments := clean_text(_text_of(item.get("arguments")) or "".join(waited)):
                yield self.builder.tool_call(start.content_index, arguments)

    def _may_begin(self, name: str, *, whole: bool) -> bool:
        """Whether a call's block can begin: its name is known, and it does not stand for several calls."""
        return bool(name) and (whole or name not in PARALLEL_CALLS or name in self._offered)

    def _done(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        item = event.get("item")
        if isinstance(item, dict):
            yield from self._finish(self._key(event, _kind_of(item)), item)

    def _finish(self, key: Any, item: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Close the item's block with the complete item; emit a block that was never opened at once."""
        if key not in self._items:
            if item.get("type") == "function_call" and not item.get("name"):
                raise RequestFailed(_NO_NAME)
            if (several := self._several(key, item)) is not None:
                yield from several
                return
            yield from self._begin(key, item, whole=True)
        known = self._items.get(key)
        if known is None or known.closed or _KINDS.get(str(item.get("type"))) != known.kind:
            return
        known.closed = True
        if known.kind == "text":
            yield from self._complete(known, _joined(item.get("content"), ""))
            yield self.builder.text_end(known.index, _text_signature(item))
        elif known.kind == "thinking":
            yield from self._complete(known, _joined(item.get("summary")) or _joined(item.get("content")))
            known.signed = item
            yield self.builder.thinking_end(known.index, compact_json(item))
        else:
            yield from self._complete(known, item.get("arguments"))
            yield from self._end_call(known, item)

    def _several(self, key: Any, item: dict[str, Any]) -> Iterator[AssistantMessageEvent] | None:
        """Return the events of the calls that one call stands for; None if it is another call."""
        text = _text_of(item.get("arguments")) or "".join(self._nameless.get(key, ()))
        calls = parallel_calls(str(item.get("name")), text, self._offered)
        return None if calls is None else self._each(key, item, calls)

    def _each(
        self, key: Any, item: dict[str, Any], calls: list[tuple[str, dict[str, Any]]]
    ) -> Iterator[AssistantMessageEvent]:
        self._nameless.pop(key, None)
        call_id = _call_id(item, key).partition("|")[0]
        for number, (name, arguments) in enumerate(calls):
            start = self.builder.tool_call_start(f"{call_id}_{number}", name)
            yield start
            yield self.builder.tool_call(start.content_index, compact_json(arguments))
            yield self.builder.tool_call_end(start.content_index)
        self._items[key] = _Item("call", start.content_index, str(item.get("id") or ""), closed=True)

    def _end_call(self, known: _Item, item: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        end = self.builder.tool_call_end(known.index)
        if isinstance(item.get("namespace"), str):
            self.builder.change(known.index, namespace=item["namespace"])
            end = evolve(end, tool_call=self.builder.call(known.index))
        yield end

    def _complete(self, known: _Item, text: Any) -> Iterator[AssistantMessageEvent]:
        """Add the missing part of a block's text; a different final text replaces it."""
        if not (text := clean_text(_text_of(text))):
            return
        received = self.builder.received(known.index)
        if known.kind == "call" and text == "{}" and received.strip():
            return  # the end of an item without what its own events had
        if not text.startswith(received):
            self.builder.replace(known.index, text)
        elif len(text) > len(received):
            add: dict[str, Callable[[int, str], AssistantMessageEvent]] = {
                "text": self.builder.text,
                "thinking": self.builder.thinking,
                "call": self.builder.tool_call,
            }
            yield add[known.kind](known.index, text[len(received) :])

    # The response

    def _created(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        response = event.get("response")
        if isinstance(response, dict):
            self._note(response)
        return iter(())

    def _note(self, response: dict[str, Any]) -> None:
        extras = self.builder.extras
        if isinstance(response.get("id"), str) and response["id"]:
            extras["response_id"] = response["id"]
        model = response.get("model")
        if isinstance(model, str) and model not in ("", self.builder.model.id):
            extras["response_model"] = model

    def _completed(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        response = event["response"] if isinstance(event.get("response"), dict) else {}
        self._note(response)
        if isinstance(response.get("usage"), dict):
            tier = response.get("service_tier")
            tier = tier if isinstance(tier, str) else None
            self.builder.usage = responses_usage(response["usage"], self.builder.model, tier)
        status = str(response.get("status") or event["type"].rpartition(".")[2])
        details = response.get("incomplete_details")
        why = details.get("reason") if isinstance(details, dict) else None
        self.builder.extras["raw_stop_reason"] = f"{status}.{why}" if isinstance(why, str) else status
        if status in ("failed", "cancelled") or ending_of(status) == "failed":
            raise self._failure(response.get("error"), f"The response was {status}")
        incomplete = status == "incomplete"
        yield from self._fill_in(dicts(response.get("output")), incomplete=incomplete)
        if self._nameless and not incomplete:
            raise RequestFailed(_NO_NAME)
        yield from self._close_rest(incomplete=incomplete)
        if incomplete and isinstance(why, str) and ending_of(why) == "filtered":
            raise HttpFailed(f"Response incomplete: {why}", kind="filtered")
        self.finished = True
        yield self.builder.done("length" if incomplete else "stop")

    def _fill_in(self, output: list[dict[str, Any]], *, incomplete: bool) -> Iterator[AssistantMessageEvent]:
        """Add items that are only in the final response."""
        taken: set[Any] = set()
        for number, item in enumerate(output):
            key = self._place(number, item, taken)
            taken.add(key)
            known = self._items.get(key)
            if known is None or not known.closed:
                if not incomplete or item.get("type") != "function_call":
                    yield from self._finish(key, item)
            elif known.signed is not None and item.get("encrypted_content"):
                # Azure may omit it from the item itself, and without it the reasoning cannot be sent back.
                self.builder.change(known.index, thinking_signature=compact_json({**known.signed, **item}))

    def _place(self, number: int, item: dict[str, Any], taken: set[Any]) -> Any:
        """Return the key of an item of the final response: that of its id, of its place, or of the next of its kind."""
        left = {key: known for key, known in self._items.items() if key not in taken}
        for key, known in left.items():
            if known.id and known.id == item.get("id"):
                return key
        if number in left or not self._latest:
            return number
        return next((key for key, known in left.items() if known.kind == _kind_of(item)), ("end", number))

    def _close_rest(self, *, incomplete: bool) -> Iterator[AssistantMessageEvent]:
        """Close open blocks. A call that the host did not complete is never run."""
        for item in self._items.values():
            if item.closed:
                continue
            item.closed = True
            if item.kind == "text":
                yield self.builder.text_end(item.index)
            elif item.kind == "thinking":
                yield self.builder.thinking_end(item.index)
            elif item.has_all:
                yield self.builder.tool_call_end(item.index)
            elif not incomplete:
                raise HttpFailed("The host ended the answer within a tool call, which is not run", kind="incomplete")

    def _failed(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        response = event["response"] if isinstance(event.get("response"), dict) else {}
        self._note(response)
        self.builder.extras["raw_stop_reason"] = str(response.get("status") or "failed")
        details = response.get("incomplete_details")
        why = details.get("reason") if isinstance(details, dict) else None
        raise self._failure(
            response.get("error"), f"incomplete: {why}" if why else "Unknown error (no error details in response)"
        )

    def _error(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        inner = event.get("error")
        error = inner if isinstance(inner, dict) else event
        code = error.get("code") or error.get("type")
        named = "" if code in (None, "error") else f"Error Code {code}: "
        message = inner if isinstance(inner, str) else error.get("message")
        text = message if isinstance(message, str) and message else compact_json(event)
        kind = "filtered" if is_filter(event) else "event"
        raise HttpFailed(f"{self._prefix or named}{text}", kind=kind, status=reported_status(error))

    def _failure(self, error: Any, otherwise: str) -> RequestFailed:
        if not isinstance(error, dict):
            return HttpFailed(f"{self._prefix}{otherwise}", kind="event")
        text = f"{error.get('code') or 'unknown'}: {error.get('message') or 'no message'}"
        kind = "filtered" if is_filter(error) else "event"
        return HttpFailed(f"{self._prefix}{text}", kind=kind, status=reported_status(error))


def responses_usage(usage: dict[str, Any], model: Model, tier: str | None = None) -> Usage:
    """Return the tokens of a response with their cost; ``input_tokens`` includes cache reads and writes.

    Args:
        usage: The response's.
        model: The model, for its prices.
        tier: The service tier that answered.
    """
    counted = counted_tokens(
        usage, ("input_tokens", "output_tokens"), usage.get("input_tokens_details"), usage.get("output_tokens_details")
    )
    total = token_count(usage.get("total_tokens"))
    return with_cost(model, evolve(counted, total_tokens=total), billed_dollars(usage), factor=tier_factor(tier, model))


def _delta(item: _Item, event: dict[str, Any]) -> str:
    """Return the text that an event adds to an item; empty for half a character."""
    delta = event.get("delta")
    return item.pieces.add(delta) if isinstance(delta, str) else ""


def _text_of(arguments: Any) -> str:
    """Return a text as it is, and the arguments that a host sends as an object as JSON."""
    if isinstance(arguments, dict):
        return compact_json(arguments) if arguments else ""
    return arguments if isinstance(arguments, str) else ""


def _kind_of(item: dict[str, Any]) -> str | None:
    return _KINDS.get(str(item.get("type")))


def _call_id(item: dict[str, Any], key: Any) -> str:
    """Return ``call|item``; the second part is for the replay to the same model."""
    call = item["call_id"] if isinstance(item.get("call_id"), str) else ""
    item_id = item["id"] if isinstance(item.get("id"), str) else ""
    call = call or item_id or f"call_{key}"
    return f"{call}|{item_id}" if item_id else call


def _text_signature(item: dict[str, Any]) -> str | None:
    if not isinstance(item.get("id"), str) or not item["id"]:
        return None
    return str(TextSignature(item["id"], item.get("phase")))


def _joined(parts: Any, between: str = "\n\n") -> str:
    """Return the text of an item's parts; a refusal is text, too."""
    texts = (part.get("text", part.get("refusal")) for part in dicts(parts))
    return between.join(text for text in texts if isinstance(text, str))
