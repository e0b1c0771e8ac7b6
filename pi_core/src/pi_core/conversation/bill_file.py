"""``bill.jsonl`` in the agent directory's cache: a line per session, at most 1 MB; the oldest lines are removed.

During a session its figures are in a separate file, ``bills/PID-ID.json``, which is written after each prompt. If the
process is killed, another process turns the file into a line.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pi_core.conversation.bill import Bill, Row
    from pi_core.conversation.session import AgentSession

__all__ = ["LIMIT", "append_bill", "bill_file", "keep_bill", "read_bills"]

LIMIT = 1_000_000
"""The maximum size of the file in bytes."""


def bill_file(agent_dir: Path) -> Path:
    """Return the file's path."""
    return agent_dir / "cache" / "bill.jsonl"


def append_bill(agent_dir: Path, session: str, project: str, at: str, plugins: Mapping[str, Row]) -> None:
    """Append the line of a session; an unwritable folder is not an error.

    Each line is one write to a file that is opened for appending, so lines of several processes do not mix.
    """
    _append(agent_dir, _line(session, project, at, plugins))


def _line(session: str, project: str, at: str, plugins: Mapping[str, Row]) -> bytes:
    line = {"session": session, "at": at, "project": project, "plugins": plugins}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def _append(agent_dir: Path, text: bytes) -> None:
    file = bill_file(agent_dir)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size + len(text) > LIMIT:
            _shorten(file)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, text)
        finally:
            os.close(descriptor)


def _shorten(file: Path) -> None:
    """Remove the older half of the lines."""
    kept = file.read_bytes()[-(LIMIT // 2) :].partition(b"\n")[2]
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_bytes(kept)
    draft.chmod(0o600)
    draft.replace(file)


def keep_bill(session: AgentSession, bill: Bill) -> None:
    """Write a session's bill after each prompt, and its line when the session ends or is replaced by another."""
    keeper = _Keeper(session, bill)
    session.subscribe(keeper.settled, "agent_settled")
    session.parts.lifecycle.call_at_end(keeper.end)


class _Keeper:
    """Keeps the current figures of one session in a file until they become a line."""

    def __init__(self, session: AgentSession, bill: Bill) -> None:
        self._session = session
        self._bill = bill
        self._id = session.session_id
        self._agent_dir = session.host.settings.agent_dir
        self._text = b""

    def settled(self, _event: object) -> None:
        """Write the figures of the conversation so far."""
        if self._session.session_id != self._id:
            self._close()
            self._bill.begin()
            self._id = self._session.session_id
        self._text = _line(self._id, str(self._session.cwd), self._bill.started, self._bill.rows())
        draft = self._draft()
        with suppress(OSError):
            draft.parent.mkdir(parents=True, exist_ok=True)
            written = draft.with_suffix(".new")
            written.write_bytes(self._text)
            written.replace(draft)

    async def end(self) -> None:
        """Write the final line."""
        self.settled(None)
        self._close()

    def _close(self) -> None:
        if self._text:
            _append(self._agent_dir, self._text)
        with suppress(OSError):
            self._draft().unlink()
        self._text = b""

    def _draft(self) -> Path:
        return _drafts(self._agent_dir) / f"{os.getpid()}-{self._id}.json"


def _drafts(agent_dir: Path) -> Path:
    return agent_dir / "cache" / "bills"


def _collect_leftovers(agent_dir: Path) -> None:
    """Turn files that killed processes left behind into lines."""
    with suppress(OSError):
        for draft in _drafts(agent_dir).glob("*.json"):
            pid = draft.name.partition("-")[0]
            if pid.isdigit() and not _is_running(int(pid)):
                text = draft.read_bytes()
                draft.unlink()  # first, because this raises if another process was faster
                _append(agent_dir, text)


def _is_running(pid: int) -> bool:
    if pid == os.getpid() or os.name == "nt":  # on Windows, this check would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def read_bills(agent_dir: Path) -> Iterator[dict[str, Any]]:
    """Yield the sessions, oldest first; truncated and edited lines are skipped."""
    _collect_leftovers(agent_dir)
    try:
        text = bill_file(agent_dir).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            read = json.loads(line)
        except ValueError:
            continue
        if _is_bill(read):
            yield read


def _is_bill(read: Any) -> bool:
    return (
        isinstance(read, dict)
        and all(isinstance(read.get(name), str) for name in ("session", "at", "project"))
        and isinstance(read.get("plugins"), dict)
        and all(isinstance(row, dict) and _has_numbers(row) for row in read["plugins"].values())
    )


def _has_numbers(row: dict[str, Any]) -> bool:
    return all(type(value) in {int, float} for value in row.values())
