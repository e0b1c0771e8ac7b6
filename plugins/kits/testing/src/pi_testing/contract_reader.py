"""The contract of stream readers: the protocols of its subjects, its tests, and random changes of events."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Protocol

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core import message_from_wire, to_wire
from pi_hookspecs import Done, Error, Model, RequestFailed
from pi_testing.contract_listen import StreamRules
from pi_testing.fake_servers import sse_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pi_hookspecs import AssistantMessage, AssistantMessageEvent, Usage

__all__ = ["ANY_JSON", "Decoder", "Reader", "ReaderContract", "changed", "paths_in", "read_events"]

Path = tuple[str | int, ...]

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([2**70, 10**400]) | st.floats()
    | st.text(max_size=8) | st.sampled_from(["\ud83d", "\ude00", "a\ud83db", "error", "tool_use", "function_call"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
"""What Python reads as JSON: ``NaN``, numbers beyond any float, halves of characters and words of the APIs included."""

_STRIDE = 61  # between the cuts of a pass: no multiple of what a stream is made of, and few passes

_SHARED = [HealthCheck.differing_executors]  # several classes inherit a row


def _ends_in(body: bytes) -> Iterator[int]:
    """Yield where a stream may end early: at every byte near the end of a line, and every few bytes elsewhere."""
    for end in range(len(body)):
        if end % 7 == 0 or b"\n" in body[max(end - 3, 0) : end + 3]:
            yield end


class Decoder(Protocol):
    """Decodes bytes to events, such as ``SseDecoder`` of the provider kit."""

    def feed(self, chunk: bytes, /) -> Iterable[Any]:
        """Return the events that these bytes complete."""
        ...

    def close(self) -> Any:
        """Return the events that the end of the stream completes; None if there can be none."""
        ...


class Reader(Protocol):
    """Converts an API's events to pi's: an ``AnswerReader`` of the provider kit."""

    @property
    def builder(self) -> Any:
        """The message so far: ``partial()``, and ``end_for(problem)`` for one that failed."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nothing more need be read."""
        ...

    def feed(self, received: Any, /) -> Iterable[AssistantMessageEvent]:
        """Return what one event adds, or raise ``RequestFailed``."""
        ...

    def end(self) -> Iterable[AssistantMessageEvent]:
        """Return what is left when nothing more is read, or raise ``RequestFailed``."""
        ...


def read_events(reader: Reader, received: Iterable[Any]) -> Iterator[AssistantMessageEvent]:
    """Yield what a reader makes of an API's events; a failure ends the answer as it does in a provider."""
    try:
        for each in received:
            yield from reader.feed(each)
            if reader.finished:
                break
        yield from reader.end()
    except RequestFailed as problem:
        yield reader.builder.end_for(problem)


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the keys and indices that lead to each value in plain data: ``()``, the whole, ``(0,)``, ``(0, "a")``."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, item in inside:
        yield from paths_in(item, (*path, key))


def changed(data: Any, path: Path, value: Any) -> Any:
    """Return a copy of plain data with another value at a path, see ``paths_in``; tuples on the way become lists."""
    if not path:
        return value
    first, *rest = path
    copied: Any = list(data) if isinstance(data, tuple) else deepcopy(data)
    copied[first] = changed(data[first], tuple(rest), value)
    return copied


class ReaderContract:
    """All tests of the contract; a subclass whose name begins with ``Test`` defines the reader and its input.

    Attributes:
        events: The events of an answer with text, calls and, if the API has it, thinking; as plain data, in order.
        odd_events: Further events, for the tests that change and shuffle events.
        model: The model that answers.
        decoder: Creates a ``Decoder``.
        end_mark: The bytes with which the API ends a stream, after the events.
        corrects_itself: Whether the end of a block contains its whole text, which takes precedence over the deltas.
    """

    events: Sequence[Any]
    odd_events: Sequence[Any] = ()
    model: Model = Model(id="contract-fake", name="Fake", api="contract-fake", provider="contract-fake")
    decoder: Callable[[], Decoder]
    end_mark: bytes = b""
    corrects_itself: bool = False

    def make_reader(self, model: Model) -> Reader:
        """Return a reader of one answer."""
        raise NotImplementedError(f"{type(self).__name__} needs a method make_reader(model) that returns the reader")

    def to_wire(self, events: Sequence[Any]) -> bytes:
        """Return the stream of any events: server-sent events of JSON, named after their type."""
        named = ((each, each.get("type")) for each in events)
        sent = (sse_event(each, kind if isinstance(kind, str) and kind.isprintable() else None) for each, kind in named)
        return b"".join(sent) + self.end_mark

    def received(self, decoded: Any) -> Any:
        """Return what the reader gets for a decoded item: the data of a server-sent event ``(name, data)``."""
        return decoded[1]

    def bodies(self) -> list[bytes]:
        """Return all equivalent forms of the stream: with lines that end with LF, and with CRLF."""
        body = self.to_wire(self.events)
        return [body, body.replace(b"\n", b"\r\n")]

    def content_of(self, message: AssistantMessage) -> Sequence[Any]:
        """Return the blocks of a message for comparison, without parts that differ each time, such as generated ids."""
        return message.content

    def may_change(self, path: Path) -> bool:
        """Return whether ``to_wire`` accepts any value at this path, see ``paths_in``: in an event, by default."""
        return len(path) > 1

    def read(self, chunks: Iterable[bytes]) -> Iterator[AssistantMessageEvent]:
        """Yield the events of a new reader for a stream in these pieces; a failure ends the answer as in a provider."""
        return read_events(self.make_reader(self.model), self._decoded(chunks))

    def _decoded(self, chunks: Iterable[bytes]) -> Iterator[Any]:
        decoder = self.decoder()
        for chunk in chunks:
            yield from map(self.received, decoder.feed(chunk))
        yield from map(self.received, decoder.close() or ())

    # Cuts

    def test_the_whole_answer_keeps_the_rules_of_streams(self) -> None:
        for body in self.bodies():
            _, message = self._checked([body])

            assert message.stop_reason == "toolUse", f"events need a call, and an end: {message.error_message}"

    def test_a_cut_at_any_byte_changes_nothing(self) -> None:
        whole = self._seen([self.bodies()[0]])

        for body in self.bodies():
            assert self._seen([body[at : at + 1] for at in range(len(body))]) == whole, "byte by byte"
            for first in range(min(_STRIDE, len(body))):  # every byte is cut in one of the passes
                starts = [0, *range(first, len(body), _STRIDE)]
                pieces = [body[start:end] for start, end in zip(starts, [*starts[1:], len(body)], strict=True)]
                assert self._seen(pieces) == whole, f"cut every {_STRIDE} bytes from byte {first}"

    @settings(deadline=None, suppress_health_check=_SHARED)
    @given(data=st.data())
    def test_cuts_anywhere_change_nothing(self, data: st.DataObject) -> None:
        body = data.draw(st.sampled_from(self.bodies()))
        cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=40)))
        pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]

        assert self._seen(pieces) == self._seen([body])

    def test_a_stream_that_ends_early_is_an_error_that_keeps_the_text_and_no_half_call(self) -> None:
        for body in self.bodies():
            _, complete, *_ = self._seen([body])
            kinds = [type(block) for block in complete]
            for end in _ends_in(body):
                _, content, stop, error, _ = self._seen([body[:end]])
                if stop != "toolUse":
                    assert stop == "error", f"ended at byte {end}: {body[:end][-40:]!r}"
                    assert error
                assert [type(block) for block in content] == kinds[: len(content)]
                calls = [block for block in content if _is_call(block)]
                assert all(block in complete for block in calls), f"half a call was kept: {calls}"

    # Changes

    @settings(max_examples=4 * settings().max_examples, deadline=None, suppress_health_check=_SHARED)
    @given(data=st.data())
    def test_any_value_at_any_place_is_an_answer_or_an_error(self, data: st.DataObject) -> None:
        events = [*self.odd_events, *self.events]
        for _ in range(data.draw(st.integers(1, 3))):
            path = data.draw(st.sampled_from([path for path in paths_in(events) if self.may_change(path)]))
            events = changed(events, path, data.draw(ANY_JSON))

        self._checked([self.to_wire(events)])

    @settings(max_examples=2 * settings().max_examples, deadline=None, suppress_health_check=_SHARED)
    @given(data=st.data())
    def test_any_events_in_any_order_are_an_answer_or_an_error(self, data: st.DataObject) -> None:
        events = [*self.odd_events, *self.events]
        shuffled = data.draw(st.lists(st.sampled_from(events), max_size=2 * len(events)))

        self._checked([self.to_wire(shuffled)])

    def _seen(self, chunks: Iterable[bytes]) -> tuple[list[Any], list[Any], str, str | None, Usage]:
        """Return what a listener receives: events in short, content, stop reason, error and usage."""
        events = list(self.read(chunks))
        message = _message(events[-1])
        summary = [(each.type, getattr(each, "content_index", None), getattr(each, "delta", None)) for each in events]
        return summary, list(self.content_of(message)), message.stop_reason, message.error_message, message.usage

    def _checked(self, chunks: Iterable[bytes]) -> tuple[list[AssistantMessageEvent], AssistantMessage]:
        """Read, and check that the result follows the rules of streams and can be stored and displayed."""
        rules = StreamRules(self.model, corrected=self.corrects_itself)
        for event in self.read(chunks):
            rules.see(event)
            assert getattr(event, "delta", "").encode() is not None  # no half of a character
        message = rules.ended()
        ids = [call.id for call in message.tool_calls]
        assert all(ids)
        assert len(set(ids)) == len(ids), f"two calls have one id: {ids}"
        assert all(call.name for call in message.tool_calls), "a call has no name"
        stored = json.dumps(to_wire(message), allow_nan=False)
        restored: Any = message_from_wire(json.loads(stored))
        assert restored.content == message.content
        if message.error_message is not None:
            assert message.error_message.endswith("."), f"no sentence: {message.error_message!r}"
        return rules.events, message


def _message(event: AssistantMessageEvent) -> AssistantMessage:
    assert isinstance(event, Done | Error), f"the stream ended with {event.type}"
    return event.message if isinstance(event, Done) else event.error


def _is_call(block: Any) -> bool:
    return getattr(block, "type", None) == "toolCall"
