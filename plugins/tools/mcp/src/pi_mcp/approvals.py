"""The user's approvals of project servers; each approval is valid until the server's entry changes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pi_mcp.entries import Server

__all__ = ["Approvals"]


class Approvals:
    """``mcp-approvals.json``: for each project's folder the hash of each approved entry, by the server's name.

    Args:
        agent_dir: The folder of the file.
        cwd: The project's folder.
    """

    def __init__(self, agent_dir: Path, cwd: Path) -> None:
        self._file = agent_dir / "mcp-approvals.json"
        self._folder = os.path.realpath(cwd)

    def covers(self, server: Server) -> bool:
        """Whether a server may be started: it is the user's own, a plugin's, or approved in its current form."""
        return (
            server.scope != "project" or self._read(self._text()).get(self._folder, {}).get(server.name) == server.hash
        )

    def add(self, server: Server) -> None:
        """Store the user's approval of an entry.

        Raises:
            UserError: The file cannot be written.
        """
        from pi_core import change_text

        def edit(text: str | None) -> str:
            known = self._read(text or "")
            known.setdefault(self._folder, {})[server.name] = server.hash
            return json.dumps(known, indent=2) + "\n"

        change_text(self._file, edit, folder_mode=0o700, file_mode=0o600)

    def _text(self) -> str:
        try:
            return self._file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    @staticmethod
    def _read(text: str) -> dict[str, dict[str, str]]:
        """Return what is stored; a broken file approves nothing."""
        try:
            values = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError):
            return {}
        if not isinstance(values, dict):
            return {}
        return {folder: each for folder, each in values.items() if isinstance(each, dict)}
