"""How values look on the wire: session files, RPC and JSON mode.

The one place that knows that Python says ``stop_reason`` and the wire ``stopReason``. Writing is done
here, by functions that the classes' fields are compiled to once, because JSON mode writes every event; reading is
compiled in the same way, in ``_reader``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import attrs

from pi_core.wire.names import keeps_unknown_fields, wire_name

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


def to_wire(value: Any) -> Any:
    """Return the value as plain JSON data that shares nothing with it.

    Attribute names become camelCase; fields that are None by default are left out while they are, and
    what is in ``extra`` stands beside the known fields. Keys of dicts, such as tool arguments, stay as
    they are. Anything that JSON cannot say becomes what comes nearest (a path its text, a set a list,
    NaN null, an unknown object its ``str``), so that a plugin's careless ``details`` stops nobody.

    A ``message_update`` is delta-only, its message is never put together.
    """
    kind = type(value)
    return value if kind in _AS_IT_IS else _encode_or_say_why_not(value)


def dumps(value: Any) -> bytes:
    """Return ``to_wire(value)`` as one line of JSON in UTF-8, without the newline."""
    import orjson

    data = to_wire(value)
    try:
        return orjson.dumps(data)
    except TypeError:  # integers over 64 bits, lone surrogates, 255 levels: all of them JSON nevertheless
        import json

        return json.dumps(data, separators=(",", ":")).encode("ascii")


def from_wire(data: Any, cls: type[T]) -> T:
    """Return the value of class ``cls`` that plain JSON data describes.

    Unknown fields are kept in ``extra``, where the class has one; the names of older versions are read
    too. The value may share containers with ``data``, which must not be changed afterwards.

    Raises:
        PiError: A field is missing or of a wrong type; the message has its path.
    """
    from pi_core.wire.reader import read

    return cast("T", read(data, cls, cls.__name__))


def content_from_wire(data: Any) -> Content:
    """Return a content block, by its ``type``; an unknown type gives an ``UnknownContent``. Raises as ``from_wire``."""
    return cast("Content", _READERS["content block"](data))


def message_from_wire(data: Any) -> AgentMessage:
    """Return a message, by its ``role``; an unknown role gives an ``UnknownMessage``. Raises as ``from_wire``."""
    return cast("AgentMessage", _READERS["message"](data))


def entry_from_wire(data: Any) -> SessionEntry:
    """Return a session entry, by its ``type``; an unknown type gives an ``UnknownEntry``. Raises as ``from_wire``."""
    return cast("SessionEntry", _READERS["session entry"](data))


def header_from_wire(data: Any) -> SessionHeader:
    """Return a session file's header; one without a version is of version 1. Raises as ``from_wire``."""
    return cast("SessionHeader", _READERS["SessionHeader"](data))


class _Readers(dict[str, "Callable[[Any], Any]"]):
    """Readers by what they read; compiled when they are first used."""

    def __missing__(self, what: str) -> Callable[[Any], Any]:
        import pi_hookspecs
        from pi_core.wire.reader import Misfit, read, reader_of

        target = getattr(pi_hookspecs, _TARGETS[what])
        read_at_once = reader_of(target)

        def read_or_explain(data: Any) -> Any:
            try:
                return read_at_once(data)
            except (Misfit, RecursionError):
                return read(data, target, what)

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
    """Return a model's description. Raises as ``from_wire``."""
    from pi_hookspecs.models import Model

    return from_wire(data, Model)


class _Encoders(dict[type[Any], "Encoder"]):
    """What writes instances of a class; chosen when the first one comes by."""

    def __missing__(self, kind: type[Any]) -> Encoder:
        encoder = self[kind] = _choose_encoder(kind)
        return encoder


_ENCODERS = _Encoders()


def _choose_encoder(kind: type[Any]) -> Encoder:
    if attrs.has(kind):
        return _special(kind) or _fields_encoder(kind)
    names = getattr(kind, "__dataclass_fields__", None)
    if names is not None:
        return lambda value: _mapping({name: getattr(value, name) for name in names})
    return next((encoder for base, encoder in _BY_BASE if issubclass(kind, base)), _text)


def _fields_encoder(kind: type[Any]) -> Encoder:
    keeps_extra = keeps_unknown_fields(kind)
    plan = [
        (field.name, wire_name(field.name), field.default is None)
        for field in attrs.fields(kind)
        if field.metadata.get("wire", True) and not (keeps_extra and field.name == "extra")
    ]
    plan.sort(key=lambda item: item[1] not in _TAGS)  # as pi writes them; readers of session files look there first
    tag = getattr(kind, "type", None)  # events have it on the class, blocks and entries on the instance
    start = {"type": tag} if isinstance(tag, str) else {}

    def encode(value: Any) -> dict[str, Any]:
        wire: dict[str, Any] = start.copy()
        for name, key, optional in plan:
            item = getattr(value, name)
            if type(item) not in _AS_IT_IS:
                wire[key] = _encode_or_say_why_not(item)
            elif item is not None or not optional:
                wire[key] = item
        if keeps_extra and value.extra:
            for key, item in value.extra.items():
                wire.setdefault(key, to_wire(item))
        return wire

    return encode


def _encode_or_say_why_not(item: Any) -> Any:
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
    for item in value:  # a loop, not a comprehension: one frame less for each level of a deep value
        kind = type(item)
        wire.append(item if kind in _AS_IT_IS else _ENCODERS[kind](item))
    return wire


_BY_BASE: tuple[tuple[type[Any], Encoder], ...] = (
    (Enum, lambda value: to_wire(value.value)),
    (str, str.__str__),
    (float, lambda value: float(value) if math.isfinite(value) else None),
    (int, int),
    (bytes, str),  # a sequence too, but of no use as a list of numbers
    (bytearray, str),
    (Mapping, _mapping),
    (AbstractSet, lambda value: _array(sorted(value, key=repr))),
    (Sequence, _array),
)


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a stranger's __str__
        return object.__repr__(value)


def _special(kind: type[Any]) -> Encoder | None:
    """Return what writes the few values whose wire form is not their fields."""
    if kind.__name__ not in ("Done", "Error", "MessageUpdateEvent"):
        return None  # spares the imports
    from pi_hookspecs.events.agent import MessageUpdateEvent
    from pi_hookspecs.stream import Done, Error

    special: dict[type[Any], Encoder] = {Done: _ending, Error: _ending, MessageUpdateEvent: _message_update}
    return special.get(kind)


def _ending(event: Done | Error) -> dict[str, Any]:
    wire: dict[str, Any] = {"type": event.type, "reason": event.reason}
    return wire | {field.name: to_wire(getattr(event, field.name)) for field in attrs.fields(type(event))}


def _message_update(event: MessageUpdateEvent) -> dict[str, Any]:
    delta = event.assistant_message_event
    return {"type": event.type, "usage": to_wire(_usage_so_far(delta)), "assistantMessageEvent": to_wire(delta)}


def _usage_so_far(event: AssistantMessageEvent) -> Usage:
    """Return the tokens counted so far, from the builder itself: its ``partial`` copies the whole message."""
    source = event.source if hasattr(event, "source") else None
    usage: Usage | None = getattr(source, "usage", None)
    return usage or event.partial.usage  # type: ignore[union-attr]
