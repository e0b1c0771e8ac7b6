"""The OpenAPI description of the ASGI application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["description"]

_ID = {"name": "session", "in": "path", "required": True, "schema": {"type": "string"}}


def description(root_path: str, commands: Sequence[str]) -> dict[str, Any]:
    """Return the description, version 3.1.

    Args:
        root_path: The path at which the application is mounted.
        commands: The names of the commands that clients may send.
    """
    command = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": [*commands]}, "id": {"type": "string"}},
        "description": "A command of the RPC protocol with its fields, such as {'type': 'prompt', 'message': 'Hello'}",
    }
    answered = {"type": "object", "required": ["type", "success"], "properties": {"success": {"type": "boolean"}}}
    session = {"type": "object", "required": ["session"], "properties": {"session": {"type": "string"}}}
    sessions = {"type": "object", "properties": {"sessions": {"type": "array", "items": {"type": "string"}}}}
    stored = {"type": "object", "properties": {"session": {"type": "string", "description": "Id of a stored session"}}}
    text = {"schema": {"type": "string"}, "in": "query"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sessions of pi", "version": "1"},
        "servers": [{"url": root_path or "/"}],
        "paths": {
            "/sessions": {
                "get": _operation("List your open sessions", 200, sessions),
                "post": _operation("Open a new session, or a stored one", 201, session, body=stored),
            },
            "/sessions/{session}": {
                "parameters": [_ID],
                "delete": _operation("Close a session", 204),
            },
            "/sessions/{session}/commands": {
                "parameters": [_ID, {"name": "stream", **text, "description": "The stream that gets the response"}],
                "post": _operation("Send a command, and get its response", 200, answered, body=command),
            },
            "/sessions/{session}/events": {
                "parameters": [
                    _ID,
                    {"name": "since", **text, "description": "Id of the last entry that you have"},
                    {"name": "role", "in": "query", "schema": {"enum": ["control", "observe"], "default": "control"}},
                ],
                "get": _operation("Follow a session", 200, {"type": "string"}, kind="text/event-stream"),
            },
        },
    }


def _operation(
    summary: str, status: int, schema: Any = None, *, body: Any = None, kind: str = "application/json"
) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": summary}
    if schema is not None:
        answer["content"] = {kind: {"schema": schema}}
    problem = {"schema": {"type": "object", "properties": {"error": {"type": "string"}}}}
    wrong = {"description": "What was wrong", "content": {"application/json": problem}}
    operation: dict[str, Any] = {"summary": summary, "responses": {str(status): answer, "4XX": wrong}}
    if body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return operation
