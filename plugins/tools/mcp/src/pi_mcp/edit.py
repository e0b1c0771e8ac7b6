"""Edits ``mcp.json``: one entry at a time, without changing anything else."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["change_entry", "entries_in", "has_entry", "put_entries"]


def has_entry(file: Path, name: str) -> bool:
    """Whether a file has an entry of this name.

    Raises:
        UserError: The file cannot be used.
    """
    return name in entries_in(file)


def entries_in(file: Path) -> dict[str, Any]:
    """Return the entries of a file by name; none if it does not exist.

    Raises:
        UserError: The file cannot be used.
    """
    try:
        return _entries(_parsed(file.read_text(encoding="utf-8-sig"), file))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}. Nothing was changed.") from error


def change_entry(file: Path, name: str, change: Callable[[dict[str, Any] | None], dict[str, Any] | None]) -> None:
    """Replace an entry with the result of ``change``; None removes it.

    Raises:
        UserError: The file cannot be used or written; nothing was changed.
    """

    def edit(values: dict[str, Any]) -> None:
        entries = _entries(values)
        changed = change(entries.get(name))
        if changed is None:
            entries.pop(name, None)
        else:
            entries[name] = changed

    _rewrite(file, edit)


def put_entries(file: Path, found: Mapping[str, dict[str, Any]]) -> list[str]:
    """Add entries whose names are free; return the names that were added.

    Raises:
        UserError: The file cannot be used or written; nothing was changed.
    """
    added: list[str] = []

    def edit(values: dict[str, Any]) -> None:
        entries = _entries(values)
        added.extend(name for name in found if name not in entries)
        entries.update({name: found[name] for name in added})

    _rewrite(file, edit)
    return added


def _rewrite(file: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    from pi_core import change_text

    def changed(text: str | None) -> str:
        values = _parsed(text or "", file)
        edit(values)
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"

    change_text(file, changed, folder_mode=0o700, file_mode=0o600)


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        values = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        message = (
            f"{os.fspath(file)}:{error.lineno}:{error.colno}: {error.msg}. Nothing was changed; repair the file first."
        )
        raise UserError(message) from error
    if not isinstance(values, dict) or not isinstance(values.get(_key(values), {}), dict):
        raise UserError(f'{file}: it must be {{"mcpServers": {{...}}}}. Nothing was changed; repair the file first.')
    return values


def _key(values: Any) -> str:
    return "servers" if "servers" in values and "mcpServers" not in values else "mcpServers"


def _entries(values: dict[str, Any]) -> dict[str, Any]:
    entries: dict[str, Any] = values.setdefault(_key(values), {})
    return entries
