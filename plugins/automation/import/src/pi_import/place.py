"""A place that things are taken from, the user's home folder or the project, and the folder that they are taken to."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import field, frozen

from pi_core import escapes_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import Settings
    from pi_import.steps import Step

__all__ = ["LARGEST", "Place", "Unreadable", "object_in"]

LARGEST = 1 << 20
"""Bytes of a file of another agent; a larger one is not imported."""

_MOST_FILES = 500
_DEEPEST = 4


class Unreadable(Exception):
    """A file cannot be used; the message is the reason, as a sentence without subject and full stop."""


@frozen(kw_only=True, eq=False)
class Place:
    """Where to take things from, and to.

    Attributes:
        scope: ``user`` for what the user has in the home folder, ``project`` for what is in the working directory.
        root: That folder.
        target: The folder of pi's files: the agent directory, or the project's ``.pi``.
        settings: The settings, of which the file of this scope is changed.
        claimed: Files that a step of this run is going to write.
        problems: Steps about files that could not be read.
        environ: The environment variables.
    """

    scope: Literal["user", "project"]
    root: Path
    target: Path
    settings: Settings
    claimed: set[Path] = field(factory=set)
    problems: list[Step] = field(factory=list)
    environ: dict[str, str] = field(factory=lambda: dict(os.environ), repr=False)

    @property
    def settings_scope(self) -> Literal["global", "project"]:
        """The name of the scope for ``Settings.set``."""
        return "global" if self.scope == "user" else "project"

    def label(self, file: Path) -> str:
        """Return a path as a user writes it: with ``~``, or relative to the project."""
        if not file.is_relative_to(self.root):
            return str(file)
        below = file.relative_to(self.root)
        return f"~/{below}" if self.scope == "user" else str(below)

    def read(self, file: Path) -> str:
        """Return the text of a file.

        Raises:
            Unreadable: There is none, it is too large, is not text, or is a link out of the project.
        """
        if self.scope == "project" and escapes_root(file, self.root):
            raise Unreadable(self._outside(file))
        try:
            status = file.stat()
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("is not a file")
            if status.st_size > LARGEST:
                raise Unreadable(f"has {status.st_size:,} bytes, and at most {LARGEST:,} are read")
            return file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise Unreadable("is not text in UTF-8") from error
        except (OSError, ValueError) as error:
            raise Unreadable(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error

    def read_object(self, file: Path) -> dict[str, Any]:
        """Return a JSON or TOML file, with ``//`` comments, as an object; empty if it does not exist.

        Raises:
            Unreadable: It cannot be read or parsed; the problem does not quote the file, which may contain keys.
        """
        from pi_core import read_json

        if not file.is_file():
            return {}
        text = self.read(file)
        try:
            values = tomllib.loads(text) if file.suffix == ".toml" else read_json(text)[0] if text.strip() else {}
        except json.JSONDecodeError as error:
            raise Unreadable(f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
        except tomllib.TOMLDecodeError as error:
            raise Unreadable(f"is not TOML: {error}") from error
        except (ValueError, RecursionError) as error:
            raise Unreadable("cannot be parsed") from error
        if not isinstance(values, dict):
            raise Unreadable("does not contain an object")
        return values

    def object_of(self, file: Path) -> dict[str, Any]:
        """Return what ``read_object`` does; if the file cannot be used, an empty object, and note the problem."""
        from pi_import.steps import left_out

        try:
            return self.read_object(file)
        except Unreadable as error:
            self.problems.append(left_out("setting", file.name, self.label(file), f"it {error}", scope=self.scope))
            return {}

    def _outside(self, file: Path) -> str:
        inside = os.path.normpath(file).startswith(f"{os.path.normpath(self.root)}{os.sep}")
        return "is a link out of the project" if inside else "is outside the project"

    def files(self, folder: Path, suffix: str) -> Iterator[Path]:
        """Yield the files below a folder whose names end with a suffix, sorted; at most 500, four levels deep.

        A folder of a project that is a link out of it is noted as a problem.
        """
        from pi_import.steps import left_out

        if not folder.is_dir():
            return
        if self.scope == "project" and escapes_root(folder, self.root):
            why = f"it {self._outside(folder)}"
            self.problems.append(left_out("setting", folder.name, self.label(folder), why, scope=self.scope))
            return
        number = 0
        for parent, below, names in os.walk(folder):
            depth = len(Path(parent).relative_to(folder).parts)
            below[:] = sorted(name for name in below if not name.startswith(".")) if depth < _DEEPEST else []
            for name in sorted(names):
                if name.endswith(suffix) and not name.startswith("."):
                    number += 1
                    if number > _MOST_FILES:
                        return
                    yield Path(parent, name)


def object_in(values: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key; empty if there is none, or something else."""
    found = values.get(key)
    return found if isinstance(found, dict) else {}
