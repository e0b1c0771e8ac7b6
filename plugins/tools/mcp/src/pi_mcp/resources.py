"""Resources of servers: tools that list and read them, and ``@server:uri`` in the user's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_core import one_line
from pi_hookspecs import Completion, PiError, Tool, ToolAnnotations, ToolResult
from pi_mcp.foreign import marked

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiAPI, PiContext
    from pi_mcp.hub import Hub

__all__ = ["Resources"]

_MENTION = r"(?<!\S)@([A-Za-z0-9_-]+):(\S+)"
_TRAILING = ".,;:!?)"
_SERVER = {"type": "string", "description": "Name of the MCP server; all that have resources when it is left out"}
_LISTING = {"type": "object", "properties": {"server": _SERVER}}
_READING = {
    "type": "object",
    "properties": {
        "server": {"type": "string", "description": "Name of the MCP server"},
        "uri": {"type": "string", "description": "The resource's URI"},
    },
    "required": ["server", "uri"],
}


class Resources:
    """Resources of the servers of a session.

    Args:
        pi: Registers the tools.
        hub: The servers.
    """

    def __init__(self, pi: PiAPI, hub: Hub) -> None:
        self._pi = pi
        self._hub = hub
        self._remove: list[Callable[[], None]] = []
        self._known: dict[str, list[dict[str, Any]]] = {}

    def apply(self) -> None:
        """Register the tools once a server has resources."""
        if self._remove or not self.servers():
            return
        listed = ("resources", "list_mcp_resources", "List the resources that MCP servers offer.")
        templates = ("templates", "list_mcp_resource_templates", "List the templates of resource URIs of MCP servers.")
        for do, name, description in (listed, templates):
            self._remove.append(self._pi.register_tool(self._lister(do, name, description)))
        self._remove.append(self._pi.register_tool(self._reader()))

    def clear(self) -> None:
        """Withdraw the tools."""
        for remove in self._remove:
            remove()
        self._remove.clear()

    def servers(self) -> list[str]:
        """Return the servers that are known to have resources."""
        known = {name: self._hub.offer.listing(name) for name in self._hub.remotes}
        return [
            name
            for name, about in known.items()
            if about and (about.get("capabilities") or {}).get("resources") is not None
        ]

    async def complete(self, typed: str) -> list[Completion]:
        """Return completions of a mention: servers, then the resources of one."""
        name, colon, start = typed.partition(":")
        if not colon:
            return [
                Completion(f"{each}:", description="MCP resources") for each in self.servers() if each.startswith(name)
            ]
        if name not in self.servers():
            return []
        if name not in self._known:
            self._known[name] = await self._hub.request(name, "resources")
        found = [each for each in self._known[name] if each["uri"].startswith(start) and each["uri"].isprintable()]
        return [
            Completion(f"{name}:{each['uri']}", description=one_line(each.get("description") or each["name"]))
            for each in found
        ]

    async def with_mentioned(self, text: str, ctx: PiContext) -> str:
        """Return a text with its mentioned resources appended."""
        from pi_core import prompt_element

        servers, parts = self.servers(), [text]
        for found in re.finditer(_MENTION, text):
            name, uri = found[1], found[2].rstrip(_TRAILING)
            if name not in servers:
                continue
            try:
                read = await self._hub.request(name, "read", uri=uri)
            except PiError as error:
                ctx.ui.notify(f"@{name}:{uri} cannot be read: {error}", "warning")
                continue
            parts.append(prompt_element("resource", read["text"], inside="resource", path=f"{name}:{uri}"))
        return "\n\n".join(parts)

    def _lister(self, do: str, name: str, description: str) -> Tool:
        async def execute(_id: str, params: dict[str, Any], _signal: Any, _update: Any, _ctx: Any) -> ToolResult:
            lines = []
            for server in [params["server"]] if params.get("server") else self.servers():
                self._check(server)
                lines += [_line(server, each) for each in await self._hub.request(server, do)]
            return ToolResult.text(marked("\n".join(lines), "List of MCP servers") if lines else "There are none.")

        return _read_only(name, description, _LISTING, execute)

    def _reader(self) -> Tool:
        async def execute(_id: str, params: dict[str, Any], _signal: Any, _update: Any, _ctx: Any) -> ToolResult:
            self._check(params["server"])
            read = await self._hub.request(params["server"], "read", uri=params["uri"])
            details = {"server": params["server"], "uri": params["uri"], "path": read["path"]}
            source = f"Resource of the MCP server {params['server']!r}"
            return ToolResult.text(marked(read["text"] or "(it is empty)", source), details=details)

        return _read_only("read_mcp_resource", "Read a resource of an MCP server.", _READING, execute)

    def _check(self, server: str) -> None:
        if server not in self.servers():
            raise PiError(f"No MCP server {server!r} has resources; these have: {', '.join(self.servers()) or 'none'}.")


def _line(server: str, resource: dict[str, Any]) -> str:
    about = one_line(resource.get("description") or "")[:200]
    address = resource.get("uri") or resource.get("uriTemplate")
    return f"{server}  {one_line(str(address))}  {one_line(resource.get('name', ''))}  {about}".rstrip()


def _read_only(name: str, description: str, schema: dict[str, Any], execute: Any) -> Tool:
    hints = ToolAnnotations(read_only=True)
    return Tool(name=name, description=description, parameters=schema, execute=execute, annotations=hints)
