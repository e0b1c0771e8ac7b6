"""Installed files that differ from what was installed, by the hashes that each distribution lists in ``RECORD``."""

from __future__ import annotations

import csv
import hashlib
from base64 import urlsafe_b64encode
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pi_packages.contents import find_distributions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["changed_files"]


def changed_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the distribution and the path of each file that was changed or removed, sorted.

    Files without a hash, such as compiled ones, and files outside the folder, such as programs, are not compared.

    Args:
        folder: A folder of installed distributions.
    """
    for name, found in sorted(find_distributions(folder).items()):
        rows = csv.reader((found.read_text("RECORD") or "").splitlines())
        for path, recorded in sorted((row[0], row[1]) for row in rows if len(row) > 1):
            outside = PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts
            if recorded and not outside and not _is_same(folder / path, recorded):
                yield name, path


def _is_same(path: Path, recorded: str) -> bool:
    """Whether a file has a hash such as ``sha256=...``, in base64 as wheels write it."""
    algorithm, _, value = recorded.partition("=")
    try:
        digest = hashlib.new(algorithm, path.read_bytes()).digest()
    except OSError:
        return False
    except ValueError:  # a hash with an algorithm that this Python does not have proves nothing
        return True
    return urlsafe_b64encode(digest).decode().rstrip("=") == value.rstrip("=")
