"""Extensions in TypeScript and JavaScript: which files of a folder they are, by the rules of the original pi.

A plugin runs them (service ``ExtensionLanguage``); without one they are found, and reported as not loaded.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_core.host.extensions.manifests import refusing_program
from pi_core.host.extensions.program_index import ProgramIndex
from pi_core.host.guarded import guarded
from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_core.host.extensions.manifests import RunningHost
    from pi_hookspecs import PluginManifest

__all__ = ["load_script", "scripts_of_folder"]

_INDEXES = ("index.ts", "index.js")


def scripts_of_folder(folder: Path) -> list[Path]:
    """Return the files that a folder declares as extensions: ``pi.extensions`` in package.json, else its index file."""
    declared = _declared(folder / "package.json")
    if declared:
        return [file for each in declared if (file := folder / each).is_file() and _is_below(file, folder)]
    return [file for each in _INDEXES if (file := folder / each).is_file()][:1]


def _declared(file: Path) -> list[str]:
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8-sig"))["pi"]["extensions"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _is_below(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder.resolve())


def load_script(host: RunningHost, file: Path, name: str, report: Callable[[str], None]) -> object | None:
    """Return the plugin of a file; report it if it cannot be used.

    An unusable plugin that is known to implement a hook whose failures refuse, refuses its calls.
    """
    index = ProgramIndex(host.settings.agent_dir, file.parent, file)
    loaded: list[object] = []
    problems: list[str] = []
    try:
        manifest = _manifest_of(host, file, name)
        runners = host.services("PluginRunner")
        if not runners:
            problems.append("no installed plugin runs programs as plugins; the plugin 'isolated' does")
        for runner in runners[-1:]:
            with guarded(problems.append, name, f"loading {file}", host.load_seconds):
                loaded.append(runner.thing.load_plugin(manifest, partial(host.report, name, "import")))
    except PiError as error:
        problems.append(str(error))
    return loaded[0] if loaded else refusing_program(name, index.guards(), "; ".join(problems), report)


def _manifest_of(host: RunningHost, file: Path, name: str) -> PluginManifest:
    for language in reversed(host.services("ExtensionLanguage")):
        if file.name.endswith(tuple(language.thing.suffixes)):
            manifest: PluginManifest = language.thing.manifest_of(file, name, host.settings)
            return manifest
    raise UserError(
        f"no installed plugin runs files like {file.name}; the plugin 'typescript' runs TypeScript and JavaScript"
        " (pip install pluggypi-typescript)"
    )
