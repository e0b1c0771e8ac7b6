"""Servers that are configured for other programs, in the form of ``mcp.json``.

A key that is written out there is not copied: the entry gets ``${NAME}``, and a note says what to set.
"""

from __future__ import annotations

import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_hookspecs.secrets import is_secret_name, is_secret_variable
from pi_mcp.entries import read_entry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["CLIENTS", "files_of", "rows_of", "servers_in", "servers_of_folder", "without_secrets"]

CLIENTS: dict[str, tuple[str, ...]] = {
    "claude": ("~/.claude.json", ".mcp.json"),
    "cursor": ("~/.cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": ("~/.config/Code/User/mcp.json", ".vscode/mcp.json"),
    "codex": ("~/.codex/config.toml", ".codex/config.toml"),
    "gemini": ("~/.gemini/settings.json", ".gemini/settings.json"),
    "opencode": (
        "~/.config/opencode/opencode.json",
        "~/.config/opencode/opencode.jsonc",
        "opencode.json",
        "opencode.jsonc",
        ".opencode/opencode.json",
    ),
}
"""Files of other programs: of the user, which begin with ``~/``, and of the project."""
_KEYS = ("mcpServers", "servers", "mcp_servers", "mcp")
_MILLISECONDS = 1000
"""A timeout of at least so much is in milliseconds: Claude Code, Gemini CLI and opencode count in these."""

_REFERENCE = re.compile(r"\$\{[A-Za-z_]\w*(?::-[^}]*)?\}")
_GEMINI_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_OPENCODE_VARIABLE = re.compile(r"\{env:(\w+)\}")
_OPTION = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.+))?", re.DOTALL)
_QUERY = re.compile(r"([?&])([^=&#]+)=([^&#]+)")
_KEPT = ("type", "command", "args", "env", "cwd", "url", "headers", "disabled", "disabledTools", "enabled", "timeout")


def files_of(client: str, home: Path, cwd: Path, *, optional: bool = False) -> tuple[list[Path], list[Path]]:
    """Return the existing files of another program: those of the user, and those of the project, not yet read.

    Args:
        client: The program, one of ``CLIENTS``.
        home: The user's home folder.
        cwd: The project's folder.
        optional: Whether it can have none.

    Raises:
        UserError: It has none.
    """
    own = [home / each[2:] for each in CLIENTS[client] if each.startswith("~/")]
    project = [file for each in CLIENTS[client] if not each.startswith("~/") and (file := cwd / each) not in own]
    found = [file for file in own if file.is_file()], [file for file in project if file.is_file()]
    if not any(found) and not optional:
        places = ", ".join(map(str, own + project))
        raise UserError(f"{client} has no servers here: none of these exists: {places}")
    return found


def servers_in(file: Path, cwd: Path | None = None) -> dict[str, dict[str, Any]]:
    """Return the entries in a file of another program, in the form of ``mcp.json``.

    Args:
        file: The file.
        cwd: The working directory, for which Claude Code has further servers in the user's file.

    Raises:
        UserError: The file cannot be read.
    """
    values = _read(file)
    servers = values.get("mcpServers")
    of_gemini = file.parent.name == ".gemini"
    keys = ("mcpServers",) if of_gemini else _KEYS  # its ``mcp`` says which servers are used
    entries: dict[str, Any] = next((values[key] for key in keys if isinstance(values.get(key), dict)), {})
    if cwd is not None:
        entries = {**entries, **_of_folder(values, cwd)}
    found = {str(name): _converted(each) for name, each in entries.items() if isinstance(each, dict)}
    if of_gemini and isinstance(servers, dict):
        found = {
            name: {**_with_variables(each, _GEMINI_VARIABLE), **_switch(name, values)} for name, each in found.items()
        }
    return {name: _with_variables(each, _OPENCODE_VARIABLE) for name, each in found.items()}


def servers_of_folder(file: Path, cwd: Path) -> set[str]:
    """Return the names of servers that Claude Code has in the user's file for one working directory alone.

    Raises:
        UserError: The file cannot be read.
    """
    return set(_of_folder(_read(file), cwd))


def _of_folder(values: dict[str, Any], cwd: Path) -> dict[str, Any]:
    projects = values.get("projects")
    own = projects.get(os.path.realpath(cwd)) if isinstance(projects, dict) else None
    servers = own.get("mcpServers") if isinstance(own, dict) else None
    return {str(name): each for name, each in servers.items()} if isinstance(servers, dict) else {}


def _with_variables(value: Any, variable: re.Pattern[str]) -> Any:
    """Return an entry in which references to variables have the form ``${NAME}``."""
    if isinstance(value, dict):
        return {key: _with_variables(each, variable) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_variables(each, variable) for each in value]
    return variable.sub(r"${\1}", value) if isinstance(value, str) else value


def _switch(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the key that turns off a server which Gemini CLI does not use."""
    lists = values.get("mcp")
    lists = lists if isinstance(lists, dict) else {}
    excluded, allowed = lists.get("excluded"), lists.get("allowed")
    off = (isinstance(excluded, list) and name in excluded) or (isinstance(allowed, list) and name not in allowed)
    return {"enabled": False} if off else {}


def without_secrets(name: str, entry: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return an entry with variables in place of keys that are written out, and what the user has to set.

    Args:
        name: The server, after which variables are named that have no name of their own.
        entry: The entry.
    """
    prefix = re.sub(r"\W", "_", name).upper()
    variables: list[str] = []

    def hidden(variable: str) -> str:
        variables.append(variable)
        return f"${{{variable}}}"

    def field(key: str, value: Any, variable: str) -> Any:
        is_open = isinstance(value, str) and not _REFERENCE.search(value) and not value.startswith("!")
        if not is_open or not value or not is_secret_variable(key, value):
            return value
        scheme, found, _ = value.partition(" ")
        known = found and scheme.lower() in ("bearer", "basic", "token")
        return f"{scheme} {hidden(variable)}" if known else hidden(variable)

    kept = dict(entry)
    for key in ("env", "headers"):
        if isinstance(entry.get(key), dict):
            kept[key] = {
                each: field(
                    each, value, each if key == "env" else f"{prefix}_{re.sub(r'[^A-Za-z0-9]', '_', each).upper()}"
                )
                for each, value in entry[key].items()
            }
    if isinstance(entry.get("url"), str):
        kept["url"] = field(
            "url", _QUERY.sub(lambda found: _query(found, prefix, hidden), entry["url"]), f"{prefix}_URL"
        )
    if isinstance(entry.get("args"), list):
        kept["args"] = _arguments(entry["args"], prefix, hidden)
    notes = [f"keys are not copied: set {', '.join(dict.fromkeys(variables))}"] if variables else []
    return kept, notes


def _query(found: re.Match[str], prefix: str, hidden: Any) -> str:
    key, value = found[2], found[3]
    if not is_secret_name(key) or _REFERENCE.search(value):
        return found[0]
    return f"{found[1]}{key}={hidden(f'{prefix}_' + re.sub(r'[^A-Za-z0-9]', '_', key).upper())}"


def _arguments(arguments: list[Any], prefix: str, hidden: Any) -> list[Any]:
    """Return arguments without the values of options that are named like secrets."""
    kept: list[Any] = []
    secret = None
    for each in arguments:
        option = _OPTION.fullmatch(each) if isinstance(each, str) else None
        if secret is not None and option is None and isinstance(each, str) and not _REFERENCE.search(each):
            kept.append(hidden(secret))
            secret = None
            continue
        secret = None
        if option is not None and is_secret_name(option[1]):
            variable = f"{prefix}_{option[1].replace('-', '_').upper()}"
            if option[2] is None:
                secret = variable
            elif not _REFERENCE.search(option[2]):
                kept.append(f"{each[: each.index('=')]}={hidden(variable)}")
                continue
        kept.append(each)
    return kept


def rows_of(
    file: Path, found: Mapping[str, dict[str, Any]], existing: Mapping[str, Any], target: Path
) -> list[dict[str, Any]]:
    """Return a row for each entry: its name, ``state`` (``free``, ``same``, ``other``, ``invalid``) and notes.

    Args:
        file: Where the entries are.
        found: The entries.
        existing: The entries of the file that they are copied to.
        target: That file.
    """
    rows = []
    for name, entry in found.items():
        kept, notes = without_secrets(name, entry)
        state = "free" if name not in existing else "same" if existing[name] == kept else "other"
        try:
            read_entry(name, kept, scope="user", origin="")
        except ValueError as error:
            state, notes = "invalid", [str(error)]
        rows.append(
            {"name": name, "state": state, "source": str(file), "target": str(target), "notes": notes, "entry": kept}
        )
    return rows


def _read(file: Path) -> dict[str, Any]:
    from pi_core import read_json

    try:
        text = file.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text) if file.suffix == ".toml" else read_json(text)[0]
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: cannot be read: {error}") from error
    return values if isinstance(values, dict) else {}


def _tools(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the keys for the tools that Gemini CLI and codex leave out, or offer alone."""
    kept: dict[str, Any] = {}
    refused = entry.get("excludeTools", entry.get("disabled_tools"))
    offered = entry.get("includeTools", entry.get("enabled_tools"))
    if isinstance(refused, list):
        kept["disabledTools"] = refused
    if isinstance(offered, list):
        kept["toolExposure"] = {**{str(each): "direct" for each in offered}, "*": "hidden"}
    return kept


def _converted(entry: dict[str, Any]) -> dict[str, Any]:
    """Convert an entry to our keys: opencode uses lists as commands, codex names of variables."""
    kept = {key: entry[key] for key in _KEPT if key in entry}
    if isinstance(entry.get("command"), list):
        kept["command"], *kept["args"] = entry["command"]
    if isinstance(entry.get("environment"), dict):
        kept["env"] = entry["environment"]
    if kept.get("type") in ("local", "remote"):
        del kept["type"]
    if isinstance(entry.get("httpUrl"), str):  # of Gemini CLI; its ``url`` is of the older transport
        kept["url"] = entry["httpUrl"]
    kept.update(_tools(entry))
    timeout = kept.get("timeout", entry.get("tool_timeout_sec"))
    if isinstance(timeout, int | float) and not isinstance(timeout, bool):
        kept["timeout"] = timeout / 1000 if timeout >= _MILLISECONDS else timeout
    headers = {**(kept.get("headers") or {}), **(entry.get("http_headers") or {})}
    for name, variable in (entry.get("env_http_headers") or {}).items():
        headers[name] = f"${{{variable}}}"
    if isinstance(entry.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{entry['bearer_token_env_var']}}}"
    return {**kept, "headers": headers} if headers else kept
