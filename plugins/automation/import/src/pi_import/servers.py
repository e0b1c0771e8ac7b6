"""MCP servers of other agents: the plugin ``mcp`` takes them over (``pi mcp import``), if it is installed."""

from __future__ import annotations

import contextlib
import io
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError
from pi_import.steps import Step, left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_import.place import Place

__all__ = ["server_steps"]


def server_steps(agent: str, places: list[Place], host: Any) -> Iterator[Step]:
    """Yield the steps for the MCP servers of an agent.

    Args:
        agent: Its name in ``pi mcp import``.
        places: The user's place, and the project's if it is trusted.
        host: The plugins.
    """
    for place in places:
        arguments = ["import", agent, "--json", "--only", place.scope]
        if place.scope == "project":  # places are those that are trusted
            arguments += ["--local", "--approve"]
        registered = host.find("register_subcommands", "mcp")
        if registered is None:
            yield from _without_plugin(agent, place)
            continue
        try:
            rows = _rows(registered.thing, [*arguments, "--dry-run"], host)
        except (PiError, ValueError) as error:
            yield left_out("mcp", "servers", agent, str(error).rstrip("."), scope=place.scope)
            continue
        run = partial(_copy, registered.thing, arguments, host)
        for row in rows:
            outcome = "already" if row["state"] == "same" else "taken" if row["state"] == "free" else "not"
            why = "; ".join(row["notes"]) if outcome == "taken" or row["state"] == "invalid" else ""
            if row["state"] == "other":
                why = f"{row['target']} has another server of this name; it is kept"
            if outcome == "already" and row["target"] == row["source"]:
                why = "pi reads it where it is, and asks before it starts the server"
            yield Step(
                kind="mcp",
                name=row["name"],
                source=place.label(Path(row["source"])),
                outcome="differently" if outcome == "taken" and why else outcome,  # type: ignore[arg-type] # one of four
                why=why,
                target=row["target"],
                scope=place.scope,
                apply=run if outcome == "taken" else None,
            )


def _rows(subcommand: Any, arguments: list[str], host: Any) -> list[dict[str, Any]]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        subcommand.run(arguments, host)
    rows = json.loads(output.getvalue() or "[]")
    return [row for row in rows if isinstance(row, dict)]


def _copy(subcommand: Any, arguments: list[str], host: Any) -> None:
    _rows(subcommand, arguments, host)


_FILES = {
    "claude": (".claude.json", ".mcp.json"),
    "codex": (".codex/config.toml", ".codex/config.toml"),
    "opencode": (".config/opencode/opencode.json", "opencode.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
}
_KEYS = ("mcpServers", "mcp_servers", "mcp")


def _without_plugin(agent: str, place: Place) -> Iterator[Step]:
    file = Path(place.root, _FILES[agent][place.scope == "project"])
    values = place.object_of(file)
    names = [name for key in _KEYS if isinstance(values.get(key), dict) for name in values[key]]
    if names:
        from pi_core import install_command

        why = f"it needs the extra mcp: {install_command('mcp')}, then pi import again"
        yield left_out("mcp", ", ".join(map(str, names)), place.label(file), why, scope=place.scope)
