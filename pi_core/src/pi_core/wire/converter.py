"""Conversion of values to JSON and back, for session files, RPC and JSON mode.

No other module converts ``stop_reason`` to ``stopReason``. JSON mode writes every event, so each class has an encoder
that is built once from its fields; readers are compiled in ``reader.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import attrs

from pi_core.wire.names import keeps_unknown_fields, wire_name
from pi_hookspecs.errors import PiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.content import Content
    from pi_hookspecs.entries import SessionHeader
    from pi_hookspecs.events.agent import MessageUpdateEvent
    from pi_hookspecs.messages import Usage
    from pi_hookspecs.models import Model
    from pi_hookspecs.rare_entries import SessionEntry
    from pi_hookspecs.rare_messages import AgentMessage
    from pi_hookspecs.stream import AssistantMessageEvent, Done, Error

__all__ = [
    "content_from_wire",
    "dumps",
    "entry_from_wire",
    "from_wire",
    "header_from_wire",
    "is_on_wire",
    "lost_on_wire",
    "message_from_wire",
    "model_from_wire",
    "to_wire",
    "wire_name",
]

T = TypeVar("T")
Encoder: TypeAlias = "Callable[[Any], Any]"

_AS_IT_IS = frozenset({str, int, bool, type(None)})
_TAGS = ("type", "role")
_TOO_DEEP = "(not shown: nested too deeply, or contains itself)"
"""Replaces a value whose conversion would raise a ``RecursionError``."""


def to_wire(value: Any) -> Any:
    """Return the value as plain JSON data that shares no containers with it.

    Attribute names become camelCase; fields whose default is None are omitted while they are None, and
    the items of ``extra`` are written next to the known fields. Keys of dicts, such as tool arguments, are not changed.
    Values that JSON cannot represent are converted (a path to its text, a set to a list, NaN to null, an unknown object
    to its ``str``), so that a plugin's invalid ``details`` cannot make a run fail.

    A ``message_update`` contains only the delta, not the partial message.
    """
    kind = type(value)
    return value if kind in _AS_IT_IS else _encode_or_placeholder(value)


def dumps(value: Any) -> bytes:
    """Return ``to_wire(value)`` as one line of JSON in UTF-8, without the newline."""
    import orjson

    data = to_wire(value)
    try:
        return orjson.dumps(data)
    except TypeError:  # integers over 64 bits, lone surrogates, 255 levels: all valid JSON
        import json

        return json.dumps(data, separators=(",", ":")).encode("ascii")


def lost_on_wire(value: Any) -> str | None:
    """Return what of a value ``to_wire`` does not represent, such as ``rows.0 is an object``; None if nothing is lost.

    What has a text of its own, such as a path or a date, is not lost.
    """
    try:
        return _lost(value, "")
    except RecursionError:
        return "it contains itself, or is nested too deeply"


def _lost(value: Any, path: str) -> str | None:
    kind = type(value)
    if kind in _AS_IT_IS:
        return None
    encoder = _ENCODERS[kind]
    if encoder is _mapping:
        parts = ((str(key), item) for key, item in value.items())
    elif encoder is _array:
        parts = ((str(index), item) for index, item in enumerate(value))
    elif encoder in (str, _safe_str):  # the former for bytes
        own: Any = kind
        is_blank = own.__str__ is object.__str__ and own.__repr__ is object.__repr__
        is_lost = encoder is str or is_blank or callable(value)
        return f"{path or 'the whole'} is of type {kind.__name__}" if is_lost else None
    else:
        return None
    found = (_lost(item, f"{path}.{name}" if path else name) for name, item in parts)
    return next(filter(None, found), None)


def is_on_wire(event: object) -> bool:
    """Whether JSON mode and RPC also send an event; classes of process-internal events have ``on_wire = False``.

    Clients of the original do not know such events, which report what only a session's own process has to follow.
    """
    return getattr(event, "on_wire", True)


def from_wire(data: Any, cls: type[T]) -> T:
    """Return a value of class ``cls`` from plain JSON data.

    Unknown fields are kept in ``extra``, where the class has one; field names of older versions are accepted.
    The value may share containers with ``data``, which must not be changed afterwards.

    Raises:
        PiError: A field is missing or of a wrong type; the message has its path.
    """
    return cast("T", _read(data, cls, cls.__name__))


def content_from_wire(data: Any) -> Content:
    """Return a content block by its ``type``, or an ``UnknownContent``. Raises the same errors as ``from_wire``."""
    return cast("Content", _READERS["content block"](data))


def message_from_wire(data: Any) -> AgentMessage:
    """Return a message by its ``role``, or an ``UnknownMessage``. Raises the same errors as ``from_wire``."""
    return cast("AgentMessage", _READERS["message"](data))


def entry_from_wire(data: Any) -> SessionEntry:
    """Return a session entry by its ``type``, or an ``UnknownEntry``. Raises the same errors as ``from_wire``."""
    return cast("SessionEntry", _READERS["session entry"](data))


def header_from_wire(data: Any) -> SessionHeader:
    """Return a session file's header; without a version it has version 1. Raises the same errors as ``from_wire``."""
    return cast("SessionHeader", _READERS["SessionHeader"](data))


def _read(data: Any, target: Any, what: str) -> Any:
    """Return a value of type ``target`` from JSON data; ``what`` names it in error messages.

    Raises:
        PiError: The data does not fit; the message has the path of each problem.
    """
    from pi_core.wire.reader import InvalidData, reader_of

    try:
        return reader_of(target)(data)
    except RecursionError as error:
        raise PiError(f"Cannot read a {what}: nested too deeply") from error
    except (InvalidData, TypeError, ValueError) as error:  # a class's own converters raise the latter two
        from pi_core.wire.errors import explain

        raise PiError(f"Cannot read a {what}: {explain(data, target) or error}") from error


class _Readers(dict[str, "Callable[[Any], Any]"]):
    """Readers by a description of what they read; each is compiled on first use."""

    def __missing__(self, what: str) -> Callable[[Any], Any]:
        import pi_hookspecs
        from pi_core.wire.reader import InvalidData, reader_of

        target = getattr(pi_hookspecs, _TARGETS[what])
        fast_read = reader_of(target)

        def read_or_explain(data: Any) -> Any:
            try:
                return fast_read(data)
            except (InvalidData, RecursionError):
                return _read(data, target, what)

        self[what] = read_or_explain
        return read_or_explain


_READERS = _Readers()
_TARGETS = {
    "content block": "Content",
    "message": "AgentMessage",
    "session entry": "SessionEntry",
    "SessionHeader": "SessionHeader",
}


def model_from_wire(data: Any) -> Model:
    """Return a ``Model``. Raises the same errors as ``from_wire``."""
    from pi_hookspecs.models import Model

    return from_wire(data, Model)


class _Encoders(dict[type[Any], "Encoder"]):
    """Encoders by class; each is created for the first instance of its class."""

    def __missing__(self, kind: type[Any]) -> Encoder:
        encoder = self[kind] = _make_encoder(kind)
        return encoder


_ENCODERS = _Encoders()


def _make_encoder(kind: type[Any]) -> Encoder:
    if attrs.has(kind):
        return _special_encoder(kind) or _fields_encoder(kind)
    names = getattr(kind, "__dataclass_fields__", None)
    if names is not None:
        return lambda value: _mapping({name: getattr(value, name) for name in names})
    return next((encoder for base, encoder in _BY_BASE if issubclass(kind, base)), _safe_str)


def _fields_encoder(kind: type[Any]) -> Encoder:
    keeps_extra = keeps_unknown_fields(kind)
    plan = [
        (field.name, wire_name(field.name), field.default is None)
        for field in attrs.fields(kind)
        if field.metadata.get("wire", True) and not (keeps_extra and field.name == "extra")
    ]
    plan.sort(key=lambda item: item[1] not in _TAGS)  # first, as the TypeScript pi writes them
    keys = [(key, optional) for _, key, optional in plan]
    read = _reader_of_fields([name for name, _, _ in plan])
    tag = getattr(kind, "type", None)  # events have it on the class, blocks and entries on the instance
    start = {"type": tag} if isinstance(tag, str) else {}

    def encode(value: Any) -> dict[str, Any]:
        wire: dict[str, Any] = start.copy()
        for (key, optional), item in zip(keys, read(value), strict=True):
            if type(item) not in _AS_IT_IS:
                wire[key] = _encode_or_placeholder(item)
            elif item is not None or not optional:
                wire[key] = item
        if keeps_extra and value.extra:
            for key, item in value.extra.items():
                wire.setdefault(key, to_wire(item))
        return wire

    return encode


def _reader_of_fields(names: Sequence[str]) -> Callable[[Any], Sequence[Any]]:
    """Return a function that reads all attributes of these names in one call."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: [getattr(value, name) for name in names]


def _encode_or_placeholder(item: Any) -> Any:
    try:
        return _ENCODERS[type(item)](item)
    except RecursionError:
        return _TOO_DEEP


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    wire = {}
    for key, item in value.items():
        kind = type(item)
        wire[key if type(key) is str else _key(key)] = item if kind in _AS_IT_IS else _ENCODERS[kind](item)
    return wire


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    return {True: "true", False: "false", None: "null"}[key] if isinstance(key, bool | None) else str(key)


def _array(value: Sequence[Any]) -> list[Any]:
    wire = []
    for item in value:  # a loop, not a comprehension: it saves a frame for each level of a deep value
        kind = type(item)
        wire.append(item if kind in _AS_IT_IS else _ENCODERS[kind](item))
    return wire


_BY_BASE: tuple[tuple[type[Any], Encoder], ...] = (
    (Enum, lambda value: to_wire(value.value)),
    (str, str.__str__),
    (float, lambda value: float(value) if math.isfinite(value) else None),
    (int, int),
    (bytes, str),  # also a sequence, but useless as a list of numbers
    (bytearray, str),
    (Mapping, _mapping),
    (AbstractSet, lambda value: _array(sorted(value, key=repr))),
    (Sequence, _array),
)


def _safe_str(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a plugin's __str__ may raise anything
        return object.__repr__(value)


def _special_encoder(kind: type[Any]) -> Encoder | None:
    """Return the encoder of the few classes whose JSON differs from their fields; None for any other class."""
    if kind.__name__ not in ("Done", "Error", "MessageUpdateEvent"):
        return None  # avoids the imports
    from pi_hookspecs.events.agent import MessageUpdateEvent
    from pi_hookspecs.stream import Done, Error

    special: dict[type[Any], Encoder] = {
        Done: _encode_end,
        Error: _encode_end,
        MessageUpdateEvent: _encode_message_update,
    }
    return special.get(kind)


def _encode_end(event: Done | Error) -> dict[str, Any]:
    wire: dict[str, Any] = {"type": event.type, "reason": event.reason}
    return wire | {field.name: to_wire(getattr(event, field.name)) for field in attrs.fields(type(event))}


def _encode_message_update(event: MessageUpdateEvent) -> dict[str, Any]:
    delta = event.assistant_message_event
    return {"type": event.type, "usage": to_wire(_current_usage(delta)), "assistantMessageEvent": to_wire(delta)}


def _current_usage(event: AssistantMessageEvent) -> Usage:
    """Return the usage so far from the builder itself, because its ``partial`` copies the whole message."""
    source = event.source if hasattr(event, "source") else None
    usage: Usage | None = getattr(source, "usage", None)
    return usage or event.partial.usage  # type: ignore[union-attr]
