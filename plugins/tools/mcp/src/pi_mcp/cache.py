"""Caches tool lists of servers between runs, so that their tools are known without starting a server."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_core import replace_file
from pi_mcp.foreign import cleaned_listing

if TYPE_CHECKING:
    from pathlib import Path

    from pi_mcp.entries import Server

__all__ = ["ListingCache"]

_FIELDS = ("protocol", "server", "instructions", "capabilities", "tools", "prompts", "left_out")


class ListingCache:
    """The folder ``cache/mcp`` of the agent directory, one file for each version of an entry.

    Args:
        agent_dir: The agent directory.
        cwd: The session's folder, because a project's server may differ between folders.
    """

    def __init__(self, agent_dir: Path, cwd: Path) -> None:
        self._folder = agent_dir / "cache" / "mcp"
        self._cwd = os.fspath(cwd)

    def get(self, server: Server) -> dict[str, Any] | None:
        """Return the cached description of a server; None if there is no valid one."""
        try:
            kept = json.loads(self._file(server).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or not all(isinstance(kept.get(each), list) for each in ("tools", "prompts")):
            return None
        sound = all(
            isinstance(each, dict) and isinstance(each.get("name"), str) for each in kept["tools"] + kept["prompts"]
        )
        return cleaned_listing(kept) if sound else None

    def put(self, server: Server, about: dict[str, Any]) -> None:
        """Cache the description of a server; if the folder cannot be written, nothing is cached."""
        file = self._file(server)
        text = json.dumps({**{each: about.get(each) for each in _FIELDS}, "time": int(time.time())})
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(file, text.encode(), mode=0o600, durable=False)

    def _file(self, server: Server) -> Path:
        place = self._cwd if server.scope == "project" else ""
        return self._folder / f"{hashlib.sha256(f'{server.hash} {place}'.encode()).hexdigest()[:32]}.json"
