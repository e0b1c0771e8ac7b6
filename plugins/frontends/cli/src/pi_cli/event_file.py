"""Reads events from JSON files for ``pi hooks fire``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from attrs import evolve, fields, fields_dict, frozen

from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage

__all__ = ["read_event"]


def read_event(hook: str, path: str) -> Any:
    """Return a hook's event from a file in the wire format; ``docs/events`` has one for each hook.

    Raises:
        UserError: The file cannot be read, is not JSON, or is not an event of this hook.
    """
    from pi_hookspecs.samples import sample_event

    data = _read(path)
    kind = type(sample_event(hook))
    if data.get("type", hook) != hook:
        raise UserError(f"{path} contains an event of type {data['type']!r}, not {hook!r}")
    try:
        return _with_signal(_message_update(data, kind) if hook == "message_update" else _from_wire(data, kind))
    except PiError as error:
        raise UserError(f"{path} contains no {hook} event: {error}") from error


def _read(path: str) -> dict[str, Any]:
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"The event file {path!r} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise UserError(f"{path} contains {type(data).__name__}, not an event: an object with the fields of its class")
    return data


def _from_wire(data: dict[str, Any], kind: type[Any]) -> Any:
    """Parse a value and reject unknown fields: in a file written by hand they are mistakes."""
    from pi_core import from_wire, wire_name

    known = ["type", *(wire_name(field.name) for field in fields(kind) if field.name != "signal")]
    for name in data:
        if name not in known:
            raise UserError(f"it has a field {name!r}; its fields are {', '.join(known)}")
    return from_wire(data, kind)


def _with_signal(event: Any) -> Any:
    """Return the event with a fresh abort signal, if it has such a field: a file cannot contain one."""
    if "signal" not in fields_dict(type(event)):
        return event
    from pi_hookspecs import AbortSignal

    return evolve(event, signal=AbortSignal())


@frozen
class _FixedSource:
    """A partial source of one fixed message."""

    message: AssistantMessage

    def partial(self) -> AssistantMessage:
        return self.message


def _message_update(data: dict[str, Any], kind: type[Any]) -> Any:
    """Parse a message update, whose wire format leaves out the message; the file may still contain it.

    Raises:
        PiError: The value does not have this format.
    """
    from pi_core.wire import content_from_wire, from_wire, wire_name
    from pi_hookspecs import AssistantMessage, stream

    inner = data.get("assistantMessageEvent")
    kinds = {each.type: each for each in get_args(stream.AssistantMessageEvent)}
    if not isinstance(inner, dict) or inner.get("type") not in [*kinds]:
        raise UserError(f"assistantMessageEvent must be an object whose type is one of {', '.join(kinds)}")
    found = kinds[inner["type"]]
    if "source" not in fields_dict(found):
        return kind(assistant_message_event=from_wire(inner, found))
    given = {field.name: inner.get(wire_name(field.name)) for field in fields(found) if field.name != "source"}
    for name, value in given.items():
        expected = {"content_index": int, "tool_call": dict}.get(name, str)
        if type(value) is not expected:
            where = f"assistantMessageEvent.{wire_name(name)}"
            raise UserError(f"{where} must be of type {expected.__name__}, not {value!r:.60}")
    if "tool_call" in given:
        given["tool_call"] = content_from_wire(given["tool_call"])
    message = data.get("message") or {"role": "assistant", "api": "", "provider": "", "model": "", "content": []}
    return kind(assistant_message_event=found(source=_FixedSource(from_wire(message, AssistantMessage)), **given))
