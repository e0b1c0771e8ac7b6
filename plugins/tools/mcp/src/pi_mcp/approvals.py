"""The user's approvals of project servers; each approval is valid until the server's entry changes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from pi_hookspecs import Permission, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_hookspecs import PermissionPlace
    from pi_mcp.entries import Server

__all__ = ["Approvals", "ApprovedServers"]


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
        self._change(lambda known: known.setdefault(self._folder, {}).update({server.name: server.hash}))

    def all(self) -> list[tuple[str, str]]:
        """Return folder and server of every approval."""
        return [(folder, name) for folder, servers in self._read(self._text()).items() for name in servers]

    def remove(self, folder: str, name: str) -> bool:
        """Remove an approval; return whether there was one.

        Raises:
            UserError: The file cannot be written.
        """
        removed = []

        def edit(known: dict[str, dict[str, str]]) -> None:
            removed.append(known.get(folder, {}).pop(name, None))
            if not known.get(folder):
                known.pop(folder, None)

        self._change(edit)
        return removed[0] is not None

    def _change(self, change: Callable[[dict[str, dict[str, str]]], None]) -> None:
        from pi_core import change_text

        def edit(text: str | None) -> str:
            known = self._read(text or "")
            change(known)
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


class ApprovedServers:
    """Implements ``PermissionStore`` for the approvals of all folders."""

    name = "MCP servers of projects"

    def list(self, place: PermissionPlace) -> Sequence[Permission]:
        """Return the approvals; a server whose entry has changed is asked about anyway."""
        found = Approvals(place.settings.agent_dir, place.cwd).all()
        return [Permission(json.dumps(each), what=each[1], place=each[0]) for each in found]

    async def remove(self, permission: Permission, place: PermissionPlace) -> None:
        """Remove an approval; a server that runs ends with its session.

        Raises:
            UserError: It is not there any more, or the file cannot be written.
        """
        folder, name = json.loads(permission.key)
        if not Approvals(place.settings.agent_dir, place.cwd).remove(folder, name):
            raise UserError(f"The MCP server {name!r} of {folder} is no longer approved.")
