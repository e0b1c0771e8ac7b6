"""What the user has set, and where: settings.json files and the layers above them (document 004, 7.1 to 7.3).

Reading never fails: a file that cannot be used is left out, a value of a wrong type counts as not set,
and both are told in ``problems``, so that a typing mistake in a file costs a notice and not a run.
"""

from __future__ import annotations

import copy
import json
import math
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["COMMAND_LINE", "IN_MEMORY", "Settings", "agent_dir"]

COMMAND_LINE = "command line"
"""Origin of what an option on the command line set."""
IN_MEMORY = "memory"
"""Origin of what a program passed to ``Settings.in_memory``."""

Key: TypeAlias = "str | Sequence[str]"
"""``"hooks.timeout"``, or the steps one by one where a name has a dot: ``("hooks", "plugins", "a.b", "timeout")``."""

T = TypeVar("T")
_MISSING = object()


def agent_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's own files: ``PI_CODING_AGENT_DIR``, else ``~/.pi/agent``.

    Args:
        environ: Environment variables; by default the process's.
    """
    environ = os.environ if environ is None else environ
    home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    chosen = environ.get("PI_CODING_AGENT_DIR")
    if not chosen:
        return Path(home, ".pi", "agent")
    if chosen == "~" or chosen.startswith(("~/", "~" + os.sep)):
        return Path(home, chosen[2:])
    return Path(chosen)


_agent_dir = agent_dir  # below, the name is taken by parameters


@frozen(eq=False)
class _Layer:
    origin: str
    values: dict[str, Any]


class Settings:
    """All layers as one: the command line's over the project's over the global ones, objects merged key by key.

    Attributes:
        agent_dir: The folder of the user's own files.
        problems: What could not be used, one readable line each, in the order it was noticed.
    """

    def __init__(self, layers: Sequence[tuple[str, dict[str, Any]]], agent_dir: Path) -> None:
        """Make settings of layers ``(origin, values)``, weakest first; ``load`` and ``in_memory`` are easier."""
        self.agent_dir = agent_dir
        self.problems: list[str] = []
        self._layers = [_Layer(origin, copy.deepcopy(values)) for origin, values in layers]
        self._merged: dict[str, Any] = {}
        for layer in self._layers:
            self._merged = _merge(self._merged, layer.values)

    @classmethod
    def load(
        cls,
        cwd: str | Path,
        agent_dir: str | Path | None = None,
        *,
        project_trusted: bool = True,
        environ: Mapping[str, str] | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> Settings:
        """Read the global file and the project's.

        Args:
            cwd: The working directory; its ``.pi/settings.json`` is the project's file.
            agent_dir: Where the global ``settings.json`` is; by default what ``agent_dir()`` says.
            project_trusted: Whether the project's file counts; without trust it is not even opened.
            environ: Environment variables; by default the process's.
            overrides: What the command line sets, nested like the files; wins over both.
        """
        home = _agent_dir(environ) if agent_dir is None else Path(agent_dir)
        files = [home / "settings.json"]
        if project_trusted:
            files.append(Path(cwd, ".pi", "settings.json"))
        problems: list[str] = []
        layers = [(str(file), _read(file, problems.append)) for file in files]
        if overrides:
            layers.append((COMMAND_LINE, dict(overrides)))
        settings = cls(layers, home)
        settings.problems += problems
        return settings

    @classmethod
    def in_memory(cls, values: Mapping[str, Any] | None = None, agent_dir: str | Path | None = None) -> Settings:
        """Return settings that no file has a part in."""
        home = _agent_dir() if agent_dir is None else Path(agent_dir)
        return cls([(IN_MEMORY, dict(values or {}))], home)

    def get(self, key: Key, default: Any = None) -> Any:
        """Return a copy of the value in force; the default where none is set, or null."""
        value = _look_up(self._merged, _steps(key))
        return default if value is _MISSING or value is None else copy.deepcopy(value)

    def origin(self, key: Key) -> str | None:
        """Return where the value in force was set: a file's path, ``COMMAND_LINE`` or ``IN_MEMORY``; None if nowhere.

        Of an object that several layers have a part in, the strongest of them.
        """
        steps = _steps(key)
        found = (layer.origin for layer in reversed(self._layers) if _look_up(layer.values, steps) is not _MISSING)
        return next(found, None)

    def get_number(self, key: Key, default: T, *, minimum: float | None = None) -> float | T:
        """Return a finite number, not below ``minimum``; the default where none is set, or something else."""
        wanted = "a number" if minimum is None else f"a number of at least {minimum:g}"

        def fits(value: Any) -> bool:
            number = isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)
            return number and (minimum is None or value >= minimum)

        number: float | T = self._typed(key, default, wanted, fits)
        return number

    def get_bool(self, key: Key, default: T) -> bool | T:
        """Return true or false; the default where neither is set, or something else."""
        flag: bool | T = self._typed(key, default, "true or false", lambda value: isinstance(value, bool))
        return flag

    def get_str(self, key: Key, default: T) -> str | T:
        """Return a string; the default where none is set, or something else."""
        text: str | T = self._typed(key, default, "a string", lambda value: isinstance(value, str))
        return text

    def get_str_list(self, key: Key, default: Sequence[str] = ()) -> list[str]:
        """Return a list of strings; the default where none is set, or something else."""

        def fits(value: Any) -> bool:
            return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)

        return list(self._typed(key, default, "a list of strings", fits))

    def get_object(self, key: Key) -> dict[str, Any]:
        """Return an object; an empty one where none is set, or something else."""
        return dict(self._typed(key, {}, "an object", lambda value: isinstance(value, dict)))

    def _typed(self, key: Key, default: Any, wanted: str, fits: Callable[[Any], bool]) -> Any:
        steps = _steps(key)
        for depth in range(1, len(steps)):  # an object on the way there may be none
            parent = _look_up(self._merged, steps[:depth])
            if parent is not _MISSING and not isinstance(parent, dict):
                self._complain(steps[:depth], "an object", parent)
                return default
        value = self.get(steps, _MISSING)
        if value is _MISSING:
            return default
        if fits(value):
            return value
        self._complain(steps, wanted, value)
        return default

    def _complain(self, steps: Sequence[str], wanted: str, value: Any) -> None:
        name = ".".join(f'"{step}"' if "." in step else step for step in steps)
        problem = f"Setting {name!r} must be {wanted}, not {_shown(value)} ({self.origin(steps)}); it is ignored."
        if problem not in self.problems:
            self.problems.append(problem)


def _steps(key: Key) -> tuple[str, ...]:
    return tuple(key.split(".")) if isinstance(key, str) else tuple(key)


def _look_up(values: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        if not isinstance(values, dict) or step not in values:
            return _MISSING
        values = values[step]
    return values


def _merge(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Return both as one: objects key by key, anything else from ``over``; lists are replaced, not joined."""
    merged = dict(under)
    for key, value in over.items():
        below = under.get(key)
        merged[key] = _merge(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
    return merged


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an int of more digits than a float holds
        return False


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


_SHOWN = 60


def _read(file: Path, complain: Callable[[str], None]) -> dict[str, Any]:
    """Return what a settings file says; nothing where there is none, or where it cannot be used."""
    try:
        text = _text(file)
        values = json.loads(text, parse_constant=_refuse_constant) if text.strip() else {}
        _check_depth(values)
    except json.JSONDecodeError as error:
        complain(f"{file}:{error.lineno}:{error.colno}: {error.msg}; the file is ignored until it is valid JSON.")
    except (OSError, ValueError, RecursionError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        complain(f"{file}: cannot be read: {reason}; the file is ignored.")
    else:
        if isinstance(values, dict):
            return values
        complain(f"{file}: must hold a JSON object, not {_shown(values)}; the file is ignored.")
    return {}


def _text(file: Path) -> str:
    """Return the file's text without a byte order mark, which Windows' editors write; none where there is no file."""
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if not stat.S_ISREG(mode):  # reading from a pipe or a device may never end
        kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise ValueError(f"it is {kind}")
    return file.read_bytes().decode("utf-8-sig")


def _check_depth(value: Any, room: int = 100) -> None:
    """Refuse what is nested deeper than anybody means; copying and merging it would end in a ``RecursionError``."""
    if not room:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, room - 1)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
