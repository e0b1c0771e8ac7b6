"""The protocol as JSON schemas: commands, responses, events, and the requests to the user interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_client.commands import COMMANDS
from pi_client.events import EVENTS, UI_METHODS, UPDATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_client.fields import Kind
    from pi_client.values import JsonObject

__all__ = ["schemas"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, JsonObject]:
    """Return the schemas by name: ``commands``, ``responses``, ``events`` and ``ui``."""
    return {
        "commands": _one_of("Commands and replies on pi's stdin, one per line.", [*_commands(), _ui_response()]),
        "responses": _one_of("Responses to commands.", [*_responses(), _failure()]),
        "events": _one_of("Events on pi's stdout, one per line.", _events()),
        "ui": _one_of("Requests of plugins to the user.", [_ui_request(name) for name in UI_METHODS]),
    }


def _one_of(description: str, variants: list[JsonObject]) -> JsonObject:
    return {"$schema": _DIALECT, "description": description, "oneOf": variants}


def _commands() -> list[JsonObject]:
    return [
        _tagged(each.schema(), {"type": name}, {"id": {}}, (each.__doc__ or "").splitlines()[0])
        for name, each in COMMANDS.items()
    ]


def _responses() -> list[JsonObject]:
    made = []
    for name, each in COMMANDS.items():
        schema: JsonObject = {"type": "object"}
        if each.result is not None:
            data = dict(each.result.schema)
            schema["required"] = ["data"]
            schema["properties"] = {"data": {"anyOf": [data, {"type": "null"}]} if each.may_be_null else data}
        made.append(_tagged(schema, {"type": "response", "command": name, "success": True}, {"id": {}}))
    return made


def _failure() -> JsonObject:
    """A command that failed; ``command`` is ``parse`` for a line that is not JSON, absent without a command's name."""
    fields = {"id": {}, "command": {"type": "string"}, "error": {"type": "string"}}
    return _tagged({"type": "object", "required": ["error"]}, {"type": "response", "success": False}, fields)


def _events() -> list[JsonObject]:
    made = []
    for name, fields in EVENTS.items():
        schema = _tagged(_object(fields), {"type": name})
        if name == "message_update":
            updates = [_tagged(_object(each), {"type": kind}) for kind, each in UPDATES.items()]
            schema["properties"]["assistantMessageEvent"] = {"oneOf": updates}
        made.append(schema)
    return made


def _ui_request(method: str) -> JsonObject:
    fields = {"id": {"type": "string"}}
    schema = _object(UI_METHODS[method])
    schema["required"] = ["id", *schema.get("required", ())]
    return _tagged(schema, {"type": "extension_ui_request", "method": method}, fields)


def _ui_response() -> JsonObject:
    text, yes = {"type": "string"}, {"type": "boolean"}
    fields = {"id": text, "value": {"type": ["string", "boolean"]}, "confirmed": yes, "cancelled": yes}
    return _tagged(
        {"type": "object", "required": ["id"]},
        {"type": "extension_ui_response"},
        fields,
        "Answer a dialog of a plugin; it gets no response.",
    )


def _object(fields: Mapping[str, Kind]) -> JsonObject:
    required = [name for name in fields if not name.endswith("?")]
    properties = {name.removesuffix("?"): dict(kind.schema) for name, kind in fields.items()}
    return {"type": "object", "required": required, "properties": properties}


def _tagged(
    schema: JsonObject, tags: Mapping[str, Any], fields: Mapping[str, Any] | None = None, description: str = ""
) -> JsonObject:
    """Return an object's schema with fields that have one value, and further ones."""
    properties = {name: {"const": value} for name, value in tags.items()}
    made = {
        "type": "object",
        "required": [*tags, *schema.get("required", ())],
        "properties": {**properties, **(fields or {}), **schema.get("properties", {})},
    }
    return {"description": description, **made} if description else made
