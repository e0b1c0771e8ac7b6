"""Files of versions 1 and 2: replaced once by version 3, with a backup of the original."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["backup_of", "replace_with"]


def replace_with(path: Path, data: bytes, expected: int, version: int) -> Path:
    """Replace a file's content atomically, and keep a backup of the old one.

    Args:
        path: The file.
        data: The new content.
        expected: The size that the file must still have, in bytes: entries appended meanwhile must not be lost.
        version: The old content's version, for the backup's name.

    Returns:
        Path of the backup.

    Raises:
        OSError: It failed; the file is unchanged.
    """
    from shutil import copymode

    path = path.resolve()  # a link is kept
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    backup: Path | None = None
    try:
        with new.open("xb") as file:
            copymode(path, new)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.stat().st_size != expected:
            raise BlockingIOError(errno.EBUSY, "It was changed in the meantime", str(path))
        backup = _keep(path, version)
        new.replace(path)
    except OSError:
        for made in filter(None, (new, backup)):
            with suppress(OSError):
                made.unlink()
        raise
    return backup


def backup_of(path: Path, version: int) -> Path:
    """Return the name under which the original of a migrated file is kept; no listing shows it."""
    return path.with_name(f"{path.name}.v{version}.bak")


def _keep(path: Path, version: int) -> Path:
    backup = backup_of(path, version)
    number = 1
    while backup.exists():
        number += 1
        backup = backup_of(path, version).with_suffix(f".bak{number}")
    try:
        os.link(path, backup)
    except OSError:  # a file system without hard links
        from shutil import copy2

        copy2(path, backup)
    return backup
