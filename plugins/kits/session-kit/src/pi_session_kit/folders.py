"""Folders for sessions: accessible only to their owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["make_folder"]


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, accessible only to their owner; existing ones are not changed.

    Raises:
        OSError: It cannot be created.
    """
    missing = [folder, *folder.parents]
    for each in reversed([each for each in missing if not each.exists()]):
        each.mkdir(mode=0o700, exist_ok=True)
