"""Sources of settings: layers of two files, environment variables and the command line, lowest precedence first."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from pi_core.base.json_file import UnusableFile, change_text, format_object, is_truncated, parse_object, read_text
from pi_core.settings.migrations import migrate
from pi_core.settings.values import nested
from pi_hookspecs import UserError
from pi_hookspecs.deferred import frozen
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
    "UnreadFile",
    "WatchedStorage",
]

COMMAND_LINE = "command line"
"""Origin of settings from options of the command line."""
IN_MEMORY = "memory"
"""Origin of settings that a program passed to ``Settings.in_memory``."""

ENVIRONMENT: dict[str, tuple[str, ...]] = {
    "PI_CODING_AGENT_SESSION_DIR": ("sessionDir",),
}
"""Environment variables that set one of pi's own settings; those of plugins' settings stand in their declarations."""

Scope: TypeAlias = Literal["global", "project"]


@frozen(eq=False, repr=False)
class UnreadFile(ReprMixin):
    """A settings file that cannot be used.

    Attributes:
        why: The reason, with the file's path.
        text: The text of the file; None if that is not known completely.
    """

    why: str
    text: str | None

    def may_contain(self, name: str) -> bool:
        """Return whether the file may set a setting of this name, the first step of a key."""
        return self.text is None or name in self.text


@frozen(eq=False, repr=False)
class Layer(ReprMixin):
    """The settings of one source.

    Attributes:
        origin: A file's path, a variable's name, ``COMMAND_LINE`` or ``IN_MEMORY``.
        values: The settings, nested as in a file.
        scope: The scope, if the source is one of the two that can be changed.
        unread: The error of a file that cannot be used, which has no values.
    """

    origin: str
    values: dict[str, Any]
    scope: Scope | None = None
    unread: UnreadFile | None = None


class SettingsStorage(Protocol):
    """Stores the text of the global settings and of the project's, for ``Settings.from_storage``."""

    def origin(self, scope: Scope) -> str:
        """Return where a scope is stored, for error messages."""
        ...

    def read(self, scope: Scope) -> str | None:
        """Return the text of a scope; None if there is none. Raise ``UserError`` if it cannot be read."""
        ...

    def change(self, scope: Scope, edit: Callable[[str | None], str | None]) -> None:
        """Replace the text with the result of ``edit``, under a lock; None changes nothing."""
        ...


@runtime_checkable
class WatchedStorage(SettingsStorage, Protocol):
    """A storage that others may also change; changes are detected whenever a setting is read."""

    def stamp(self, scope: Scope) -> object:
        """Return a value that differs after the text of a scope was changed; called at each access."""
        ...


class FileStorage:
    """Stores settings in two files.

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
        """Return the text of the file; None if there is none."""
        return read_text(self._files[scope])

    def stamp(self, scope: Scope) -> object:
        """Return modification time, size and inode of the file; None if there is none."""
        try:
            found = os.stat(self._files[scope])  # noqa: PTH116 - at each access
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def change(self, scope: Scope, edit: Callable[[str | None], str | None]) -> None:
        """Replace the file atomically, under the same lock that the TypeScript pi uses."""
        if scope == "global":  # the folder contains keys, and settings can name commands that pi runs
            change_text(self._files[scope], edit, folder_mode=0o700, file_mode=0o600)
        else:
            change_text(self._files[scope], edit)


class StoredSource:
    """Reads layers from a storage, environment variables and the command line, in this order; later ones win.

    Args:
        storage: Global and project settings.
        trust: Decides whether the project's settings are read. Called with the setting ``defaultProjectTrust``.
        environ: Environment variables.
        overrides: Settings from the command line.
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
        self, report: Callable[[str], None], trust: ProjectTrust | None = None
    ) -> tuple[list[Layer], ProjectTrust]:
        """Return the layers, lowest precedence first, and whether the project is trusted.

        Args:
            report: Called with a message for each setting or file that cannot be used.
            trust: The decision about the project; None decides again.
        """
        layers = [self._layer("global", report)]
        if trust is None:
            default = layers[0].values.get("defaultProjectTrust", "ask")
            trust = self._trust(default if default in ("always", "never") else "ask")
        if trust.is_trusted:
            layers.append(self._layer("project", report))
        layers += _own_variables(self._environ)
        if self._overrides:
            layers.append(Layer(COMMAND_LINE, copy.deepcopy(dict(self._overrides))))
        return layers, trust

    def variable(self, name: str) -> str | None:
        """Return the text of an environment variable; None if it is not set, or empty."""
        return self._environ.get(name) or None

    def stamp(self) -> object:
        """Return a value that differs after a scope was changed."""
        return (self._stamp("global"), self._stamp("project")) if self._stamp is not None else None

    def text(self, scope: Scope) -> str | None:
        """Return the text of a scope; None if it cannot be read."""
        try:
            return self.storage.read(scope)
        except UserError:
            return None

    def change(self, scope: Scope, edit: Callable[[dict[str, Any]], None]) -> None:
        """Edit the current settings of a scope, with changes that other processes have made.

        Raises:
            UserError: The scope cannot be read or written; nothing was changed.
        """
        origin = self.storage.origin(scope)

        def edited(text: str | None) -> str:
            try:
                values = migrate(parse_object(text or "", origin))
            except UnusableFile as error:
                raise UserError(f"{error}. Nothing was changed; repair or remove the file first.") from error
            edit(values)
            return format_object(values)

        self.storage.change(scope, edited)

    def _layer(self, scope: Scope, report: Callable[[str], None]) -> Layer:
        origin = self.storage.origin(scope)
        text: str | None = None
        try:
            text = self.storage.read(scope)
            values = migrate(parse_object(text or "", origin))
        except UserError as error:
            report(f"{error}; none of its settings is used (see pi help settings).")
            known = text if text is not None and not is_truncated(text, error) else None
            return Layer(origin, {}, scope, UnreadFile(str(error), known))
        return Layer(origin, values, scope)


class MemorySource:
    """Holds a program's settings in memory."""

    def __init__(self, values: Mapping[str, Any], trust: ProjectTrust) -> None:
        self._trust = trust
        self._layers: dict[Scope, Layer] = {
            "global": Layer(IN_MEMORY, copy.deepcopy(dict(values)), "global"),
            "project": Layer(IN_MEMORY, {}, "project"),
        }

    def read(
        self, report: Callable[[str], None], trust: ProjectTrust | None = None
    ) -> tuple[list[Layer], ProjectTrust]:
        """Return both layers."""
        return [*self._layers.values()], self._trust

    def variable(self, name: str) -> str | None:
        """Return None: variables do not set a program's own settings."""

    def stamp(self) -> None:
        """Return None: the layers only change by ``change``."""

    def text(self, scope: Scope) -> str | None:
        """Return None: there is no text."""
        return None

    def change(self, scope: Scope, edit: Callable[[dict[str, Any]], None]) -> None:
        """Change a layer in place."""
        edit(self._layers[scope].values)


def _own_variables(environ: Mapping[str, str]) -> Iterator[Layer]:
    """Yield a layer for each variable of pi's own settings that is set and not empty."""
    for name, steps in ENVIRONMENT.items():
        if text := environ.get(name):
            yield Layer(name, nested(steps, text))
