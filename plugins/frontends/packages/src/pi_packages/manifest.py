"""Packages of resources: what a folder provides, by its manifest or its folder names; or a plugin's program.

A package is not trusted: it cannot reach anything outside its folder, neither by ``..`` nor by links.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from pi_core.host.extensions.manifests import is_program, read_program
from pi_core.host.extensions.places import is_script
from pi_core.host.extensions.scripts import scripts_of_folder
from pi_hookspecs import UserError
from pi_packages.contents import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_manifest", "scripts_in"]

_SKIPPED = {".git", "node_modules", "__pycache__"}


def read_manifest(folder: Path, name: str) -> dict[str, Any]:
    """Return ``resources``, lists of absolute paths by kind, and ``notes`` on what pi cannot use; and ``grants``.

    Args:
        folder: The package's files.
        name: The package's name in messages.

    Raises:
        UserError: The manifest cannot be read, a path leaves the folder, or there is nothing that pi can use.
    """
    folder = folder.resolve()
    if is_program(folder):
        program = read_program(folder, folder)
        return {"resources": {"extensions": [str(folder)]}, "notes": [], "grants": program.grants}
    declared = _declared(folder)
    resources: dict[str, list[str]] = {}
    named: list[str] = []
    for kind in KINDS:
        patterns = declared.get(kind, []) if declared is not None else [kind]
        if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
            raise UserError(f"{folder}: {kind} in its manifest must be a list of paths, not {patterns!r:.80}")
        named += patterns
        for path in _chosen(folder, patterns):
            if kind == "extensions" and not _has_extensions(path):
                continue
            resources.setdefault(kind, []).append(str(path))
    if not resources:
        why = (
            f": its manifest names {', '.join(named)}, where there is nothing that pi can use"
            if declared and named
            else ""
        )
        raise UserError(f"{name} has no extensions, skills, prompts or themes{why}")
    scripts = [each for path in resources.get("extensions", ()) for each in scripts_in(Path(path))]
    notes = [f"{_count(scripts)} run in Node.js, with your privileges"] if scripts else []
    return {"resources": resources, "notes": notes}


def _count(scripts: list[str]) -> str:
    return f"{len(scripts)} TypeScript or JavaScript extension{'' if len(scripts) == 1 else 's'}"


def _declared(folder: Path) -> dict[str, Any] | None:
    """Return the manifest; None without one."""
    try:
        if (folder / "pyproject.toml").is_file():
            found = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("tool", {}).get("pi")
            if found is not None:
                return _object(found, folder / "pyproject.toml")
        if (folder / "package.json").is_file():
            found = json.loads((folder / "package.json").read_text(encoding="utf-8-sig")).get("pi")
            if found is not None:
                return _object(found, folder / "package.json")
        if (folder / "pi.toml").is_file():
            return tomllib.loads((folder / "pi.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError, AttributeError) as error:
        raise UserError(f"the manifest in {folder} cannot be read: {error}") from error
    return None


def _object(found: Any, file: Path) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise UserError(f"{file}: the manifest of pi must be an object, not {found!r:.80}")
    return found


def _chosen(folder: Path, patterns: list[str]) -> list[Path]:
    """Return the paths that a list of patterns names, without those of patterns that begin with ``!``.

    Raises:
        UserError: A pattern leads out of the folder, or one leaves out a part of what another names as a whole.
    """
    found = [path for each in patterns if not each.startswith("!") for path in _matching(folder, each)]
    for pattern in patterns:
        for left_out in _matching(folder, pattern[1:]) if pattern.startswith("!") else ():
            whole = next((path for path in found if path in left_out.parents), None)
            if whole is not None:
                relative = whole.relative_to(folder).as_posix()
                raise UserError(
                    f"{folder}: {pattern!r} in its manifest leaves out a part of {relative!r}, which is used whole;"
                    f" name its contents, as {relative + '/*'!r}"
                )
            found = [path for path in found if path != left_out]
    return found


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the paths that a pattern of a manifest names.

    Raises:
        UserError: It leads out of the folder.
    """
    parts = pattern.replace("\\", "/").split("/")
    if pattern.startswith(("/", "~", "!")) or PurePath(pattern).is_absolute() or ".." in parts:
        raise UserError(f"{folder}: {pattern!r} in its manifest is not a path below the package's folder")
    normal = "/".join(part for part in parts if part not in ("", "."))
    paths = sorted(folder.glob(normal)) if any(sign in normal for sign in "*?[") else [folder / normal]
    for path in paths:
        if not path.exists() or _SKIPPED.intersection(path.relative_to(folder).parts):
            continue
        for each in [path, *(path.rglob("*") if path.is_dir() else ())]:
            if each.is_symlink() and not each.resolve().is_relative_to(folder):
                raise UserError(f"{each} is a link that leads out of the package")
        if path.resolve().is_relative_to(folder):
            yield path


def scripts_in(path: Path) -> list[str]:
    """Return the extensions in TypeScript and JavaScript that a path of a manifest names."""
    if path.is_file():
        return [str(path)] if is_script(path) else []
    inner = [each for folder in sorted(path.glob("*/")) for each in scripts_of_folder(folder)]
    return [str(each) for each in scripts_of_folder(path) or [*filter(is_script, sorted(path.glob("*"))), *inner]]


def _has_extensions(path: Path) -> bool:
    if path.is_file():
        return path.suffix == ".py" or is_script(path)
    return any(path.glob("*.py")) or any(path.glob("*/__init__.py")) or bool(scripts_in(path))
