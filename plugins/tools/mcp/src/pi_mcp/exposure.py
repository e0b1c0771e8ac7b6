"""Decides which tools the model is offered directly, and for which it has to search."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import ToolInfo
    from pi_mcp.entries import Server

__all__ = ["Exposures", "size_of"]

MOST_TOOLS = 30
SHARE = 0.05
"""Share of the context window that tools of servers with ``auto`` may use in total."""
_CHARACTERS = 4
"""Characters of a token, roughly."""


def size_of(tools: list[dict[str, Any]]) -> int:
    """Return the estimated tokens of tool declarations."""
    return (
        sum(len(json.dumps([each["name"], each.get("description"), each["inputSchema"]])) for each in tools)
        // _CHARACTERS
    )


class Exposures:
    """Decides once for each server; a decision holds for the session, to preserve the prompt cache.

    Args:
        window: The context window of the model, in tokens.
        code_mode: Returns the tool whose scripts call other tools; None if there is none.
    """

    def __init__(self, window: int, code_mode: Callable[[], ToolInfo | None]) -> None:
        self._code_mode = code_mode
        self._room = window * SHARE
        self._tools = MOST_TOOLS
        self._decided: dict[str, str] = {}

    def decide(self, listings: Mapping[str, tuple[Server, list[dict[str, Any]]]]) -> None:
        """Decide for all undecided servers: the smallest ones are direct, as long as there is room."""
        new = {name: found for name, found in listings.items() if name not in self._decided}
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
        if tool in server.tool_exposure:
            return self._possible(server.tool_exposure[tool])
        for pattern, exposure in server.tool_exposure.items():
            if "*" in pattern and fnmatchcase(tool, pattern):
                return self._possible(exposure)
        return self._decided[server.name]

    def _possible(self, exposure: str) -> str:
        return "deferred" if exposure == "code" and self._code_mode() is None else exposure

    def _where_large_ones_go(self) -> str:
        """Return ``code`` where the user has enabled code mode: a script then replaces search, loading and calls."""
        found = self._code_mode()
        return "code" if found is not None and found.active else "deferred"
