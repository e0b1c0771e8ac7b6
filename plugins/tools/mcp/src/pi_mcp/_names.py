"""Names of tools for the model: ``mcp__server__tool``, 64 characters that every model's API takes."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["tool_names"]

_LONGEST = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def tool_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """Return the name for the model of each tool of a server.

    Of names that would be the same, and of those that are too long, each gets a suffix made of its own name: what a
    tool is called does not depend on which others there are, unless they collide.
    """
    plain = {tool: f"mcp__{server.replace('-', '_')}__{_OTHER.sub('_', tool)}" for tool in dict.fromkeys(tools)}
    counts: dict[str, int] = {}
    for name in plain.values():
        counts[name.lower()] = counts.get(name.lower(), 0) + 1
    return {
        tool: name if counts[name.lower()] == 1 and len(name) <= _LONGEST else _suffixed(server, name, tool)
        for tool, name in plain.items()
    }


def _suffixed(server: str, name: str, tool: str) -> str:
    mark = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _LONGEST - 9]}_{mark}"
