"""Tool names for the model: ``mcp__server__tool``, at most 64 characters that every model API accepts."""

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

    Equal names and names that are too long get a suffix derived from their own name, so that a name does not depend on
    other tools unless they collide.
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
