"""Reads request parameters; missing or mistyped ones are rejected by name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_acp.peer import INVALID_PARAMS, RpcError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["absolute_folder", "folders", "mcp_servers", "optional_text", "text", "trace_context"]


def text(params: Mapping[str, Any], name: str) -> str:
    """Return a text.

    Raises:
        RpcError: It is missing or not a string.
    """
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise _wrong(name, "a string", value)
    return value


def optional_text(params: Mapping[str, Any], name: str) -> str | None:
    """Return a text; None if it is missing or null.

    Raises:
        RpcError: It is not a string.
    """
    return None if params.get(name) is None else text(params, name)


def absolute_folder(params: Mapping[str, Any], name: str = "cwd") -> Path:
    """Return a folder that exists.

    Raises:
        RpcError: The path is relative, or not a folder.
    """
    return _folder(text(params, name), name)


def folders(params: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the additional folders of a session.

    Raises:
        RpcError: One is relative, or not a folder.
    """
    given = params.get("additionalDirectories") or []
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise _wrong("additionalDirectories", "a list of paths", given)
    return tuple(_folder(each, "additionalDirectories") for each in given)


def mcp_servers(params: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the client's MCP servers, by name, as entries of ``mcpServers`` in ``mcp.json``.

    Raises:
        RpcError: One has no name, or the value is not a list.
    """
    given = params.get("mcpServers") or []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise _wrong("mcpServers", "a list of servers", given)
    servers: dict[str, dict[str, Any]] = {}
    for each in given:
        name = re.sub(r"[^A-Za-z0-9_-]", "_", text(each, "name"))[:128]
        while name in servers:
            name = f"{name[:126]}_2"
        servers[name] = _server(each)
    return servers


def trace_context(params: Mapping[str, Any]) -> dict[str, str]:
    """Return ``traceparent`` and ``tracestate`` of the client's own span; empty if ``_meta`` has none."""
    meta = params.get("_meta")
    given = meta if isinstance(meta, dict) else {}
    return {name: given[name] for name in ("traceparent", "tracestate") if isinstance(given.get(name), str)}


def _server(given: Mapping[str, Any]) -> dict[str, Any]:
    kind = given.get("type", "stdio")
    if kind == "stdio":
        return {
            "command": text(given, "command"),
            "args": [str(each) for each in given.get("args") or ()],
            "env": dict(_pairs(given.get("env"))),
        }
    return {"type": kind, "url": text(given, "url"), "headers": dict(_pairs(given.get("headers")))}


def _pairs(given: Any) -> Iterator[tuple[str, str]]:
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            yield each["name"], str(each.get("value", ""))


def _folder(path: str, name: str) -> Path:
    if not os.path.isabs(path):  # noqa: PTH117 - the text as given
        raise _wrong(name, "an absolute path", path)
    if not Path(path).is_dir():
        raise _wrong(name, "the path of a folder that exists", path)
    return Path(path)


def _wrong(name: str, expected: str, value: Any) -> RpcError:
    return RpcError(INVALID_PARAMS, f"Invalid params: {name!r} must be {expected}, not {value!r:.200}")
