"""Servers that are configured for other programs, in the form of ``mcp.json``."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CLIENTS", "found_servers"]

CLIENTS: dict[str, tuple[str, ...]] = {
    "claude": ("~/.claude.json", ".mcp.json"),
    "cursor": ("~/.cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": ("~/.config/Code/User/mcp.json", ".vscode/mcp.json"),
    "codex": ("~/.codex/config.toml",),
    "opencode": ("~/.config/opencode/opencode.json", "opencode.json"),
}
"""Files of other programs, starting with those in the home folder."""
_KEYS = ("mcpServers", "servers", "mcp_servers", "mcp")
_KEPT = ("type", "command", "args", "env", "cwd", "url", "headers", "disabled", "disabledTools", "enabled", "timeout")


def found_servers(client: str, home: Path, cwd: Path) -> tuple[dict[str, dict[str, Any]], list[Path]]:
    """Return the entries of another program, and their files.

    Raises:
        UserError: It has no file, or one that cannot be read.
    """
    places = [home / each[2:] if each.startswith("~/") else cwd / each for each in CLIENTS[client]]
    files = [file for file in places if file.is_file()]
    if not files:
        raise UserError(f"{client} has no servers here: none of these exists: {', '.join(map(str, places))}")
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        values = _read(file)
        entries: dict[str, Any] = next((values[key] for key in _KEYS if isinstance(values.get(key), dict)), {})
        found |= {name: _converted(each) for name, each in entries.items() if isinstance(each, dict)}
    return found, files


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
