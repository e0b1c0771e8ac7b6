"""Reads events of a session from JSON, for clients in Python that display a session of another process.

Clients get the same events as subscribers in the session's process, except that the wire contains only the changes of
an answer, so that the events have no ``partial``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import attrs

from pi_core.wire.converter import content_from_wire, from_wire, is_on_wire
from pi_core.wire.names import wire_name
from pi_hookspecs.errors import PiError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

__all__ = ["event_from_wire"]

_MODULES = ("agent", "notices", "tools")
"""Modules of ``pi_hookspecs.events`` that define the events for subscribers."""


def event_from_wire(data: Mapping[str, Any], partial: Callable[[], Any] | None = None) -> Any:
    """Return an event by its ``type``; None for a type that this version does not know.

    Args:
        data: The event as JSON data.
        partial: Returns the message so far, for a ``message_update``; without it, asking for that fails.

    Raises:
        PiError: A field is missing or of a wrong type; the message has its path.
    """
    kind = data.get("type")
    if kind == "message_update":
        from pi_hookspecs.events.agent import MessageUpdateEvent

        return MessageUpdateEvent(assistant_message_event=_update(data.get("assistantMessageEvent"), partial))
    found = _classes(_MODULES).get(str(kind))
    return None if found is None else from_wire(dict(data), found)


@attrs.frozen
class _Elsewhere:
    """Replaces the builder of an answer, which is in the other process."""

    partial: Callable[[], Any]


def _no_partial() -> NoReturn:
    raise PiError("An answer received from another process has no partial message; accumulate its deltas.")


def _update(data: Any, partial: Callable[[], Any] | None) -> Any:
    kind = data.get("type") if isinstance(data, dict) else None
    found = _stream_classes().get(str(kind))
    if found is None:
        raise PiError(
            f"Cannot read a message_update: its assistantMessageEvent has the type {kind!r}, which is unknown"
        )
    if not hasattr(found, "partial"):
        return from_wire(data, found)
    names = [each.name for each in attrs.fields(found) if each.metadata.get("wire", True)]
    missing = [wire_name(name) for name in names if wire_name(name) not in data]
    if missing:
        raise PiError(f"Cannot read a {kind}: {missing[0]} is missing")
    fields = {name: data[wire_name(name)] for name in names}
    if "tool_call" in fields:
        fields["tool_call"] = content_from_wire(fields["tool_call"])
    return found(source=_Elsewhere(partial or _no_partial), **fields)


@cache
def _classes(modules: tuple[str, ...]) -> dict[str, type[Any]]:
    found = [_by_type(import_module(f"pi_hookspecs.events.{name}")) for name in modules]
    return {kind: each for classes in found for kind, each in classes.items() if is_on_wire(each)}


@cache
def _stream_classes() -> dict[str, type[Any]]:
    from pi_hookspecs import stream

    return _by_type(stream)


def _by_type(module: ModuleType) -> dict[str, type[Any]]:
    """Return the classes of a module that declare a type of event, by that type."""
    found: list[Any] = [each for each in vars(module).values() if isinstance(each, type) and attrs.has(each)]
    return {each.type: each for each in found if isinstance(getattr(each, "type", None), str)}
