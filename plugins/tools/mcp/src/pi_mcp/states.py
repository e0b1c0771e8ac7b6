"""The state of each of a session's servers, for display and for programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_core import one_line

if TYPE_CHECKING:
    from pi_mcp.hub import Hub

__all__ = ["report_of", "row_of", "rows_text", "tool_lines", "tools_counted"]

_SCOPES = {"user": "global"}
"""The original's words for ours."""


def row_of(hub: Hub, name: str) -> dict[str, Any]:
    """Return name, state, number of tools (None if unknown) and of those beyond the limit, scope, transport, error."""
    server, remote, about = hub.servers[name], hub.remotes.get(name), hub.offer.listing(name)
    state = "disabled" if not server.enabled else "not approved" if remote is None else remote.state
    if state == "off":
        state = "ready"  # it is started by its first call
    return {
        "name": name,
        "state": state,
        "tools": len(about["tools"]) if about is not None else None,
        "leftOut": (about or {}).get("left_out") or 0,
        "scope": server.scope,
        "transport": server.transport,
        "error": remote.error if remote is not None else "",
    }


def report_of(hub: Hub, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a server as the original's ``mcp list --json`` does, with ``leftOut``; no secrets."""
    from pi_mcp.imports import without_secrets

    name = row["name"]
    server = hub.servers[name]
    entry, _ = without_secrets(name, server.config)
    command = " ".join(map(str, [entry.get("command", ""), *entry.get("args", ())]))
    report = {
        "name": name,
        "scope": _SCOPES.get(row["scope"], row["scope"]),
        "source": re.sub(r":\d+$", "", server.origin),
        "enabled": server.enabled,
        "exposure": server.exposure,
        "transport": re.sub(r"(?<=://)[^/?#]*@", "", str(entry.get("url") or "")) or command,
        "state": row["state"],
        "tools": [each["name"] for each in (hub.offer.listing(name) or {"tools": []})["tools"]],
        "leftOut": row["leftOut"],
    }
    return {**report, "error": row["error"]} if row["error"] else report


def rows_text(rows: list[dict[str, Any]]) -> str:
    """Return rows as lines in columns."""
    width = max((len(row["name"]) for row in rows), default=0)
    lines = []
    for row in rows:
        count = "" if row["tools"] is None else tools_counted(row["tools"], row["leftOut"])
        about = f"{row['transport']:5}  {row['scope']:7}  {one_line(row['error'])}"
        line = f"{row['name']:{width}}  {row['state']:12}  {count:9}  {about}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def tools_counted(used: int, left_out: int = 0) -> str:
    """Return a number of tools in words: those that are used, of all if some are left out."""
    whole = used + left_out
    return f"{used}{f' of {whole}' if left_out else ''} {'tool' if whole == 1 else 'tools'}"


def tool_lines(hub: Hub, name: str) -> list[str]:
    """Return a line for each tool of a server: name for the model, when it is offered, description."""
    about = hub.offer.listing(name) or {"tools": []}
    described = {each["name"]: one_line(each.get("description") or "")[:100] for each in about["tools"]}
    offered = hub.offer.tools_of(name)
    return [f"{full}  {exposure}  {described.get(tool, '')}".rstrip() for tool, (full, exposure) in offered.items()]
