"""``mcp-auth.json``: sign-ins by name and URL of the server; several processes of pi write it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from pi_core import replace_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["TokenFile"]


class TokenFile:
    """The stored sign-in of one server.

    Args:
        file: The file.
        name: The server's name.
        url: Its address: a token must not go to another one that has the name.
    """

    def __init__(self, file: Path, name: str, url: str) -> None:
        self._file = file
        self._key = f"{name} {hashlib.sha256(url.encode()).hexdigest()[:16]}"

    def get(self, part: str) -> dict[str, Any] | None:
        """Return ``tokens`` or ``client``; None if there is none."""
        found = self._read().get(self._key)
        value = found.get(part) if isinstance(found, dict) else None
        return value if isinstance(value, dict) else None

    def put(self, part: str, value: dict[str, Any]) -> None:
        """Keep ``tokens`` or ``client``; on disk when this returns."""
        self._change({part: value})

    def forget(self) -> bool:
        """Forget the server; return whether anything was kept."""
        return self._change(None)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _change(self, values: dict[str, Any] | None) -> bool:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(f"{self._file}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            whole = self._read()
            known = whole.pop(self._key, None)
            if values is not None:
                whole[self._key] = {**(known or {}), **values}
            replace_file(self._file, json.dumps(whole, indent=2).encode(), mode=0o600, keep=False)
        finally:
            os.close(lock)
        return known is not None
