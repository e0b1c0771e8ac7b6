"""Where settings come from: layers of two files, the environment and the command line, weakest first."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from attrs import frozen

from pi_core.base.json_file import UnusableFile, change_text, format_object, is_truncated, parse_object, read_text
from pi_core.settings.migrations import migrated, take_global_only
from pi_core.settings.values import nested
from pi_hookspecs import UserError
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pi_core.settings.trust import ProjectTrust

__all__ = [
    "COMMAND_LINE",
    "ENVIRONMENT",
    "IN_MEMORY",
    "FileStorage",
    "Layer",
    "MemorySource",
    "Scope",
    "SettingsStorage",
    "StoredSource",
    "Unread",
    "WatchedStorage",
]

COMMAND_LINE = "command line"
"""Origin of what an option on the command line set."""
IN_MEMORY = "memory"
"""Origin of what a program passed to ``Settings.in_memory``."""

ENVIRONMENT: dict[str, tuple[str, ...]] = {
    "PI_CODING_AGENT_SESSION_DIR": ("sessionDir",),
    "PI_CLEAR_ON_SHRINK": ("terminal", "clearOnShrink"),
    "PI_HARDWARE_CURSOR": ("showHardwareCursor",),
}
"""Environment variables that stand for a setting; all but the first are switches, 1 or 0."""

Scope: TypeAlias = Literal["global", "project"]


@frozen(eq=False, repr=False)
class Unread(ReprMixin):
    """A place that says something that cannot be used.

    Attributes:
        why: The reason, with the place in it.
        text: What it says; None where that is not known, or not all of it.
    """

    why: str
    text: str | None

    def may_say(self, name: str) -> bool:
        """Return whether a setting of this name, the first step of a key, may be among what it says."""
        return self.text is None or name in self.text


@frozen(eq=False, repr=False)
class Layer(ReprMixin):
    """What one place says.

    Attributes:
        origin: A file's path, a variable's name, ``COMMAND_LINE`` or ``IN_MEMORY``.
        scope: Which of the two that can be changed it is, if it is one.
        unread: What is known of it where it cannot be used; it has no values then.
    """

    origin: str
    values: dict[str, Any]
    scope: Scope | None = None
    unread: Unread | None = None


class SettingsStorage(Protocol):
    """Keeps the text of the global settings and of the project's, for ``Settings.from_storage``."""

    def origin(self, scope: Scope) -> str:
        """Return where a scope is kept, as messages name it."""
        ...

    def read(self, scope: Scope) -> str | None:
        """Return the text of a scope, None where there is none; raise ``UserError`` where it cannot be read."""
        ...

    def change(self, scope: Scope, edit: Callable[[str | None], str | None]) -> None:
        """Store what ``edit`` makes of the text; nobody else may change it meanwhile. None stores nothing."""
        ...


@runtime_checkable
class WatchedStorage(SettingsStorage, Protocol):
    """A storage that others may change, too; what they wrote is read when a setting is asked for."""

    def stamp(self, scope: Scope) -> object:
        """Return a value that is another one when the text of a scope was changed; it is asked for at each access."""
        ...


class FileStorage:
    """Keeps settings in two files.

    Args:
        cwd: The project's folder; ``.pi/settings.json`` in it is the project's file.
        agent_dir: The folder with the global ``settings.json``.
    """

    def __init__(self, cwd: Path, agent_dir: Path) -> None:
        self._files: dict[Scope, Path] = {
            "global": agent_dir / "settings.json",
            "project": cwd / ".pi" / "settings.json",
        }

    def origin(self, scope: Scope) -> str:
        """Return the file's path."""
        return str(self._files[scope])

    def read(self, scope: Scope) -> str | None:
        """Return what the file says."""
        return read_text(self._files[scope])

    def stamp(self, scope: Scope) -> object:
        """Return time, size and number of the file; None where there is none."""
        try:
            found = os.stat(self._files[scope])  # noqa: PTH116 - at each access
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def change(self, scope: Scope, edit: Callable[[str | None], str | None]) -> None:
        """Replace the file in one step, under the lock that pi uses too."""
        if scope == "global":  # keys are in this folder, and who can write the file can name commands that pi runs
            change_text(self._files[scope], edit, folder_mode=0o700, file_mode=0o600)
        else:
            change_text(self._files[scope], edit)


class StoredSource:
    """Reads layers out of a storage, the environment and the command line; the later of them wins.

    Args:
        storage: Global and project settings.
        trust: Whether the project's count; without trust they are not even read. Given the default answer, where
            that is the user's to choose.
        environ: Environment variables.
        overrides: What the command line sets.
    """

    def __init__(
        self,
        storage: SettingsStorage,
        trust: Callable[[str], ProjectTrust],
        environ: Mapping[str, str],
        overrides: Mapping[str, Any] | None,
    ) -> None:
        self.storage = storage
        self._trust = trust
        self._environ = environ
        self._overrides = overrides
        self._stamp = storage.stamp if isinstance(storage, WatchedStorage) else None

    def read(
        self, complain: Callable[[str], None], trust: ProjectTrust | None = None
    ) -> tuple[list[Layer], ProjectTrust]:
        """Return what is in force now, weakest first, and whether the project is trusted.

        Args:
            complain: Called with what cannot be used.
            trust: The decision about the project; made anew when None.
        """
        layers = [self._layer("global", complain)]
        if trust is None:
            default = layers[0].values.get("defaultProjectTrust", "ask")
            trust = self._trust(default if default in ("always", "never") else "ask")
        if trust.is_trusted:
            layers.append(self._layer("project", complain))
        layers += _environment(self._environ, complain)
        if self._overrides:
            layers.append(Layer(COMMAND_LINE, copy.deepcopy(dict(self._overrides))))
        return layers, trust

    def stamp(self) -> object:
        """Return a value that is another one when a scope was changed."""
        return (self._stamp("global"), self._stamp("project")) if self._stamp is not None else None

    def text(self, scope: Scope) -> str | None:
        """Return the text of a scope; None where it cannot be read (any more)."""
        try:
            return self.storage.read(scope)
        except UserError:
            return None

    def change(self, scope: Scope, edit: Callable[[dict[str, Any]], None]) -> None:
        """Change what a scope says now, also what other processes wrote meanwhile.

        Raises:
            UserError: It cannot be read, or not be written; nothing was changed.
        """
        origin = self.storage.origin(scope)

        def edited(text: str | None) -> str:
            try:
                values = migrated(parse_object(text or "", origin))
            except UnusableFile as error:
                raise UserError(f"{error}. Nothing was changed; repair or remove the file first.") from error
            edit(values)
            return format_object(values)

        self.storage.change(scope, edited)

    def _layer(self, scope: Scope, complain: Callable[[str], None]) -> Layer:
        origin = self.storage.origin(scope)
        text: str | None = None
        try:
            text = self.storage.read(scope)
            values = migrated(parse_object(text or "", origin))
        except UserError as error:
            complain(f"{error}; none of its settings counts.")
            known = text if text is not None and not is_truncated(text, error) else None
            return Layer(origin, {}, scope, Unread(str(error), known))
        if scope == "project":
            for key in take_global_only(values):
                complain(f"Setting {key!r} counts in the user's own settings alone, not in {origin}; it is ignored.")
        return Layer(origin, values, scope)


class MemorySource:
    """Holds what a program says; changes last as long as the program."""

    def __init__(self, values: Mapping[str, Any], trust: ProjectTrust) -> None:
        self._trust = trust
        self._layers: dict[Scope, Layer] = {
            "global": Layer(IN_MEMORY, copy.deepcopy(dict(values)), "global"),
            "project": Layer(IN_MEMORY, {}, "project"),
        }

    def read(
        self, complain: Callable[[str], None], trust: ProjectTrust | None = None
    ) -> tuple[list[Layer], ProjectTrust]:
        """Return both layers."""
        return [*self._layers.values()], self._trust

    def stamp(self) -> None:
        """Return None: only ``change`` changes them."""

    def text(self, scope: Scope) -> str | None:
        """Return None: there is no text that anybody could look a line up in."""
        return None

    def change(self, scope: Scope, edit: Callable[[dict[str, Any]], None]) -> None:
        """Change a layer in place."""
        edit(self._layers[scope].values)


def _environment(environ: Mapping[str, str], complain: Callable[[str], None]) -> Iterator[Layer]:
    """Go through what the environment sets; an empty variable sets nothing."""
    for name, steps in ENVIRONMENT.items():
        text = environ.get(name)
        if not text:
            continue
        if name == "PI_CODING_AGENT_SESSION_DIR":
            yield Layer(name, nested(steps, text))
        elif text in ("1", "0"):
            yield Layer(name, nested(steps, text == "1"))
        else:
            complain(f"{name} must be 1 or 0, not {text!r}; it is ignored.")
