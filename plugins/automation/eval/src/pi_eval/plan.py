"""Reads an evaluation file: its prompts, checks and options, and reports their problems."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import Factory, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Case", "InvalidFile", "Plan", "read_plan"]

CHECKS: Mapping[str, tuple[type | tuple[type, ...], Mapping[str, Any]]] = {
    "command": (str, {}),
    "file": (str, {"contains": str, "matches": str, "absent": bool}),
    "tool": (str, {"arguments": dict, "times": int, "never": bool}),
    "cost": ((int, float), {}),
    "requests": (int, {}),
    "answer": (str, {}),
    "matches": (str, {}),
}
"""Each check: the type of its value, and its options with their types. The first such key in a check is its kind."""

_PLAN = {
    "prompts": list,
    "model": str,
    "repeats": int,
    "timeout": (int, float),
    "folder": str,
    "setup": str,
    "options": list,
    "pass": (int, float),
    "baseline": str,
}
_CASE = {
    "name": str,
    "prompt": str,
    "checks": list,
    "folder": str,
    "files": dict,
    "setup": str,
    "repeats": int,
    "timeout": (int, float),
    "options": list,
    "pass": (int, float),
}


class InvalidFile(Exception):
    """A file that cannot be used; ``problems`` has a line for each reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@frozen(kw_only=True)
class Case:
    """A prompt with its checks.

    Attributes:
        folder: Copied for each run; None for an empty folder.
        files: Texts by path, written into the copy.
        setup: A command that runs there before pi.
        options: Further options of ``pi``.
        threshold: The lowest pass rate that is not a failure.
    """

    name: str
    prompt: str
    checks: tuple[dict[str, Any], ...]
    folder: Path | None = None
    files: dict[str, str] = Factory(dict)
    setup: str | None = None
    repeats: int = 1
    timeout: float = 600.0
    options: tuple[str, ...] = ()
    threshold: float | None = None


@frozen(kw_only=True)
class Plan:
    """An evaluation; ``baseline`` is a file with an earlier outcome."""

    file: Path
    cases: tuple[Case, ...]
    model: str | None = None
    baseline: Path | None = None


def read_plan(file: Path) -> Plan:
    """Read a file, or a set of tasks that is part of pi: one with this name, if there is no such file.

    Raises:
        InvalidFile: It cannot be read, or is invalid.
    """
    import yaml  # type: ignore[import-untyped]

    file = _included(file)
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise InvalidFile([f"{file}: cannot be read: {' '.join(str(error).split())}"]) from None
    reader = _Reader(file)
    plan = reader.plan(data)
    if reader.problems:
        raise InvalidFile([f"{file}: {each}" for each in reader.problems])
    return plan


def _included(file: Path) -> Path:
    """Return the file of a set of tasks that is part of pi, or the file itself."""
    included = Path(__file__).with_name("sets") / f"{file}.yaml"
    return included if file.name == str(file) and not file.exists() and included.is_file() else file


class _Reader:
    """Builds a plan from the data of a file, and collects problems."""

    def __init__(self, file: Path) -> None:
        self.problems: list[str] = []
        self._file = file

    def plan(self, data: Any) -> Plan:
        if not isinstance(data, dict):
            self.problems.append(f"must be a mapping with prompts, not {data!r:.60}")
            data = {"prompts": [None]}
        self._check("", data, _PLAN, ("prompts",))
        listed = data.get("prompts")
        cases = [self._case(f"prompts[{at}]", each, data) for at, each in enumerate(listed)] if _is_list(listed) else []
        if not cases:
            self.problems.append("prompts is empty: there is nothing to run")
        names = [case.name for case in cases if case is not None]
        self.problems += [f"two prompts have the name {name!r}" for name in sorted({*names}) if names.count(name) > 1]
        baseline = data.get("baseline")
        return Plan(
            file=self._file,
            cases=tuple(case for case in cases if case is not None),
            model=data.get("model"),
            baseline=self._file.parent / baseline if isinstance(baseline, str) else None,
        )

    def _case(self, place: str, data: Any, common: Mapping[str, Any]) -> Case | None:
        before = len(self.problems)
        if not isinstance(data, dict):
            self.problems.append(f"{place} must be a mapping with prompt and checks, not {data!r:.60}")
            return None
        self._check(place, data, _CASE, ("prompt", "checks"))
        for at, check in enumerate(data["checks"] if _is_list(data.get("checks")) else ()):
            self._check_of(f"{place}.checks[{at}]", check)
        merged = {**{key: common[key] for key in _CASE if key in common}, **data}
        self._numbers(place, merged)
        folder = merged.get("folder")
        if isinstance(folder, str) and not (self._file.parent / folder).is_dir():
            self.problems.append(f"{place}: folder {folder!r} is not a folder next to the file")
        if data.get("checks") == []:
            self.problems.append(f"{place}.checks is empty: every run would pass")
        if len(self.problems) > before:
            return None
        return Case(
            name=data.get("name") or " ".join(data["prompt"].split())[:60],
            prompt=data["prompt"],
            checks=tuple(data["checks"]),
            folder=self._file.parent / folder if folder is not None else None,
            files={str(path): str(text) for path, text in (data.get("files") or {}).items()},
            setup=merged.get("setup"),
            repeats=merged.get("repeats", 1),
            timeout=float(merged.get("timeout", 600)),
            options=tuple(map(str, (*common.get("options", ()), *data.get("options", ())))),
            threshold=merged.get("pass"),
        )

    def _numbers(self, place: str, data: Mapping[str, Any]) -> None:
        where = place or "the file"
        if isinstance(data.get("repeats", 1), int) and data.get("repeats", 1) < 1:
            self.problems.append(f"{where}: repeats must be at least 1, not {data['repeats']!r}")
        if isinstance(data.get("timeout", 1), int | float) and not data.get("timeout", 1) > 0:
            self.problems.append(f"{where}: timeout must be above 0 seconds, not {data['timeout']!r}")
        if isinstance(data.get("pass", 1), int | float) and not 0 <= data.get("pass", 1) <= 1:
            self.problems.append(f"{where}: pass must be a rate between 0 and 1, not {data['pass']!r}")
        for path in data["files"] if isinstance(data.get("files"), dict) else ():
            if not _is_inside(str(path)):
                self.problems.append(f"{where}: files: {path!r} is not inside the folder of a run")

    def _check_of(self, place: str, check: Any) -> None:
        kind = next((each for each in CHECKS if isinstance(check, dict) and each in check), None)
        if kind is None:
            self.problems.append(f"{place} must have one of {', '.join(CHECKS)}, not {check!r:.60}")
            return
        value, options = CHECKS[kind]
        self._check(place, check, {kind: value, **options}, (kind,))
        pattern = check.get("matches")
        if isinstance(pattern, str):
            try:
                re.compile(pattern)
            except re.error as error:
                self.problems.append(f"{place}: matches {pattern!r} is not a regular expression: {error}")
        if kind == "file" and not _is_inside(str(check["file"])):
            self.problems.append(f"{place}: {check['file']!r} is not inside the folder of a run")

    def _check(self, place: str, data: Mapping[Any, Any], known: Mapping[str, Any], required: tuple[str, ...]) -> None:
        dot = f"{place}." if place else ""
        for key, value in data.items():
            if key not in known:
                near = get_close_matches(str(key), known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; use one of {', '.join(known)}"
                self.problems.append(f"{dot}{key} is unknown{hint}")
            elif not isinstance(value, known[key]) or (isinstance(value, bool) and known[key] is not bool):
                self.problems.append(f"{dot}{key} must be {_name(known[key])}, not {value!r:.60}")
        self.problems += [f"{dot}{key} is missing" for key in required if key not in data]


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_inside(path: str) -> bool:
    return not Path(path).is_absolute() and ".." not in Path(path).parts


def _name(kind: Any) -> str:
    names = {str: "a string", int: "a whole number", list: "a list", dict: "a mapping", bool: "true or false"}
    return names.get(kind, "a number")
