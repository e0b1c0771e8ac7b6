"""The answer to ``initialize``, which needs nothing else of pi: it is sent before the rest is imported.

This module imports only standard library modules that every start has already imported.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KEYS", "SIGN_IN", "Greeted", "greet", "greeting"]

_VERSION = 1
"""Version of the protocol."""

_MOST = 64 * 1024
"""Maximum bytes of a first line that is answered early; a longer one is left to the event loop."""

SIGN_IN = {
    "type": "terminal",
    "id": "pi-auth-login",
    "name": "Sign in with pi",
    "description": "Runs pi auth login in a terminal",
    "args": ["auth", "login"],
}

KEYS = {
    "type": "env_var",
    "id": "api-key",
    "name": "API key",
    "description": "The API key of a model provider",
    "vars": [{"name": f"{name}_API_KEY", "optional": True} for name in ("ANTHROPIC", "OPENAI", "GEMINI", "OPENROUTER")],
}


class Greeted(NamedTuple):
    """What was exchanged before the event loop started.

    Attributes:
        version: The agent's version.
        params: The parameters of the answered ``initialize`` request; empty if there was none.
        rest: Input that was read but not yet handled.
    """

    version: str
    params: dict[str, Any]
    rest: bytes


def greeting(params: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the result of ``initialize``."""
    auth = _object(_object(params, "clientCapabilities"), "auth")
    return {
        "protocolVersion": _VERSION,
        "agentInfo": {"name": "pi", "title": "pi", "version": version},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": True},
            "sessionCapabilities": {
                name: {} for name in ("list", "resume", "fork", "close", "delete", "additionalDirectories")
            },
            "auth": {"logout": {}},
        },
        "authMethods": [*([SIGN_IN] if auth.get("terminal") is True else []), KEYS],
    }


def greet(stdin: int, stdout: int, version: str) -> Greeted:
    """Wait for the first line on one descriptor; if it is an ``initialize`` request, answer it on the other."""
    read = _first_bytes(stdin)
    line, newline, rest = read.partition(b"\n")
    request = _request(line) if newline else None
    if request is None:
        return Greeted(version, {}, read)
    params = request.get("params", {})
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": greeting(params, version)}
    try:
        os.write(stdout, json.dumps(answer).encode() + b"\n")  # fits into the pipe, which is still empty
    except OSError:  # already closed: the next write notices it
        return Greeted(version, {}, read)
    return Greeted(version, params, rest)


def _first_bytes(stdin: int) -> bytes:
    read = b""
    while b"\n" not in read and len(read) < _MOST:
        try:
            chunk = os.read(stdin, _MOST)
        except OSError:  # as good as its end
            break
        if not chunk:
            break
        read += chunk
    return read


def _request(line: bytes) -> dict[str, Any] | None:
    """Return a valid ``initialize`` request; None for every other line."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("method") != "initialize" or "id" not in message:
        return None
    return message if isinstance(message.get("params", {}), dict) else None


def _object(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = given.get(name)
    return value if isinstance(value, dict) else {}
