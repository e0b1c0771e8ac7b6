"""Servers that are configured for other programs, in the form of ``mcp.json``."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CLIENTS", "files_of", "servers_in"]

CLIENTS: dict[str, tuple[str, ...]] = {
    "claude": ("~/.claude.json", ".mcp.json"),
    "cursor": ("~/.cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": ("~/.config/Code/User/mcp.json", ".vscode/mcp.json"),
    "codex": ("~/.codex/config.toml",),
    "opencode": ("~/.config/opencode/opencode.json", "opencode.json"),
}
"""Files of other programs: of the user, which begin with ``~/``, and of the project."""
_KEYS = ("mcpServers", "servers", "mcp_servers", "mcp")
_KEPT = ("type", "command", "args", "env", "cwd", "url", "headers", "disabled", "disabledTools", "enabled", "timeout")


def files_of(client: str, home: Path, cwd: Path) -> tuple[list[Path], list[Path]]:
    """Return the existing files of another program: those of the user, and those of the project, not yet read.

    Raises:
        UserError: It has none.
    """
    own = [home / each[2:] for each in CLIENTS[client] if each.startswith("~/")]
    project = [cwd / each for each in CLIENTS[client] if not each.startswith("~/")]
    found = [file for file in own if file.is_file()], [file for file in project if file.is_file()]
    if not any(found):
        places = ", ".join(map(str, own + project))
        raise UserError(f"{client} has no servers here: none of these exists: {places}")
    return found


def servers_in(file: Path) -> dict[str, dict[str, Any]]:
    """Return the entries in a file of another program, in the form of ``mcp.json``.

    Raises:
        UserError: The file cannot be read.
    """
    values = _read(file)
    entries: dict[str, Any] = next((values[key] for key in _KEYS if isinstance(values.get(key), dict)), {})
    return {name: _converted(each) for name, each in entries.items() if isinstance(each, dict)}


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: cannot be read: {error}") from error
    return values if isinstance(values, dict) else {}


def _converted(entry: dict[str, Any]) -> dict[str, Any]:
    """Convert an entry to our keys: opencode uses lists as commands, codex names of variables."""
    kept = {key: entry[key] for key in _KEPT if key in entry}
    if isinstance(entry.get("command"), list):
        kept["command"], *kept["args"] = entry["command"]
    if isinstance(entry.get("environment"), dict):
        kept["env"] = entry["environment"]
    if kept.get("type") in ("local", "remote"):
        del kept["type"]
    headers = {**(kept.get("headers") or {}), **(entry.get("http_headers") or {})}
    for name, variable in (entry.get("env_http_headers") or {}).items():
        headers[name] = f"${{{variable}}}"
    if isinstance(entry.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{entry['bearer_token_env_var']}}}"
    return {**kept, "headers": headers} if headers else kept
