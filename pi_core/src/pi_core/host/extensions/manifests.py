"""Plugins that are programs: a folder with a ``pi_plugin.json`` that names a command, run by a ``PluginRunner``."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from pi_core.agent.safe_text import safe_repr
from pi_core.host.extensions.program_index import ProgramIndex
from pi_core.host.grants import FILE, parse_grants
from pi_core.host.guarded import guarded
from pi_hookspecs import PiError, PluginError, PluginManifest, UserError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pi_core.host.registry import Registered
    from pi_core.settings import Settings
    from pi_hookspecs import PiAPI

__all__ = [
    "Refusing",
    "is_program",
    "load_program",
    "name_of_program",
    "read_program",
    "refusing_program",
    "run_program",
]

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"


class Refusing:
    """Replaces a plugin that cannot be used: its hooks fail, which refuses the call if failures of the hook refuse.

    Args:
        name: The plugin.
        hooks: The hooks that the plugin is known to implement.
        why: Why the plugin cannot be used.
    """

    def __init__(self, name: str, hooks: Iterable[str], why: str) -> None:
        self.name, self.hooks, self.why = name, list(hooks), why

    @hookimpl
    def activate(self, pi: PiAPI) -> None:
        """Register handlers that raise."""
        for hook in self.hooks:
            pi.on(hook, self._fail)

    def _fail(self, _event: object, _ctx: object) -> NoReturn:
        raise PluginError(self.name, f"it cannot be used: {self.why}")


def is_program(folder: Path) -> bool:
    """Whether a folder has a ``pi_plugin.json`` that names a command; True also if the file cannot be read."""
    file = folder / FILE
    if not file.is_file():
        return False
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return not any((folder / each).exists() for each in ("__init__.py", "pyproject.toml"))
    return isinstance(content, dict) and "command" in content


def name_of_program(file: Path) -> str:
    """Return the name in a ``pi_plugin.json``; the name of the folder if the file has no usable name."""
    try:
        name = json.loads(file.read_text(encoding="utf-8"))["name"]
    except (OSError, ValueError, KeyError, TypeError):
        name = None
    return name if isinstance(name, str) and re.fullmatch(_NAME, name) else file.parent.name


def read_program(folder: Path, agent_dir: Path) -> PluginManifest:
    """Return the plugin of a folder.

    Raises:
        UserError: The file cannot be read, or a value in it is missing or wrong.
    """
    file = folder / FILE
    try:
        text = file.read_text(encoding="utf-8")
        content: dict[str, Any] = json.loads(text)
        grants = parse_grants(text)
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} cannot be used: {error}") from error
    name, command, contract = (content.get(key) for key in ("name", "command", "contract"))
    if not isinstance(name, str) or not re.fullmatch(_NAME, name):
        raise UserError(f"{file}: name must be letters, digits, dots, dashes and underscores, not {safe_repr(name)}")
    if not isinstance(command, list) or not command or not all(isinstance(each, str) and each for each in command):
        raise UserError(f"{file}: command must be a list of a program and its arguments, not {safe_repr(command)}")
    if not isinstance(contract, str) or not re.fullmatch(r"\d+(\.\d+)*", contract):
        raise UserError(
            f'{file}: contract must be the version that the plugin is written for, such as "1.1",'
            f" not {safe_repr(contract)}"
        )
    command = [sys.executable if each == "{python}" else each for each in command]
    return PluginManifest(
        name=name, command=command, contract=contract, folder=folder.absolute(), grants=grants, agent_dir=agent_dir
    )


class RunningHost(Protocol):
    """The members of the plugin host that are used here."""

    settings: Settings
    load_seconds: float

    def services(self, kind: str) -> list[Registered]:
        """Return every plugin's services of one kind, with the preferred service last."""
        ...

    def report(self, plugin: str, step: str, message: str) -> None:
        """Add a problem of a plugin."""
        ...


def load_program(host: RunningHost, folder: Path, name: str, report: Callable[[str], None]) -> object | None:
    """Return the plugin that the installed ``PluginRunner`` creates for a folder; report it if it cannot be used.

    An unusable plugin that is known to implement a hook whose failures refuse, or declares one, refuses its calls.
    """
    index = ProgramIndex(host.settings.agent_dir, folder)
    try:
        manifest = read_program(folder, host.settings.agent_dir)
    except UserError as error:
        return refusing_program(name, index.guards(), str(error), report)
    return run_program(host, manifest, index, name=name, place=folder, report=report)


def run_program(
    host: RunningHost,
    manifest: PluginManifest,
    index: ProgramIndex,
    *,
    name: str,
    place: Path,
    report: Callable[[str], None],
) -> object | None:
    """Return the plugin that the installed ``PluginRunner`` creates for a manifest; report it if it cannot be used.

    Args:
        host: Has the installed runners.
        manifest: The plugin.
        index: Knows the hooks of its last run.
        name: The plugin's name in this run.
        place: Its folder or file, for messages.
        report: Called with the reason if it cannot be used.
    """
    loaded: list[object] = []
    problems: list[str] = []
    try:
        runners = host.services("PluginRunner")
        if not runners:
            from pi_core.host.advice import plugin_for

            problems.append(f"no installed plugin can run programs as plugins. {plugin_for('PluginRunner')}")
        for runner in runners[-1:]:
            with guarded(problems.append, name, f"loading {place}", host.load_seconds):
                try:
                    loaded.append(runner.thing.load_plugin(manifest, partial(host.report, name, "import")))
                except UserError as error:
                    problems.append(str(error))
    except PiError as error:
        problems.append(str(error))
    return loaded[0] if loaded else refusing_program(name, index.guards(manifest.grants), "; ".join(problems), report)


def refusing_program(name: str, hooks: list[str], why: str, report: Callable[[str], None]) -> Refusing | None:
    """Report that a program cannot be used; return what refuses in its place if it is known to refuse."""
    refusal = f". It refuses in {', '.join(hooks)} until it is fixed or disabled: --disable {name}" if hooks else ""
    report(f"not loaded: {why}{refusal}")
    return Refusing(name, hooks, why) if hooks else None
