"""Converts events of hooks for a program, and its answers for the hooks."""

from __future__ import annotations

from contextlib import contextmanager
from operator import eq
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

import pi_hookspecs
from pi_core import dumps, from_wire, message_from_wire, to_wire, wire_name
from pi_hookspecs import ContextResult, PiError, Rule, ToolResult, answers_of
from pi_hookspecs.specs import all_hookspecs
from pi_isolated.ready import DELTA_HOOKS, ONLY_DELTAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "EventWriter",
    "UnsentEvent",
    "changed_by",
    "delta_of",
    "grown_by",
    "growth_of",
    "read_answer",
    "read_result",
]

_NOT_ON_WIRE = {"user_bash": ("operations",)}
"""Fields of answers that are objects of this process."""

_TURNS = ("turn_start", "turn_end")
"""Hooks whose events have a number that JSON mode leaves out."""


@attrs.frozen
class UnsentEvent:
    """An event for a program. It is written when it is sent, since it may say what is new since the last one.

    Attributes:
        hook: The hook.
        event: The event of that hook.
        filters: What the program asked for, of this hook.
    """

    hook: str
    event: Any
    filters: Mapping[str, Any] = MappingProxyType({})


class EventWriter:
    """Writes the events for one process, and remembers which part of the conversation it has."""

    def __init__(self) -> None:
        self._sent: dict[str, dict[str, Any]] = {}

    @contextmanager
    def sending(self, event: UnsentEvent) -> Iterator[dict[str, Any]]:
        """Return an event as JSON data; if the block fails, the process still has what it had before.

        Raises:
            PiError: The payload of a request is not an object.
        """
        before = self._sent.get(event.hook, {})
        try:
            yield self.write(event)
        except BaseException:
            self._sent[event.hook] = before
            raise

    def write(self, unsent: UnsentEvent) -> dict[str, Any]:
        """Return an event as JSON data.

        Raises:
            PiError: The payload of a request is not an object.
        """
        hook, event = unsent.hook, unsent.event
        if hook == "message_update":
            return {
                **to_wire(event),
                **self._message(to_wire(event.message), by_delta=bool(unsent.filters.get("delta"))),
            }
        if hook not in DELTA_HOOKS:
            if hook == "tool_call" and not unsent.filters.get("tool", True):
                event = attrs.evolve(event, tool=None)
            written: dict[str, Any] = to_wire(event)
            if hook in _TURNS:
                written.update(turnIndex=event.turn_index, timestamp=getattr(event, "timestamp", 0))
            return written
        fields = {
            wire_name(each.name): to_wire(getattr(event, each.name))
            for each in attrs.fields(type(event))
            if each.name not in ("messages", "payload", "changes") and each.metadata.get("wire", True)
        }
        has_payload = unsent.filters.get("payload", True)
        return {"type": hook, **fields, **({"delta": self.delta(hook, event)} if has_payload else {})}

    def _message(self, message: dict[str, Any], *, by_delta: bool) -> dict[str, Any]:
        if not by_delta:
            return {"message": message}
        before, self._sent["message_update"] = self._sent.get("message_update", {}), message
        return {"delta": growth_of(before, message)}

    def delta(self, hook: str, event: Any) -> dict[str, Any]:
        """Return what is new since the last event of the hook.

        Raises:
            PiError: The payload of a request is not an object.
        """
        whole = whole_of(hook, event)
        before, now = self._sent.get(hook, {}), {key: _digests(value) for key, value in whole.items()}
        self._sent[hook] = now
        return _changes(before, now, whole)


def delta_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is new in an object, as ``changed_by`` takes it."""
    old, new = ({key: _digests(value) for key, value in each.items()} for each in (before, after))
    return _changes(old, new, after)


def _changes(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    whole: Mapping[str, Any],
    is_same: Callable[[Any, Any], bool] = eq,
) -> dict[str, Any]:
    delta: dict[str, Any] = {"set": {}, "keep": {}, "unset": [key for key in before if key not in now]}
    for key, value in now.items():
        old = before.get(key)
        if key in before and is_same(old, value):
            continue
        kept = _common(old, value, is_same) if isinstance(old, list) and isinstance(value, list) else 0
        delta["set"][key] = whole[key][kept:] if kept else whole[key]
        if kept:
            delta["keep"][key] = kept
    return delta


def growth_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is new in an answer, as ``grown_by`` takes it: of a text that has become longer only the rest.

    Texts are compared as they are, since an answer is nearly all text.
    """
    delta = _changes(before, after, after, _is_same)
    old, new, kept = before.get("content", ()), after.get("content", ()), delta["keep"].get("content", 0)
    added = _added(old[kept], new[kept]) if kept < min(len(old), len(new)) else {}
    if added:
        delta["set"]["content"], delta["keep"]["content"] = new[kept + 1 :], kept + 1
        delta["append"] = {"content": added}
    return delta


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; of the numbers, 1, 1.0 and true are not."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(each, other[key]) for key, each in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(dumps(one) == dumps(other))


def _added(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts by which a block is longer; empty if there is another difference."""
    added = {}
    for key, text in after.items():
        old = before.get(key)
        if isinstance(old, str) and isinstance(text, str) and text.startswith(old):
            added[key] = text[len(old) :]
        elif key not in before or not _is_same(old, text):
            return {}
    return {key: text for key, text in added.items() if text} if before.keys() == after.keys() else {}


def grown_by(whole: Mapping[str, Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer with what is new: the changes of a delta, and texts that continue the last block that is kept.

    Raises:
        PiError: The delta is not one, or does not fit the answer.
    """
    changed = changed_by(whole, {key: each for key, each in delta.items() if key != "append"})
    for key, texts in delta.get("append", {}).items():
        last = delta["keep"][key] - 1
        block = changed[key][last]
        changed[key][last] = {**block, **{name: block[name] + text for name, text in texts.items()}}
    return changed


def whole_of(hook: str, event: Any) -> dict[str, Any]:
    """Return what deltas of a hook are about: the messages by that name, or the payload.

    Raises:
        PiError: The payload is not an object.
    """
    if hook == "context":
        return {"messages": [to_wire(each) for each in event.messages]}
    payload = to_wire(event.payload)
    if not isinstance(payload, dict):
        raise PiError(f"the payload of this request is not an object, but {type(event.payload).__name__}")
    return payload


def _digests(value: Any) -> Any:
    return [_digest(each) for each in value] if isinstance(value, list) else _digest(value)


def _digest(value: Any) -> bytes:
    from hashlib import blake2b  # few plugins get events that are as long as the conversation

    return blake2b(dumps(value), digest_size=16).digest()


def _common(one: list[Any], other: list[Any], is_same: Callable[[Any, Any], bool] = eq) -> int:
    """Return how many elements two lists begin with in common."""
    pairs = enumerate(map(is_same, one, other))
    return next((index for index, same in pairs if not same), min(len(one), len(other)))


def changed_by(whole: Mapping[str, Any], delta: Any) -> dict[str, Any]:
    """Return an object with the changes of a delta.

    Raises:
        PiError: The delta is not one, or does not fit the object.
    """
    if not isinstance(delta, dict) or delta.keys() - {"set", "keep", "unset"}:
        raise PiError(f"a delta is an object with 'set', 'keep' and 'unset', not {delta!r:.80}")
    new, keep, unset = delta.get("set", {}), delta.get("keep", {}), delta.get("unset", [])
    if not isinstance(new, dict) or not isinstance(keep, dict) or not isinstance(unset, list):
        raise PiError(f"in a delta 'set' and 'keep' are objects, and 'unset' is a list: {delta!r:.80}")
    changed = {key: value for key, value in whole.items() if key not in unset}
    for key, value in new.items():
        kept = keep.get(key, 0)
        before = whole.get(key)
        if kept == 0 and type(kept) is int:
            changed[key] = value
        elif isinstance(before, list) and isinstance(value, list) and type(kept) is int and 0 < kept <= len(before):
            changed[key] = [*before[:kept], *value]
        else:
            raise PiError(f"a delta keeps {kept!r:.20} elements of {key!r}, which does not fit")
    return changed


def read_answer(hook: str, answer: Any, event: Any) -> Any:
    """Return a program's answer as the hook takes it; None for null.

    Raises:
        PiError: It is not of the hook's type, or has a field that this has not.
    """
    if answer is None:
        return None
    spec = all_hookspecs()[hook]
    answers = answers_of(spec)
    if answers is None or answers.whole is Rule.NOTIFY:
        raise PiError(f"{hook} takes no answer, but it answered {answer!r:.80}")
    if not isinstance(answer, dict):
        raise PiError(f"its answer must be an object or null, not {answer!r:.80}")
    if hook == "child_environment":
        return answer
    if hook in ONLY_DELTAS:
        return _read_delta(hook, answer, event)
    cls = getattr(pi_hookspecs, spec.__annotations__["return"].split("|")[0].strip())
    _check_fields(answer, cls, _NOT_ON_WIRE.get(hook, ()))
    return from_wire(answer, cls)


def read_result(result: Any) -> ToolResult:
    """Return the result of a tool, or a partial one.

    Raises:
        PiError: It is none, or has a field that results have not.
    """
    if not isinstance(result, dict):
        raise PiError(f"the result of a tool must be an object, not {result!r:.80}")
    _check_fields(result, ToolResult, ())
    return from_wire(result, ToolResult)


def _read_delta(hook: str, answer: dict[str, Any], event: Any) -> Any:
    if hook == "before_provider_request":
        if answer.keys() - {"delta", "headers"}:
            raise PiError(f"an answer to {hook} has only 'delta' and 'headers', not {', '.join(sorted(answer))}")
        _add_headers(event, answer.get("headers", {}))
        return changed_by(whole_of(hook, event), answer["delta"]) if "delta" in answer else None
    rest = {key: value for key, value in answer.items() if key != "delta"}
    _check_fields(rest, ContextResult, ("messages",))
    result = from_wire(rest, ContextResult)
    if answer.get("delta") is None:
        return result
    whole = {"messages": [None] * len(event.messages)}
    messages = changed_by(whole, answer["delta"]).get("messages", [])
    if not isinstance(messages, list):
        raise PiError(f"the messages of its answer are not a list, but {messages!r:.80}")
    keep = answer["delta"].get("keep", {}).get("messages", 0) if "messages" in answer["delta"].get("set", {}) else None
    kept = event.messages[: len(messages) if keep is None else keep]
    return attrs.evolve(result, messages=(*kept, *map(message_from_wire, messages[len(kept) :])))


def _add_headers(event: Any, headers: Any) -> None:
    if not isinstance(headers, dict) or not all(isinstance(each, str | None) for each in headers.values()):
        raise PiError(f"the headers of its answer are an object of texts, or null to remove one, not {headers!r:.80}")
    event.headers.update(headers)


def _check_fields(answer: Mapping[str, Any], cls: type, left_out: tuple[str, ...]) -> None:
    known = {wire_name(each.name) for each in attrs.fields(cls) if each.name not in left_out}
    unknown = sorted(answer.keys() - known)
    if unknown:
        raise PiError(f"its answer has {', '.join(unknown)}, and a {cls.__name__} has {', '.join(sorted(known))}")
