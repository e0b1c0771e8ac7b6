"""Parses a line into a command, or into the error to respond with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from pi_client.commands import COMMANDS
from pi_client.fields import Mismatch, as_json
from pi_client.framing import MAX_LINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_client.commands import Request

__all__ = ["Asked", "Refused", "UiReply", "parse", "response"]

_UI_RESPONSE = "extension_ui_response"


@frozen
class Asked:
    """A command. ``id`` is echoed in the response: a dict with the id, or an empty dict."""

    request: Request[Any]
    id: Mapping[str, Any] = field(factory=dict)

    @property
    def command(self) -> str:
        """The command's name."""
        return self.request.type


@frozen
class Refused:
    """A line that is not a valid command; ``command`` is None if the line does not name a command."""

    command: str | None
    error: str
    id: Mapping[str, Any] = field(factory=dict)


@frozen
class UiReply:
    """An answer to a dialog."""

    id: str
    data: Mapping[str, Any]


Parsed: TypeAlias = Asked | Refused | UiReply


def parse(line: bytes | None) -> Parsed:
    """Parse a line; None stands for a line that was too long, or for which there was no memory."""
    if line is None:
        return _no_json(f"the line is longer than {MAX_LINE} bytes, or than the memory that is left")
    try:
        data = json.loads(line.decode(), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        return _no_json(f"the line is not UTF-8 at byte {error.start}")
    except RecursionError:
        return _no_json("it is nested too deeply")
    except (ValueError, MemoryError) as error:
        return _no_json(str(error) or "there was not enough memory")
    if not isinstance(data, dict):
        return Refused(None, "Unknown command: undefined")
    return _command(data)


def _command(data: dict[str, Any]) -> Parsed:
    given = {"id": data["id"]} if "id" in data else {}
    name = data.get("type")
    if not isinstance(name, str):
        return Refused(None, f"Unknown command: {as_json(name) if 'type' in data else 'undefined'}", given)
    if name == _UI_RESPONSE:
        return _ui_reply(data, given)
    known = COMMANDS.get(name)
    if known is None:
        return Refused(name, f"Unknown command: {name}", given)
    try:
        return Asked(known.from_wire(data), given)
    except Mismatch as problem:
        if problem.missing:
            wrong = f"Command {name!r} needs the field {problem.field!r}, {problem.expected}"
        else:
            wrong = (
                f"Field {problem.field!r} of command {name!r} must be {problem.expected}, not {as_json(problem.value)}"
            )
        return Refused(name, wrong, given)


def _ui_reply(data: dict[str, Any], given: Mapping[str, Any]) -> Parsed:
    request_id = data.get("id")
    if isinstance(request_id, str):
        return UiReply(request_id, data)
    error = f"Field 'id' of an {_UI_RESPONSE!r} must be the id of the request, a string, not {as_json(request_id)}"
    return Refused(_UI_RESPONSE, error, given)


def _no_json(why: str) -> Refused:
    return Refused("parse", f"Failed to parse command: {why}")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def response(asked: Asked | Refused, **fields: Any) -> dict[str, Any]:
    """Return the response to a command, in the order in which pi writes its fields."""
    named = {} if asked.command is None else {"command": asked.command}
    return {**asked.id, "type": "response", **named, **fields}
