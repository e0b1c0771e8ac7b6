"""Lists and deletes stored sessions."""

from __future__ import annotations

import asyncio
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_acp.peer import INVALID_PARAMS, RpcError
from pi_core import SessionManager
from pi_terminal_kit.words import session_title

if TYPE_CHECKING:
    from pi_core import PluginHost
    from pi_hookspecs import SessionInfo

__all__ = ["delete", "list_page"]

_PAGE = 50
"""Maximum sessions in one answer."""

_TITLE = 120
"""Maximum characters of a title."""


async def list_page(host: PluginHost, cwd: Path | None, cursor: str | None) -> dict[str, Any]:
    """Return a page of the sessions of a folder, or of all, the most recently modified first.

    Raises:
        RpcError: The cursor is invalid.
    """
    if cursor is not None and not cursor.isdecimal():
        raise RpcError(INVALID_PARAMS, f"Invalid params: the cursor {cursor!r:.200} is not one of a list of sessions")
    begin = int(cursor or 0)
    if cwd is not None:
        found = await asyncio.to_thread(SessionManager.list, cwd, host=host)
    else:
        found = await asyncio.to_thread(SessionManager.list_all, host=host)
    end = begin + _PAGE
    more = {"nextCursor": str(end)} if end < len(found) else {}
    return {"sessions": [_listed(each) for each in found[begin:end] if Path(each.cwd).is_absolute()], **more}


async def delete(host: PluginHost, session_id: str) -> bool:
    """Delete a stored session; return whether it existed.

    Raises:
        RpcError: Another process uses it, or it is not kept in a file.
    """
    from pi_core import resolve_store
    from pi_hookspecs import DeletingStore

    stored = await asyncio.to_thread(SessionManager.find_by_id, session_id, host=host)
    if stored is None:
        return False
    store = resolve_store(host=host).store
    if isinstance(store, DeletingStore):
        await asyncio.to_thread(store.delete, stored.path)
        return True
    await asyncio.to_thread(_delete_file, session_id, Path(stored.path))
    return True


def _delete_file(session_id: str, file: Path) -> None:
    if not file.is_file():
        raise RpcError(
            INVALID_PARAMS, f"The session {session_id!r} is not stored in a file, so it cannot be deleted here"
        )
    if _is_used(file):
        raise RpcError(INVALID_PARAMS, f"The session {session_id!r} is open in another process. End that one first")
    file.unlink()


def _is_used(file: Path) -> bool:
    """Return whether another process holds the lock of a session's file; False if files cannot be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    with file.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


def _listed(info: SessionInfo) -> dict[str, Any]:
    title = session_title(info.name, info.first_message)
    return {
        "sessionId": info.id,
        "cwd": info.cwd,
        "title": title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…",
        "updatedAt": info.modified.astimezone(UTC).isoformat(),
    }
