"""The tools of servers that are registered in a session: their names, and which the model is offered directly."""

from __future__ import annotations

import hashlib
import json
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_mcp.tools import make_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pi_hookspecs import PiAPI, Tool, ToolResult
    from pi_mcp.entries import Server
    from pi_mcp.remote import Remote
    from pi_mcp.search import Found

__all__ = ["Exposures", "Offer", "size_of", "tool_names"]

MOST_TOOLS = 30
SHARE = 0.05
"""Share of the context window that tools of servers with ``auto`` may use in total."""
_CHARACTERS = 4
"""Characters of a token, roughly."""

_LONGEST = 64
"""Characters that every model's API accepts in the name of a tool."""
_ALLOWED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def tool_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """Return the name for the model of each tool of a server: ``mcp__server__tool``.

    Equal names and names that are too long get a suffix derived from their own name, so that a name does not depend on
    other tools unless they collide.
    """
    plain = {tool: f"mcp__{server.replace('-', '_')}__{_plain(tool)}" for tool in dict.fromkeys(tools)}
    counts: dict[str, int] = {}
    for name in plain.values():
        counts[name.lower()] = counts.get(name.lower(), 0) + 1
    return {
        tool: name if counts[name.lower()] == 1 and len(name) <= _LONGEST else _suffixed(server, name, tool)
        for tool, name in plain.items()
    }


def _plain(tool: str) -> str:
    """Return a name with ``_`` for each character that a model's API refuses."""
    if _ALLOWED.issuperset(tool):
        return tool
    return "".join(each if each in _ALLOWED else "_" for each in tool)


def _suffixed(server: str, name: str, tool: str) -> str:
    mark = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _LONGEST - 9]}_{mark}"


def size_of(tools: list[dict[str, Any]]) -> int:
    """Return the estimated tokens of tool declarations."""
    return (
        sum(len(json.dumps([each["name"], each.get("description"), each["inputSchema"]])) for each in tools)
        // _CHARACTERS
    )


class Exposures:
    """Decides which tools are offered directly, and for which the model has to search.

    It decides once for each server, and for the whole session, to preserve the prompt cache.

    Args:
        window: The context window of the model, in tokens.
        has_code_mode: Returns whether there is a tool whose scripts call other tools.
        is_code_mode_active: Returns whether the user has enabled it.
    """

    def __init__(self, window: int, has_code_mode: Callable[[], bool], is_code_mode_active: Callable[[], bool]) -> None:
        self._has_code_mode = has_code_mode
        self._is_code_mode_active = is_code_mode_active
        self._room = window * SHARE
        self._tools = MOST_TOOLS
        self._decided: dict[str, str] = {}
        self._possible_code: str | None = None

    def decide(self, listings: Mapping[str, tuple[Server, list[dict[str, Any]]]]) -> None:
        """Decide for all undecided servers: the smallest ones are direct, as long as there is room."""
        new = {name: found for name, found in listings.items() if name not in self._decided}
        self._possible_code = None  # asked when it is needed, and once: it makes the list of all tools
        for name, (server, tools) in sorted(new.items(), key=lambda each: (size_of(each[1][1]), each[0])):
            if server.exposure != "auto":
                self._decided[name] = self._possible(server.exposure)
                continue
            size = size_of(tools)
            fits = size <= self._room and len(tools) <= self._tools
            self._decided[name] = "direct" if fits else self._where_large_ones_go()
            if fits:
                self._room -= size
                self._tools -= len(tools)

    def of(self, server: Server, tool: str) -> str:
        """Return ``direct``, ``deferred``, ``code`` or ``hidden`` for a tool of a decided server."""
        if any(fnmatchcase(tool, pattern) for pattern in server.hidden):
            return "hidden"
        if tool in server.tool_exposure:
            return self._possible(server.tool_exposure[tool])
        for pattern, exposure in server.tool_exposure.items():
            if "*" in pattern and fnmatchcase(tool, pattern):
                return self._possible(exposure)
        return self._decided[server.name]

    def _possible(self, exposure: str) -> str:
        if exposure != "code":
            return exposure
        if self._possible_code is None:
            self._possible_code = "code" if self._has_code_mode() else "deferred"
        return self._possible_code

    def _where_large_ones_go(self) -> str:
        """Where the user has enabled code mode, a script replaces search, loading and calls."""
        return "code" if self._is_code_mode_active() else "deferred"


_WINDOW = 128_000
"""Tokens, for models without a known context window."""
_CODE_MODE = "codemode"
"""The tool whose scripts call the tools of the exposure ``code``."""
_SEARCH_LIMIT = 8
_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Words for what the tool does, or its name"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "Most tools to load, 8 by default"},
    },
    "required": ["query"],
}


class Offer:
    """The tools of a session's servers.

    Args:
        pi: Registers them.
        window: The context window of the model, in tokens.
    """

    def __init__(self, pi: PiAPI, window: int | None) -> None:
        self._pi = pi
        self._exposures = Exposures(window or _WINDOW, self._has_code_mode, self._is_code_mode_active)
        self._listed: dict[str, tuple[Remote, dict[str, Any]]] = {}
        self._waiting: dict[str, tuple[Remote, dict[str, Any]]] = {}
        self._names: dict[str, dict[str, str]] = {}
        self._remove: dict[str, Callable[[], None]] = {}
        self._registered: dict[str, tuple[dict[str, Any], str]] = {}
        self._found: dict[str, Callable[[], Found]] = {}

    def put(self, remote: Remote, about: dict[str, Any]) -> None:
        """Record what a server offers; ``apply`` registers it."""
        self._waiting[remote.server.name] = (remote, about)

    def drop(self, server: str) -> None:
        """Withdraw a server's tools."""
        self._waiting.pop(server, None)
        if self._listed.pop(server, None):
            self._names.pop(server, None)
            self.apply()
            self._withdraw()

    def clear(self) -> None:
        """Withdraw all tools: another session will offer its own."""
        for remove in self._remove.values():
            remove()
        self._remove.clear()

    def listing(self, server: str) -> dict[str, Any] | None:
        """Return a server's last description; None if there is none yet."""
        found = self._waiting.get(server) or self._listed.get(server)
        return found[1] if found else None

    @property
    def has_prompts(self) -> bool:
        """Whether a server offers prompts."""
        return any(about.get("prompts") for _, about in [*self._listed.values(), *self._waiting.values()])

    def tools_of(self, server: str) -> dict[str, tuple[str, str]]:
        """Return a server's tools, each with its name for the model and when the model is offered it."""
        names = self._names.get(server, {})
        return {tool: (name, self._registered[name][1]) for tool, name in names.items() if name in self._registered}

    def apply(self) -> None:
        """Register what was recorded; call it only between runs."""
        if not self._waiting:
            return
        self._listed.update(self._waiting)
        self._waiting.clear()
        usable = {name: (remote.server, _usable(remote, about)) for name, (remote, about) in self._listed.items()}
        self._exposures.decide(usable)
        for name, (remote, _) in self._listed.items():
            self._names[name] = tool_names(name, [each["name"] for each in usable[name][1]])
            for tool in usable[name][1]:
                self._register(remote, tool, self._names[name][tool["name"]])
        self._withdraw()
        self._register_helpers()

    def add_new(self) -> None:
        """Register, of what was recorded, the tools of new names; changed and withdrawn ones wait for ``apply``."""
        for name, (remote, about) in [*self._waiting.items()]:
            if name not in self._listed:
                continue  # a whole server comes with a prompt, which its line in the system prompt introduces
            names = tool_names(name, [each["name"] for each in _usable(remote, about)])
            new = [each for each in _usable(remote, about) if names[each["name"]] not in self._registered]
            for tool in new:
                self._register(remote, tool, names[tool["name"]])
                self._names[name][tool["name"]] = names[tool["name"]]
        self._register_helpers()

    def _register_helpers(self) -> None:
        """Register what the model needs to find or call tools that are not declared."""
        if any(exposure == "code" for _, exposure in self._registered.values()):
            self._activate_code_mode()
        if self._found and "tool_search" not in self._remove:
            self._remove["tool_search"] = self._pi.register_tool(self._search_tool())

    def _has_code_mode(self) -> bool:
        return any(each.name == _CODE_MODE for each in self._pi.get_all_tools())

    def _is_code_mode_active(self) -> bool:
        return _CODE_MODE in self._pi.get_active_tools()

    def _activate_code_mode(self) -> None:
        if not self._is_code_mode_active():
            self._pi.set_active_tools([*self._pi.get_active_tools(), _CODE_MODE])

    def deferred(self) -> dict[str, int]:
        """Return the number of deferred tools of each server."""
        counts: dict[str, int] = {}
        for server, names in self._names.items():
            count = sum(name in self._found for name in names.values())
            if count:
                counts[server] = count
        return counts

    def about(self, server: str) -> str:
        """Return one line about a server."""
        remote, about = self._listed[server]
        text = remote.server.description or about.get("instructions") or about.get("server") or ""
        return " ".join(text.split())[:200]

    def _register(self, remote: Remote, tool: dict[str, Any], name: str) -> None:
        exposure: Any = self._exposures.of(remote.server, tool["name"])
        if self._registered.get(name) == (tool, exposure):
            return
        if name in self._remove:
            self._remove[name]()
        self._registered[name] = (tool, exposure)
        self._found.pop(name, None)
        if exposure == "deferred":
            self._found[name] = partial(self._searched, name, tool, remote.server.name)
        made = make_tool(name, tool, remote, exposure, lambda: self._has(remote.server.name, tool["name"]))
        self._remove[name] = self._pi.register_tool(made)

    def _has(self, server: str, tool: str) -> bool:
        """Whether a server's last list, which may not be registered yet, contains a tool."""
        found = self._waiting.get(server) or self._listed.get(server)
        return found is not None and any(each["name"] == tool for each in found[1]["tools"])

    def _withdraw(self) -> None:
        """Withdraw the tools that their servers no longer offer, and those of servers that are no longer used."""
        kept = {name for names in self._names.values() for name in names.values()}
        for name in [each for each in self._registered if each not in kept]:
            self._remove.pop(name)()
            del self._registered[name]
            self._found.pop(name, None)

    def _searched(self, name: str, tool: dict[str, Any], server: str) -> Found:
        """Return a deferred tool as it is searched for, which most sessions never do."""
        from pi_mcp.search import Found

        return Found(
            name=name,
            tool=tool["name"],
            description=tool.get("description") or "",
            schema=tool["inputSchema"],
            server=f"{server} {self.about(server)}",
        )

    def _search_tool(self) -> Tool:
        from pi_hookspecs import Tool, ToolAnnotations, ToolResult

        async def execute(_id: str, params: dict[str, Any], _signal: Any, _update: Any, _ctx: Any) -> ToolResult:
            from pi_mcp.search import search

            found = [make() for make in self._found.values()]
            matches = search(params["query"], found, params.get("limit") or _SEARCH_LIMIT)
            if not matches:
                return ToolResult.text(f"No tool matches {params['query']!r}. Try other words, or fewer.")
            names = [each.name for each in matches]
            self._pi.set_active_tools(list(dict.fromkeys([*self._pi.get_active_tools(), *names])))
            lines = [f"- {each.name}: {' '.join(each.description.split())[:200]}" for each in matches]
            return ToolResult.text("\n".join(["Loaded; you can call them now:", *lines]), details={"tools": names})

        return Tool(
            name="tool_search",
            description="Find and load tools of MCP servers that are not declared. You can call what it loads.",
            parameters=_SCHEMA,
            execute=execute,
            annotations=ToolAnnotations(read_only=True, open_world=False),
        )


def _usable(remote: Remote, about: dict[str, Any]) -> list[dict[str, Any]]:
    off = remote.server.tools_off
    return [each for each in about["tools"] if each["name"] not in off and isinstance(each.get("inputSchema"), dict)]
