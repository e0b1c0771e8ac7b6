"""What was made of a conversation for an API, kept for its next request.

The next request of a conversation has the same messages and a few more. This module alone decides which are the same,
and encodes the others: a message is the same object as before, and the arguments of its calls contain the same objects;
what a plugin made anew is compared block by block. Everything before the first change is used again, from the beginning
of a turn on; so a compaction, a rewind, another model or host, and another name of a tool need no code of their own.

Kept are the objects of the API's messages and their JSON, for the sixteen conversations used last and up to 64 MiB of
JSON in all of them. Plugins can change the objects in place: where one has seen them that may do so, they are compared
with their JSON before the request is joined, and again before they are used for another. Ones that only observe do not
cost that: nothing that is kept is encoded from the objects again, so that what they change by mistake is not sent.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import accumulate, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.messages import AssistantMessage, SystemMessage, ToolResultMessage, UserMessage
from pi_hookspecs.unchanged import START, Contents, Place, first_difference
from pi_provider_kit.json_values import compact_json, json_bytes
from pi_provider_kit.messages import BEGINNING, CONTINUE, split_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pi_hookspecs.messages import Message
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_kit.messages import Turns

Extend: TypeAlias = "Callable[[list[dict[str, Any]], Sequence[Message], int], object]"

__all__ = ["unchanged_elements"]

_CONVERSATIONS = 16
_BYTES = 64 * 1024 * 1024

_APART = 16
"""The latest chunks of JSON, which stay apart: what changes is near the end of a conversation."""

_NOT_JSON = (TypeError, ValueError, RecursionError)
"""What encoders raise for objects of other classes, and for data that contains itself or is nested too deeply."""

_kept: list[_Conversation] = []
"""The conversations, the one used last at the end. A request takes its own out, so that threads do not share one."""


class _Mark(NamedTuple):
    """What there was at the beginning of a turn.

    Attributes:
        messages: Messages of the conversation.
        sent: Messages that can be sent.
        items: The API's messages.
        last: The last of these.
        ids: Ids of calls.
        calls: The place in the arguments of calls.
        speaks: Whether anybody but the system has spoken.
        answered: Whether the last who spoke was the model.
    """

    messages: int = 0
    sent: int = 0
    items: int = 0
    last: dict[str, Any] | None = None
    ids: int = 0
    calls: Place = START
    speaks: bool = False
    answered: bool = False


class _Conversation:
    """One conversation as it was sent last.

    Attributes:
        key: Everything that the items depend on besides the messages and the names of tools.
        messages: The messages of the conversation.
        items: The API's messages.
        chunks: The JSON of items without the brackets of a list, each with the number of items up to its end.
        sizes: How many bytes the JSON of each item has.
        whole: The list that was returned, which may have more before and after the items.
        offset: How many elements precede the items in it.
        is_seen: Whether plugins have seen the items that may change them.
        is_out: Whether they may be changing them now: the request that they see was not joined yet.
        sent: Which elements of the list were unchanged when the request was sent.
        before: The list of the request before, and which of its elements were unchanged.
    """

    def __init__(self, key: object) -> None:
        self.key = key
        self.messages: list[Message] = []
        self.items: list[dict[str, Any]] = []
        self.chunks: list[tuple[int, bytes]] = []
        self.sizes = array("Q")
        self.whole: list[dict[str, Any]] = []
        self.offset = 0
        self.is_seen = self.is_out = False
        self.sent = range(0)
        self.before: tuple[list[dict[str, Any]], range] = ([], self.sent)
        self._marks: list[_Mark] = []
        self._ids: dict[str, None] = {}
        self._names: dict[str, str] = {}
        self._calls = Contents()
        self._tokens = [0]

    @property
    def size(self) -> int:
        """Bytes of JSON."""
        return sum(len(chunk) for _, chunk in self.chunks)

    def resume(self, messages: Sequence[Message], turns: Turns) -> _Mark:
        """Return the last mark before anything has changed, and forget what came after it."""
        same, has_new_calls = self._same_messages(messages)
        marks = self._marks
        del marks[bisect_right(marks, same, key=attrgetter("messages")) :]
        if marks and marks[-1].messages == same < len(messages) and not isinstance(messages[same], AssistantMessage):
            marks.pop()  # the turn goes on
        if any(turns.sent_name(name) != sent for name, sent in self._names.items()):
            marks.clear()
        if marks and not self._calls.same(START, marks[-1].calls):
            start, count = START, 0
            while self._calls.same(start, marks[count].calls):
                start, count = marks[count].calls, count + 1
            del marks[count:]
        chunks = self._unchanged_chunks(len(self.items))
        encoded = chunks[-1][0] if chunks else 0
        while marks and not (0 < marks[-1].items <= encoded and self._ends_with(marks[-1].items, marks[-1].last)):
            marks.pop()
        if has_new_calls:
            self._watch_again(messages)
        mark = marks[-1] if marks else _Mark()
        if mark.ids < len(self._ids):
            self._ids = dict.fromkeys(islice(self._ids, mark.ids))
        self._calls.cut(mark.calls)
        del self._tokens[mark.messages + 1 :]
        return mark

    def encode(self, messages: Sequence[Message], turns: Turns, extend: Extend, mark: _Mark) -> list[dict[str, Any]]:
        """Encode the messages from a mark on; return all items, with what only this request needs at their end."""
        turns.taken, turns.names = self._ids, self._names
        items, rules = self.items[: mark.items], turns.rules
        at, sent, speaks, answered = mark.messages, mark.sent, mark.speaks, mark.answered
        waiting: list[Message] = []
        is_sure = True
        for answer, others in split_turns(messages[at:]):
            if is_sure and speaks and at > mark.messages:
                self._mark(at, sent, items, answered=answered)
            at += len(others) + (answer is not None)
            is_sure = is_sure and all(map(self._watch, others if answer is None else (answer, *others)))
            waiting += turns.turn(answer, others)
            if not waiting:
                continue
            spoken = [isinstance(each, AssistantMessage) for each in waiting if not isinstance(each, SystemMessage)]
            if not spoken and not speaks:
                continue
            if rules.user_first and not speaks and spoken[0]:
                waiting.insert(0, UserMessage(content=BEGINNING, timestamp=0))
            speaks, answered = True, spoken[-1] if spoken else answered
            extend(items, waiting, sent)
            sent += len(waiting)
            waiting = []
        if is_sure and speaks and at > mark.messages:
            self._mark(at, sent, items, answered=answered)
        self._freeze(items)
        self.messages = list(messages)
        alone = not speaks and (rules.user_first or rules.user_last)
        if alone or (answered and rules.user_last):
            waiting.append(UserMessage(content=CONTINUE, timestamp=0))
        if waiting:
            items = [*items]
            extend(items, waiting, sent)
        return items

    def token_sums(self, estimate: Callable[[Message], int]) -> list[int]:
        """Return the tokens of the messages, added up: before the first one, after it, and so on."""
        sums = self._tokens
        new = accumulate(map(estimate, self.messages[len(sums) - 1 :]), initial=sums[-1])
        sums += islice(new, 1, None)
        return sums

    def joined(self) -> list[Any]:
        """Return the list that was returned, as it is now, with kept JSON in place of the items that are unchanged.

        Items that plugins changed in place are replaced in the list, so that no later request has the same objects.
        """
        import orjson

        whole, start = self.whole, self.offset
        same = first_difference(self.items, whole[start:])
        chunks = self._unchanged_chunks(same)
        done = chunks[-1][0] if chunks else 0
        if any(done < end <= same for end, _ in self.chunks):  # one of them was changed
            whole[start + done : start + same] = map(dict, whole[start + done : start + same])
        self.sent, self.is_out = range(start, start + done), False
        return [*whole[:start], *(orjson.Fragment(json) for _, json in chunks), *whole[start + done :]]

    def _mark(self, at: int, sent: int, items: list[dict[str, Any]], *, answered: bool) -> None:
        last = items[-1] if items else None
        self._marks.append(
            _Mark(at, sent, len(items), last, len(self._ids), self._calls.place, speaks=True, answered=answered)
        )

    def _watch(self, message: Message) -> bool:
        """Note what of a message can be changed in place; return whether such a change would be seen."""
        if isinstance(message, AssistantMessage):
            return type(message.content) is tuple and all(
                self._calls.add(block.arguments) for block in message.content if isinstance(block, ToolCall)
            )
        return type(message.content) in (tuple, str)

    def _watch_again(self, messages: Sequence[Message]) -> None:
        """Note the arguments of calls in messages that were made anew, up to the last mark."""
        self._calls, old, at = Contents(), [*self._marks], 0
        self._marks.clear()
        for mark in old:
            if not all(map(self._watch, messages[at : mark.messages])):
                break
            at = mark.messages
            self._marks.append(mark._replace(calls=self._calls.place))

    def _same_messages(self, messages: Sequence[Message]) -> tuple[int, bool]:
        """Return how many messages at the beginning are as in the last request, and whether calls were made anew."""
        old, new_calls = self.messages, False
        same = first_difference(old, messages)
        if same < len(old) and same < len(messages):
            for before, now in zip(old[same:], messages[same:], strict=False):
                if before is not now:
                    if not _is_alike(before, now):
                        break
                    new_calls = new_calls or isinstance(now, AssistantMessage)
                same += 1
        return same, new_calls

    def _unchanged_chunks(self, same: int) -> list[tuple[int, bytes]]:
        """Return the JSON of the items at the beginning that are as they were encoded, of at most so many."""
        chunks = [each for each in self.chunks if each[0] <= same]
        if not self.is_seen:
            return chunks
        starts = (0, *(end for end, _ in chunks))
        pairs = zip(starts, chunks, strict=False)
        changed = (
            at for at, (start, (end, chunk)) in enumerate(pairs) if not _are_encoded(self.items[start:end], chunk)
        )
        return chunks[: next(changed, len(chunks))]

    def _ends_with(self, count: int, last: object) -> bool:
        """Whether the last one of the first items is still this object, as it was encoded: it may be extended."""
        start = 0
        for end, chunk in self.chunks:
            if count <= end:
                at = _length(self.sizes[start : count - 1])
                json = chunk[at : at + self.sizes[count - 1]]
                return self.items[count - 1] is last and _are_encoded([last], json)
            start = end
        return False

    def _cut(self, count: int) -> None:
        """Forget the JSON after the first items."""
        while self.chunks and self.chunks[-1][0] > count:
            _, chunk = self.chunks.pop()
            start = self.chunks[-1][0] if self.chunks else 0
            if start < count:
                self.chunks.append((count, chunk[: _length(self.sizes[start:count]) - 1]))
        del self.sizes[count:]

    def _freeze(self, items: list[dict[str, Any]]) -> None:
        """Set the items, and encode those that are new."""
        self._cut(first_difference(self.items, items))
        done = len(self.sizes)
        for end in (len(items) - 1, len(items)):  # the last one alone: in this request it may have a cache mark
            if done < end:
                new = _encoded(items[done:end])
                self.sizes.extend(map(len, new))
                self.chunks.append((end, b",".join(new)))
                done = end
        self.items = items
        self.chunks[:-_APART] = _in_few(self.chunks[:-_APART])


def _length(sizes: Sequence[int]) -> int:
    """Return the bytes of a list's elements, with a comma after each."""
    return sum(sizes) + len(sizes)


def _in_few(chunks: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return chunks as ones that are each twice as large as the next, so that there are few in a long conversation."""
    few: list[tuple[int, bytes]] = []
    for end, chunk in chunks:
        few.append((end, chunk))
        while len(few) > 1 and len(few[-2][1]) <= 2 * len(few[-1][1]):
            last, added = few.pop()
            few[-1] = last, few[-1][1] + b"," + added
    return few


def kept_messages(
    messages: Sequence[Message],
    turns: Turns,
    extend: Extend,
    options: StreamOptions,
    *,
    before: Iterable[dict[str, Any]],
    depends_on: str,
) -> list[dict[str, Any]]:
    """Return the API's messages of a conversation; see ``encode_messages``."""
    model = turns.model
    key = (
        *(options.session_id, model.provider, model.api, model.id, model.base_url, model.reasoning),
        *(tuple(model.input), repr(model.compat), turns.rules, depends_on),
        *(getattr(extend, "__module__", ""), getattr(extend, "__qualname__", "")),
    )
    kept = _take(key, messages[0])
    if kept is None or kept.is_out:  # a request at the same time has objects of its own
        kept = _Conversation(key)
    first = [*before]
    whole = [*first, *kept.encode(messages, turns, extend, kept.resume(messages, turns))]
    kept.before = kept.whole, kept.sent
    kept.whole, kept.offset, kept.sent = whole, len(first), range(0)
    kept.is_out = options.on_payload is not None and not getattr(options.on_payload, "pi_observe", False)
    kept.is_seen = kept.is_seen or kept.is_out
    if kept.size > _BYTES:  # the others stay
        return whole
    _kept.append(kept)
    size = sum(each.size for each in _kept)
    while _kept and (len(_kept) > _CONVERSATIONS or size > _BYTES):
        size -= _kept.pop(0).size
    return whole


def token_sums(messages: Sequence[Message], estimate: Callable[[Message], int]) -> list[int]:
    """Return the estimated tokens of a conversation whose request was just made, added up; empty if it is not kept."""
    last = next((each for each in [*_kept[-1:]] if len(each.messages) == len(messages)), None)
    if last is None or first_difference(last.messages, messages) < len(messages):
        return []
    return last.token_sums(estimate)


def with_kept(value: Any, depth: int = 1) -> Any:
    """Return the body of a request with kept JSON in place of what is unchanged."""
    if type(value) is dict and depth >= 0:
        return {name: with_kept(each, depth - 1) for name, each in value.items()}
    kept = next((each for each in [*_kept] if each.whole is value), None) if type(value) is list else None
    if kept is None or not _take_out(kept):
        return value
    try:
        return kept.joined() if kept.whole is value else value
    finally:
        _kept.append(kept)


def unchanged_elements(messages: object) -> range:
    """Return which of the API's messages in a payload are unchanged since they were encoded, by their places in it.

    A message that is unchanged in two payloads, and the same object, was the same in both requests. An object that a
    plugin changed in place is replaced in the payload when the request is sent, so that it occurs in no other one.

    Args:
        messages: The list of messages of one of the last two payloads of a conversation; any other object has none.
    """
    for kept in [*_kept]:
        if kept.whole is messages:
            return kept.sent
        if kept.before[0] is messages:
            return kept.before[1]
    return range(0)


def _take(key: object, first: Message) -> _Conversation | None:
    for each in reversed([*_kept]):
        is_same = each.key == key and (each.messages[0] is first or _is_alike(each.messages[0], first))
        if is_same and _take_out(each):
            return each
    return None


def _take_out(kept: _Conversation) -> bool:
    try:
        _kept.remove(kept)
    except ValueError:  # another thread was faster
        return False
    return True


def _is_alike(old: Message, new: Message) -> bool:
    """Whether a message that was made anew is sent like the old one: text for text, with equal JSON as arguments."""
    if type(old) is not type(new) or not _are_alike(old.content, new.content):
        return False
    if isinstance(old, ToolResultMessage) and isinstance(new, ToolResultMessage):
        return old.is_error is new.is_error and (old.tool_call_id, old.tool_name) == (new.tool_call_id, new.tool_name)
    if isinstance(old, AssistantMessage) and isinstance(new, AssistantMessage):
        names = ("provider", "api", "model", "stop_reason")
        return all(getattr(old, name) == getattr(new, name) for name in names)
    return isinstance(old, UserMessage | SystemMessage)


_BLOCKS = {
    TextContent: ("text", "text_signature"),
    ThinkingContent: ("thinking", "thinking_signature"),
    ImageContent: ("data", "mime_type"),
    ToolCall: ("id", "name", "thought_signature", "namespace"),
}
"""The texts of a block."""


def _are_alike(old: Any, new: Any) -> bool:
    if isinstance(old, str) or isinstance(new, str):
        return type(old) is type(new) and bool(old == new)
    if type(old) is not tuple or type(new) is not tuple or len(old) != len(new):
        return False
    return all(before is now or _is_alike_block(before, now) for before, now in zip(old, new, strict=True))


def _is_alike_block(old: Any, new: Any) -> bool:
    kind = type(old)
    if kind is not type(new) or kind not in _BLOCKS:
        return False
    if any(getattr(old, name) != getattr(new, name) for name in _BLOCKS[kind]):
        return False
    if kind is ToolCall:
        return _have_one_json(old.arguments, new.arguments)
    return kind is not ThinkingContent or old.redacted is new.redacted


def _have_one_json(old: Any, new: Any) -> bool:
    try:
        return compact_json(old) == compact_json(new)
    except _NOT_JSON:
        return False


def _are_encoded(items: Sequence[Any], json: bytes) -> bool:
    """Whether this is the JSON of a list without its brackets; plugins can put anything in its items."""
    try:
        return _elements(items) == json
    except _NOT_JSON:
        return False


def _elements(items: Sequence[Any]) -> bytes:
    """Return the JSON of a list without its brackets."""
    import orjson

    try:
        return orjson.dumps(items)[1:-1]
    except TypeError:
        return b",".join(map(json_bytes, items))


def _encoded(items: Sequence[Any]) -> list[bytes]:
    """Return the JSON of each element of a list."""
    import orjson

    try:
        return [*map(orjson.dumps, items)]
    except TypeError:
        return [*map(json_bytes, items)]
