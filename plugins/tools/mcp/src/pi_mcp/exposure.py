"""Decides which tools the model is offered directly, and for which it has to search."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """

    def __init__(self, window: int) -> None:
        self._room = window * SHARE
        self._tools = MOST_TOOLS
        self._decided: dict[str, str] = {}

    def decide(self, listings: Mapping[str, tuple[Server, list[dict[str, Any]]]]) -> None:
        """Decide for all undecided servers: the smallest ones are direct, as long as there is room."""
        new = {name: found for name, found in listings.items() if name not in self._decided}
        for name, (server, tools) in sorted(new.items(), key=lambda each: (size_of(each[1][1]), each[0])):
            if server.exposure != "auto":
                self._decided[name] = server.exposure
                continue
            size = size_of(tools)
            fits = size <= self._room and len(tools) <= self._tools
            self._decided[name] = "direct" if fits else "deferred"
            if fits:
                self._room -= size
                self._tools -= len(tools)

    def of(self, server: Server, tool: str) -> str:
        """Return ``direct``, ``deferred`` or ``hidden`` for a tool of a decided server."""
        if tool in server.tool_exposure:
            return server.tool_exposure[tool]
        for pattern, exposure in server.tool_exposure.items():
            if "*" in pattern and fnmatchcase(tool, pattern):
                return exposure
        return self._decided[server.name]
