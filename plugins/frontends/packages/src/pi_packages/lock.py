"""``pylock.pi.toml``: a lock file according to PEP 751, with pi's own data in ``[tool.pi]``.

It is meant to be committed and shared: paths inside the project are relative to it, and repositories are named by
address and commit.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.base.json_file import change_text, read_text
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_packages.material import Material

__all__ = ["LOCK_VERSION", "from_lock", "hashes_of", "lock_text", "parse_lock", "read_lock", "to_lock", "write_lock"]

LOCK_VERSION = "1.0"


def read_lock(file: Path) -> dict[str, Any]:
    """Return a lock; empty if there is none.

    Raises:
        UserError: It cannot be read, or has a newer format.
    """
    return parse_lock(read_text(file), str(file))


def parse_lock(text: str | None, origin: str) -> dict[str, Any]:
    """Return the lock in a text; empty without one.

    Raises:
        UserError: It is not a lock file, or has a newer format.
    """
    if not text:
        return {}
    try:
        lock = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{origin} is not TOML: {error}. Repair it, or remove it and run pi sync --upgrade") from error
    version = str(lock.get("lock-version", ""))
    if version.partition(".")[0] != LOCK_VERSION.partition(".")[0]:
        raise UserError(f"{origin} has lock-version {version!r}, and this pi reads {LOCK_VERSION}. Update pi")
    from packaging.pylock import Pylock, PylockValidationError

    try:
        Pylock.from_dict(lock)
    except PylockValidationError as error:
        raise UserError(f"{origin} is not a valid lock file: {error}") from error
    return lock


def lock_text(lock: dict[str, Any]) -> str:
    """Return a lock as the text of a file."""
    import tomli_w

    return tomli_w.dumps(lock, multiline_strings=False)


def write_lock(file: Path, text: str) -> None:
    """Replace a lock file; an empty text removes it.

    Raises:
        UserError: It cannot be written.
    """
    if not text:
        file.unlink(missing_ok=True)
        return
    change_text(file, lambda _before: text)


def to_lock(tables: Sequence[Mapping[str, Any]], materials: Sequence[Material], folder: Path) -> list[dict[str, Any]]:
    """Return a solution's tables in the form of a lock file.

    Args:
        tables: With absolute paths.
        materials: Identify the repositories among them.
        folder: The folder of the lock file.
    """
    repositories = {each.name: each for each in materials if each.source.kind == "git" and each.name is not None}
    found = []
    for table in tables:
        locked = dict(table)
        material = repositories.get(table["name"])
        if material is not None:
            del locked["directory"]
            vcs = {"type": "git", "url": material.source.location, "commit-id": material.facts["revision"]}
            locked["vcs"] = {
                **vcs,
                **({"subdirectory": material.source.subdirectory} if material.source.subdirectory else {}),
            }
        for kind in ("directory", "archive"):
            path = locked.get(kind, {}).get("path")
            if path is not None and Path(path).is_relative_to(folder.parent) and folder.name == ".pi":
                locked[kind] = {**locked[kind], "path": Path(os.path.relpath(path, folder)).as_posix()}
        found.append(locked)
    return found


def from_lock(lock: Mapping[str, Any], materials: Sequence[Material], folder: Path) -> list[dict[str, Any]]:
    """Return the tables of a lock file with absolute paths, and with the fetched files of repositories."""
    folders = {each.name: each for each in materials if each.source.kind == "git" and each.name is not None}
    found = []
    for table in lock.get("packages", ()):
        locked = dict(table)
        if "vcs" in locked:
            material = folders.get(locked["name"])
            if material is None:
                continue  # it was removed
            del locked["vcs"]
            locked["directory"] = {"path": str(material.folder)}
        for kind in ("directory", "archive"):
            if "path" in locked.get(kind, {}):
                locked[kind] = {**locked[kind], "path": os.path.normpath(folder / locked[kind]["path"])}
        found.append(locked)
    return found


def hashes_of(table: Mapping[str, Any]) -> list[str]:
    """Return the SHA-256 of every file that a table names."""
    files = [*table.get("wheels", ()), *(table[each] for each in ("sdist", "archive") if each in table)]
    return sorted(file["hashes"]["sha256"] for file in files if "sha256" in file.get("hashes", {}))
