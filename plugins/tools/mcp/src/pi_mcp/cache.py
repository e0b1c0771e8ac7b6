"""Caches tool lists of servers between runs, so that their tools are known without starting a server."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_core import replace_file
from pi_mcp.foreign import cleaned_listing

if TYPE_CHECKING:
    from pathlib import Path

    from pi_mcp.entries import Server

__all__ = ["ListingCache"]

MOST_AGE = 86_400.0
"""Seconds after which a server is asked for its lists again, although the cached ones can be used meanwhile."""
RETRY = 3_600.0
"""Seconds between two attempts to ask a server that did not answer."""
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
        self._last: dict[Path, tuple[tuple[int, int], dict[str, Any]]] = {}

    def get(self, server: Server) -> dict[str, Any] | None:
        """Return the cached description of a server; None if there is no valid one."""
        kept = self._read(server)
        if not all(isinstance(kept.get(each), list) for each in ("tools", "prompts")):
            return None
        sound = all(
            isinstance(each, dict) and isinstance(each.get("name"), str) for each in kept["tools"] + kept["prompts"]
        )
        return cleaned_listing(kept) if sound else None

    def is_stale(self, server: Server) -> bool:
        """Whether the server should be asked again: its entry is old, or another file is its program now."""
        kept = self._read(server)
        now = time.time()
        tried = kept.get("tried")
        if isinstance(tried, int | float) and 0 <= now - tried < RETRY:
            return False
        made = kept.get("time")
        is_young = isinstance(made, int | float) and 0 <= now - made < MOST_AGE
        return not is_young or kept.get("files") != self._files(server)

    def tried(self, server: Server) -> None:
        """Record that the server was asked in vain, so that not each of the next runs asks it again."""
        kept = self._read(server)
        if kept:
            self._write(server, {**kept, "tried": time.time()})

    def put(self, server: Server, about: dict[str, Any]) -> None:
        """Cache the description of a server; if the folder cannot be written, nothing is cached."""
        fields = {each: about.get(each) for each in _FIELDS}
        self._write(server, {**fields, "time": time.time(), "files": self._files(server)})

    def _read(self, server: Server) -> dict[str, Any]:
        file = self._file(server)
        try:
            about = file.stat()
            version = (about.st_mtime_ns, about.st_size)
            known = self._last.get(file)
            if known is not None and known[0] == version:
                return known[1]
            kept = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        kept = kept if isinstance(kept, dict) else {}
        self._last[file] = version, kept
        return kept

    def _files(self, server: Server) -> dict[str, list[int]]:
        """Return time and size of each file that the server's command line names, its program among them."""
        command, arguments = server.config.get("command"), server.config.get("args") or ()
        if not isinstance(command, str):
            return {}
        folder = os.path.join(self._cwd, os.path.expanduser(str(server.config.get("cwd") or "")))  # noqa: PTH111, PTH118
        found = {}
        for word in (shutil.which(command) or command, *map(str, arguments)):
            with suppress(OSError, ValueError):
                about = os.stat(os.path.join(folder, os.path.expanduser(word)))  # noqa: PTH111, PTH116, PTH118
                if stat.S_ISREG(about.st_mode):
                    found[word] = [about.st_mtime_ns, about.st_size]
        return found

    def _write(self, server: Server, fields: dict[str, Any]) -> None:
        file, text = self._file(server), json.dumps(fields)
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(file, text.encode(), mode=0o600, durable=False)

    def _file(self, server: Server) -> Path:
        place = self._cwd if server.scope == "project" else ""
        return self._folder / f"{hashlib.sha256(f'{server.hash} {place}'.encode()).hexdigest()[:32]}.json"
