"""Extensions in TypeScript and JavaScript: which files of a folder they are, by the rules of the original pi.

A plugin runs them (service ``ExtensionLanguage``); without one they are found, and reported as not loaded.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_core.host.extensions.manifests import refusing_program, run_program
from pi_core.host.extensions.program_index import ProgramIndex
from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_core.host.extensions.manifests import RunningHost
    from pi_hookspecs import PluginManifest

__all__ = ["load_script", "name_of_script", "scripts_of_folder"]

_INDEXES = ("index.ts", "index.js")


def scripts_of_folder(folder: Path) -> list[Path]:
    """Return the files that a folder declares as extensions: ``pi.extensions`` in package.json, else its index file.

    Paths of a declaration that are not there do not count.
    """
    declared = [folder / each for each in _declared(folder / "package.json")]
    found = [file for file in declared if file.is_file() and _is_below(file, folder)]
    return found or [file for each in _INDEXES if (file := folder / each).is_file()][:1]


def name_of_script(file: Path) -> str:
    """Return the name of an extension: that of its package, of the folder of an index file, or of the file.

    Of a package with several, that of the package and its own.
    """
    for folder in file.parents[:3]:
        package = _package(folder / "package.json")
        if isinstance(package.get("pi"), dict) and isinstance(package.get("name"), str):
            name = package["name"].rpartition("/")[2]
            is_whole = _place(file) == folder or _is_only(folder)
            return name if is_whole else _joined(name, _own_name(file))
    return _own_name(file)


def _own_name(file: Path) -> str:
    return file.stem if file.stem != "index" else _place(file).name


def _place(file: Path) -> Path:
    """Return what an extension is named after: the file, or the folder that an index file stands for."""
    if file.stem != "index":
        return file
    return file.parent.parent if file.parent.name == "src" else file.parent


def _is_only(folder: Path) -> bool:
    """Whether a package declares one extension: one file, or a folder with one file or folder."""
    from pi_core.host.extensions.places import is_script

    declared = [folder / each for each in _declared(folder / "package.json")]
    if len(declared) != 1 or not declared[0].is_dir():
        return len(declared) == 1
    return sum(is_script(each) or each.is_dir() for each in declared[0].iterdir()) <= 1


def _joined(package: str, own: str) -> str:
    """Return the name of one extension of a package, without saying twice what both names begin with."""
    bare = package.removeprefix("pi-")
    return f"{package}{own[len(bare) :]}" if own == bare or own.startswith(f"{bare}-") else f"{package}-{own}"


def _declared(file: Path) -> list[str]:
    pi = _package(file).get("pi")
    found = pi.get("extensions") if isinstance(pi, dict) else None
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _package(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_below(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


def load_script(host: RunningHost, file: Path, name: str, report: Callable[[str], None]) -> object | None:
    """Return the plugin of a file; report it if it cannot be used.

    An unusable plugin that is known to implement a hook whose failures refuse, refuses its calls.
    """
    index = ProgramIndex(host.settings.agent_dir, file.parent, file)
    try:
        manifest = _manifest_of(host, file, name)
    except PiError as error:
        return refusing_program(name, index.guards(), str(error), report)
    return run_program(host, manifest, index, name=name, place=file, report=report)


def _manifest_of(host: RunningHost, file: Path, name: str) -> PluginManifest:
    for language in reversed(host.services("ExtensionLanguage")):
        if file.name.endswith(tuple(language.thing.suffixes)):
            manifest: PluginManifest = language.thing.manifest_of(file, name, host.settings)
            return manifest
    from pi_core.host.advice import plugin_for

    raise UserError(f"no installed plugin can run files such as {file.name}. {plugin_for('ExtensionLanguage')}")
