"""The contents of an installed folder: distributions, plugins, resources, requested grants, and changed files."""

from __future__ import annotations

import csv
import hashlib
import os
from base64 import urlsafe_b64encode
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from pi_core.host.grants import FILE, parse_grants
from pi_core.host.overlay import read_pth
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_packages.base import Base

__all__ = [
    "KINDS",
    "changed_files",
    "check_modules",
    "find_distributions",
    "folder_name",
    "grants_of",
    "is_unchanged",
    "plugins_of",
    "resources_of",
]

KINDS = ("extensions", "skills", "prompts", "themes")
"""Kinds of resources, also the names of their folders."""
_SHARED = PurePosixPath("share", "pi")


def find_distributions(folder: Path) -> dict[str, Distribution]:
    """Return the distributions in a folder by canonical name."""
    return {canonicalize_name(each.metadata["Name"]): each for each in distributions(path=[str(folder)])}


def plugins_of(found: Distribution) -> dict[str, str]:
    """Return the plugins of a distribution: their names, and what is imported."""
    return {each.name: each.value.partition("[")[0].strip() for each in found.entry_points if each.group == "pi"}


def check_modules(folder: Path, found: dict[str, Distribution], base: Base) -> None:
    """Refuse a folder with a module that base already has: base's would be imported instead.

    Raises:
        UserError: There is one.
    """
    for name, each in found.items():
        for module in sorted(set(_top_modules(each, folder))):
            origin = base.origin_of(module)
            if origin is not None and not origin.startswith(str(folder)):
                raise UserError(
                    f"{name} contains the module {module!r}, which pi's environment already has ({origin}) and would "
                    f"import instead. Ask its author for a version with another module name"
                )


def _top_modules(found: Distribution, folder: Path) -> Iterator[str]:
    for file in found.files or ():
        top, *rest = PurePosixPath(file).parts
        if not rest and top.endswith((".py", ".so", ".pyd")):
            yield top.partition(".")[0]
        elif rest and top.isidentifier() and (folder / top / "__init__.py").is_file():
            yield top


def resources_of(found: Distribution) -> dict[str, list[str]]:
    """Return the resource folders of a distribution, relative to its installation folder."""
    kinds: dict[str, list[str]] = {}
    for file in found.files or ():
        parts = PurePosixPath(os.path.normpath(file)).parts
        while parts and parts[0] == "..":  # as pip writes what lies next to the modules
            parts = parts[1:]
        if parts[:2] == _SHARED.parts and len(parts) > 3 and parts[2] in KINDS:  # noqa: PLR2004 - share/pi/KIND/NAME
            where = str(_SHARED / parts[2])
            if where not in kinds.setdefault(parts[2], []):
                kinds[parts[2]].append(where)
    return kinds


def grants_of(found: Distribution, folder: Path) -> dict[str, Any] | None:
    """Return the grants that a distribution's ``pi_plugin.json`` requests; None without such a file.

    Raises:
        UserError: The file is not valid.
    """
    file = next(_manifests(found, folder), None)
    if file is None:
        return None
    try:
        return parse_grants(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{FILE} of {found.metadata['Name']} cannot be used: {error}") from error


def _manifests(found: Distribution, folder: Path) -> Iterator[Path]:
    yield from (folder / file for file in found.files or () if PurePosixPath(file).name == FILE)
    for path in read_pth(str(folder))[0]:  # an editable one has its files elsewhere
        for value in plugins_of(found).values():
            manifest = Path(path, value.partition(":")[0].partition(".")[0], FILE)
            if manifest.is_file():
                yield manifest


def folder_name(folder: Path) -> str | None:
    """Return the name of the Python project in a folder; None if there is none.

    Raises:
        UserError: Its ``pyproject.toml`` cannot be read.
    """
    import tomllib

    file = folder / "pyproject.toml"
    if not file.is_file():
        return None
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8")).get("project")
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}") from error
    return canonicalize_name(project["name"]) if isinstance(project, dict) and "name" in project else None


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


def is_unchanged(found: Distribution, folder: Path, path: str) -> bool:
    """Whether a distribution lists a file of its folder with a hash, and the file has it."""
    rows = csv.reader((found.read_text("RECORD") or "").splitlines())
    recorded = next((row[1] for row in rows if len(row) > 1 and row[0] == path), "")
    return bool(recorded) and _is_same(folder / path, recorded)


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
