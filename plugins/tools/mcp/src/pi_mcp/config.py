"""Reads the files that configure servers, in order of precedence; an invalid entry does not affect the others."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from attrs import Factory, evolve, frozen

from pi_mcp.entries import EXPOSURES, Server, read_entry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pi_hookspecs import McpServer
    from pi_mcp.entries import Scope

__all__ = ["Servers", "load_servers", "project_files", "read_servers", "servers_of", "user_file"]

_OVERRIDES = {"enabled", "disabled", "exposure", "toolExposure"}


@frozen(kw_only=True, eq=False)
class Servers:
    """Configured servers by name, and the problems of their files.

    Attributes:
        servers: In the order of their files.
        problems: Sentences that name file and line; the entries concerned are not used.
        notices: Sentences about keys that have no effect.
        overrides: Entries that only change a server from another file.
    """

    servers: dict[str, Server] = Factory(dict)
    problems: list[str] = Factory(list)
    notices: list[str] = Factory(list)
    overrides: dict[str, tuple[dict[str, Any], str, Scope]] = Factory(dict)


def user_file(agent_dir: Path) -> Path:
    """Return the user's own file."""
    return agent_dir / "mcp.json"


def project_files(cwd: Path) -> tuple[Path, Path]:
    """Return a project's files, the one with precedence last."""
    return cwd / ".mcp.json", cwd / ".pi" / "mcp.json"


def load_servers(agent_dir: Path, cwd: Path, *, trusted: bool, registered: Iterable[McpServer] = ()) -> Servers:
    """Return the servers of all files, and those that plugins registered; files have precedence over plugins.

    Args:
        agent_dir: The folder of the user's own files.
        cwd: The project's folder.
        trusted: Whether to read the project's files.
        registered: Servers that plugins registered.
    """
    parts = [servers_of({each.name: each.config}, "plugin", f"plugin {each.plugin}") for each in registered]
    parts.append(_read_file(user_file(agent_dir), "user"))
    if trusted:
        parts += [_read_file(file, "project") for file in project_files(cwd)]
    return _merged(parts)


def _read_file(file: Path, scope: Scope) -> Servers:
    try:
        if not file.exists():
            return Servers()
        if not file.is_file():
            return Servers(problems=[f"{file}: it is not a file; move it away"])
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        return Servers(problems=[f"{file}: cannot be read: {error}"])
    return read_servers(text, os.fspath(file), scope)


def read_servers(text: str, file: str, scope: Scope) -> Servers:
    """Parse the servers in the text of a file; never raises."""
    try:
        values = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        return Servers(problems=[f"{file}:{error.lineno}:{error.colno}: {error.msg}; none of its servers is used"])
    except (ValueError, RecursionError) as error:
        return Servers(problems=[f"{file}: {error}; none of its servers is used"])
    if not isinstance(values, dict):
        return Servers(problems=[f'{file}:1: it must be an object: {{"mcpServers": {{...}}}}'])
    entries = values.get("mcpServers", values.get("servers", {}))
    if not isinstance(entries, dict):
        return Servers(
            problems=[f"{file}:{_line(text, 'mcpServers')}: mcpServers must be an object of servers by name"]
        )
    return servers_of(entries, scope, file, text)


def servers_of(entries: dict[str, Any], scope: Scope, origin: str, text: str = "") -> Servers:
    """Return the servers of an object of entries by name.

    Args:
        entries: The entries.
        scope: The kind of file that contains them.
        origin: The file, for messages.
        text: The file's text, for line numbers.
    """
    found = Servers()
    for name, entry in entries.items():
        place = f"{origin}:{_line(text, name)}" if text else origin
        if isinstance(entry, dict) and entry and set(entry) <= _OVERRIDES:
            found.overrides[name] = (entry, place, scope)
            continue
        try:
            server, notices = read_entry(name, entry, scope=scope, origin=place)
        except (ValueError, RecursionError) as error:
            found.problems.append(f"{place}: the MCP server {name!r} is not used: {error}")
            continue
        found.servers[name] = server
        found.notices.extend(f"{place}: {name}: {each}" for each in notices)
    return found


def _merged(parts: list[Servers]) -> Servers:
    whole = Servers()
    for part in parts:
        whole.problems.extend(part.problems)
        whole.notices.extend(part.notices)
        whole.servers.update(part.servers)
        for name, (entry, place, scope) in part.overrides.items():
            _override(whole, name, entry, place, scope)
    first: dict[str, str] = {}
    for name, server in list(whole.servers.items()):
        other = first.setdefault(name.replace("-", "_"), name)
        if other != name:
            del whole.servers[name]
            text = f"{server.origin}: the MCP server {name!r} is not used: its tools would have the names of those of"
            whole.problems.append(f"{text} {other!r}; rename one of the two")
    return whole


def _override(whole: Servers, name: str, entry: dict[str, Any], place: str, scope: Scope) -> None:
    """Apply an entry that only overrides another one, or report why it cannot.

    A project's file only makes the user's entry stricter: it can disable the server and hide tools.
    """
    server = whole.servers.get(name)
    if server is None:
        whole.problems.append(f"{place}: the MCP server {name!r} is not used: it has neither command nor url")
        return
    try:
        probe, _ = read_entry(name, {"command": "x", **entry}, scope=server.scope, origin=place)
    except ValueError as error:
        whole.problems.append(f"{place}: its entry for the MCP server {name!r} is not used: {error}")
        return
    changes: dict[str, Any] = {}
    is_strangers = scope == "project" and server.scope != "project"
    if entry.keys() & {"enabled", "disabled"}:
        changes["enabled"] = probe.enabled and (server.enabled or not is_strangers)
    if entry.get("exposure") in EXPOSURES:
        changes["exposure"] = probe.exposure
    if entry.get("toolExposure"):
        changes["tool_exposure"] = {**server.tool_exposure, **probe.tool_exposure}
    if is_strangers:
        changes["hidden"] = _hidden(server)
    changed = evolve(server, **changes)
    if is_strangers and (probe.enabled and not server.enabled):
        whole.notices.append(f"{place}: {name} stays disabled: a project cannot enable a server of yours")
    whole.servers[name] = changed


def _hidden(server: Server) -> tuple[str, ...]:
    """Return the patterns of the tools that the user has hidden."""
    every = ("*",) if server.exposure == "hidden" else ()
    return (*server.hidden, *every, *(name for name, exposure in server.tool_exposure.items() if exposure == "hidden"))


def _line(text: str, name: str) -> int:
    """Return the line of a key: the last one of that name, because keys inside servers come earlier."""
    key, found, start = json.dumps(name, ensure_ascii=False), 0, -1
    while (start := text.find(key, start + 1)) >= 0:  # an expression for each name would have to be compiled
        end = start + len(key)
        while text[end : end + 1].isspace():
            end += 1
        if text[end : end + 1] == ":":
            found = start
            if text.rfind("mcpServers", 0, found) >= 0 or text.rfind("servers", 0, found) >= 0:
                break
    return text.count("\n", 0, found) + 1
