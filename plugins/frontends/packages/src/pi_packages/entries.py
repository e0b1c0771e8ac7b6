"""The list ``packages`` in the settings, which the TypeScript pi also reads, and the scopes that contain one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve, frozen

from pi_core.base.json_file import change_text, format_object, parse_object, read_text
from pi_core.host.overlay import project_root, run_root, user_root
from pi_hookspecs import UserError
from pi_hookspecs.values import Value
from pi_packages.sources import parse_stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_packages.sources import Source

__all__ = [
    "Entry",
    "Scope",
    "change_entries",
    "project_scope",
    "read_entries",
    "run_scope",
    "stored_text",
    "user_scope",
    "written_sources",
]


@frozen(kw_only=True, eq=False, repr=False)
class Scope(Value):
    """Where packages are declared, locked and installed.

    Attributes:
        name: ``user``, ``project``, or ``run`` for what ``-e`` installs.
        agent_dir: The agent directory, which contains the installed packages of both scopes.
        root: The folder of generations.
        settings_file: The file with the list.
        lock_file: The lock.
        home: The user's home folder.
    """

    name: Literal["user", "project", "run"]
    agent_dir: Path
    root: Path
    settings_file: Path
    lock_file: Path
    home: Path


@frozen(kw_only=True, eq=False, repr=False)
class Entry(Value):
    """An entry of the list: its source, and its JSON form, a string or an object with filters."""

    source: Source
    written: str | dict[str, Any]

    @property
    def options(self) -> dict[str, Any]:
        """The filters; empty for a text."""
        return (
            {key: value for key, value in self.written.items() if key != "source"}
            if isinstance(self.written, dict)
            else {}
        )


def user_scope(agent_dir: Path, home: Path) -> Scope:
    """Return the user's scope."""
    return Scope(
        name="user",
        agent_dir=agent_dir,
        root=user_root(agent_dir),
        settings_file=agent_dir / "settings.json",
        lock_file=agent_dir / "pylock.pi.toml",
        home=home,
    )


def project_scope(agent_dir: Path, project: Path, home: Path) -> Scope:
    """Return the scope of a project, whose list and lock are in its ``.pi``."""
    return evolve(
        user_scope(agent_dir, home),
        name="project",
        root=project_root(agent_dir, project),
        settings_file=project / ".pi" / "settings.json",
        lock_file=project / ".pi" / "pylock.pi.toml",
    )


def run_scope(agent_dir: Path, source: str, home: Path) -> Scope:
    """Return the scope of a source that is installed for single runs; its list and lock are installed with it."""
    root = run_root(agent_dir, source)
    return evolve(
        user_scope(agent_dir, home),
        name="run",
        root=root,
        settings_file=root / "settings.json",
        lock_file=root / "pylock.pi.toml",
    )


def written_sources(scope: Scope) -> list[str]:
    """Return the sources in a scope's list as written, including invalid ones.

    Raises:
        UserError: The file cannot be read.
    """
    values = parse_object(read_text(scope.settings_file) or "", str(scope.settings_file))
    found = (each.get("source") if isinstance(each, dict) else each for each in _list_of(values, scope))
    return [each for each in found if isinstance(each, str)]


def read_entries(scope: Scope) -> tuple[list[Entry], list[str]]:
    """Return the valid entries of a scope, and the problems of the others.

    Raises:
        UserError: The file cannot be read.
    """
    values = parse_object(read_text(scope.settings_file) or "", str(scope.settings_file))
    entries: list[Entry] = []
    problems: list[str] = []
    for written in _list_of(values, scope):
        text = written.get("source") if isinstance(written, dict) else written
        if not isinstance(text, str):
            problems.append(f"{scope.settings_file}: packages: {written!r} has no source")
            continue
        try:
            entries.append(Entry(source=parse_stored(text, scope.settings_file.parent, scope.home), written=written))
        except UserError as error:
            problems.append(f"{scope.settings_file}: packages: {error}")
    return entries, problems


def stored_text(source: Source, written: str, scope: Scope) -> str:
    """Return the form of a source that settings store; a relative path stays relative, to the settings file."""
    if source.kind not in ("folder", "file", "wheel") or source.text.startswith(("https://", "http://")):
        return source.text
    if Path(written).is_absolute() or written.startswith("~"):
        return source.text
    return os.path.relpath(source.text, scope.settings_file.parent)


def change_entries(scope: Scope, put: Sequence[str | dict[str, Any]], drop: Sequence[str]) -> None:
    """Add, replace and remove entries in the settings file, by identity; the rest of the file is kept.

    Raises:
        UserError: The file cannot be read or written.
    """

    def identity(written: Any) -> str | None:
        text = written.get("source") if isinstance(written, dict) else written
        try:
            return parse_stored(str(text), scope.settings_file.parent, scope.home).identity
        except UserError:
            return None if not isinstance(text, str) else text

    def edit(text: str | None) -> str:
        values = parse_object(text or "", str(scope.settings_file))
        new = {identity(each): each for each in put}
        kept = []
        for each in _list_of(values, scope):
            mine = identity(each)
            if mine in new:
                kept.append(_merged(each, new.pop(mine)))
            elif mine not in drop and each not in drop:
                kept.append(each)
        values["packages"] = [*kept, *new.values()]
        if not values["packages"]:
            del values["packages"]
        return format_object(values)

    is_private = scope.name == "user"
    change_text(
        scope.settings_file, edit, folder_mode=0o700 if is_private else 0o777, file_mode=0o600 if is_private else 0o644
    )


def _merged(before: Any, after: Any) -> Any:
    """Return an entry with a new source and its previous filters."""
    if not isinstance(before, dict):
        return after
    return {**before, **(after if isinstance(after, dict) else {"source": after})}


def _list_of(values: dict[str, Any], scope: Scope) -> list[Any]:
    found = values.get("packages", [])
    if not isinstance(found, list):
        raise UserError(f"{scope.settings_file}: packages must be a list of sources, not {type(found).__name__}")
    return found
