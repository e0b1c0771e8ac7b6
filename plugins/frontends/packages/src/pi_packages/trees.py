"""Fetched files of git repositories and npm packages: ``packages/res/KEY/REVISION``, verified by a common hash."""

from __future__ import annotations

import os
import shutil
from base64 import b64decode
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = [
    "MAX_BYTES",
    "MAX_FILES",
    "check_links",
    "draft_of",
    "fetched_folder",
    "folder_for",
    "integrity_key",
    "tree_hash",
]

MAX_BYTES = 50 * 1024 * 1024
MAX_FILES = 5_000


def folder_for(agent_dir: Path, identity: str, revision: str) -> Path:
    """Return the folder of one revision of a source."""
    return agent_dir / "packages" / "res" / sha256(identity.encode()).hexdigest()[:16] / revision[:40]


def fetched_folder(agent_dir: Path, package: Mapping[str, Any]) -> Path | None:
    """Return the folder of an installed git or npm package; None for other packages.

    Args:
        agent_dir: The agent directory.
        package: What the active generation stores about it.
    """
    if package.get("revision"):
        return folder_for(agent_dir, package["identity"], package["revision"])
    if package.get("integrity"):
        return folder_for(agent_dir, package["identity"], integrity_key(package["integrity"]))
    return None


def integrity_key(integrity: str) -> str:
    """Return the name of a folder for npm's hash of a file."""
    return b64decode(integrity.removeprefix("sha512-")).hex()


@contextmanager
def draft_of(folder: Path) -> Iterator[Path]:
    """Provide a new folder, which becomes ``folder`` if the block ends without an error."""
    draft = folder.with_name(f".{folder.name}-{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(parents=True)
        yield draft
        if not folder.exists():
            draft.rename(folder)
    except OSError as error:
        raise UserError(f"files cannot be stored in {folder.parent}: {error.strerror}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_links(folder: Path, name: str) -> None:
    """Refuse links out of the folder, and too many files or bytes.

    Raises:
        UserError: There is such a link, or there are too many files or bytes.
    """
    size = count = 0
    root = folder.resolve()
    for path in folder.rglob("*"):
        if path.is_symlink():
            if not path.resolve().is_relative_to(root):
                raise UserError(f"{name}: {path.relative_to(folder)} is a link that leads out of the package")
        elif path.is_file():
            count += 1
            size += path.stat().st_size
    if count > MAX_FILES or size > MAX_BYTES:
        raise UserError(
            f"{name} has {count} files of {size} bytes in total; the limit is {MAX_FILES} files and {MAX_BYTES} bytes"
        )


def tree_hash(folder: Path) -> str:
    """Return a hash over names and contents of all files, and over targets of links.

    Modules that npm has installed for a package are left out: they are locked one by one.
    """
    total = sha256()
    has_modules = (folder / "node_modules" / ".package-lock.json").is_file()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if has_modules and name.startswith("node_modules"):
            continue
        if path.is_symlink():
            total.update(f"link {name}\0{os.readlink(path)}\0".encode())  # noqa: PTH115 - as it is written
        elif path.is_file() and "__pycache__" not in path.parts:
            total.update(f"file {name}\0{sha256(path.read_bytes()).hexdigest()}\0".encode())
    return total.hexdigest()
