"""``bill.jsonl`` in the agent directory's cache: a line per session, at most 1 MB; the oldest lines go first."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pi_cli.bill.collecting import Row

__all__ = ["LIMIT", "append_bill", "bill_file", "read_bills"]

LIMIT = 1_000_000
"""The largest size of the file, in bytes."""


def bill_file(agent_dir: Path) -> Path:
    """Return the file's path."""
    return agent_dir / "cache" / "bill.jsonl"


def append_bill(agent_dir: Path, session: str, project: str, at: str, plugins: Mapping[str, Row]) -> None:
    """Add the line of a session; a folder that cannot be written is not an error.

    A line is one write to a file that is opened for appending, so that lines of several processes do not mix.
    """
    line = {"session": session, "at": at, "project": project, "plugins": plugins}
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"
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
    """Keep the newer half of the lines."""
    kept = file.read_bytes()[-(LIMIT // 2) :].partition(b"\n")[2]
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_bytes(kept)
    draft.chmod(0o600)
    draft.replace(file)


def read_bills(agent_dir: Path) -> Iterator[dict[str, Any]]:
    """Yield the sessions, oldest first; a line that was cut off or edited is left out."""
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
