"""``packages/log.jsonl``: what was installed, when, from where, and who agreed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["append_log", "now"]


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def append_log(agent_dir: Path, rows: list[dict[str, Any]]) -> None:
    """Append a line for each row; a log that cannot be written does not undo the change."""
    try:
        with (agent_dir / "packages" / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    except OSError:
        return
