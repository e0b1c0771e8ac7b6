"""What the checks of ``pi doctor`` have in common: the row that each yields, and reading a user's JSON files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Row", "check_row", "object_in"]

Row = dict[str, Any]


def check_row(check: str, state: str, message: str, remedy: str = "") -> Row:
    """Return a row: ``state`` is ``ok``, ``note``, ``warning`` or ``error``, ``remedy`` what the user can do."""
    return {"check": check, "state": state, "message": message, "remedy": remedy}


def object_in(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is none, or it cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
