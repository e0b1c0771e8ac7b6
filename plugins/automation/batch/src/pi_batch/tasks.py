"""Reads tasks from JSON lines, CSV and Parquet, and reports all of their problems at once."""

from __future__ import annotations

import csv
import json
import re
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_batch.parquet import UnreadableParquet, read_rows
from pi_core import expand_home

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["BadTasks", "Task", "read_tasks"]

_TEXTS = ("prompt", "repo", "commit", "model", "check")
_KNOWN = {"id", "plugins", "files", *_TEXTS}
_LONGEST_ID = 200
_NAME = re.compile(r"\{(\w+)\}")


class BadTasks(Exception):
    """The tasks cannot be run.

    Attributes:
        problems: One sentence for each problem.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@frozen(kw_only=True)
class Task:
    """One task for pi.

    Attributes:
        prompt: The final text, with the values of ``extra`` inserted.
        repo: The folder whose copy the task works on; None for an empty one.
        commit: The commit to check out; None for HEAD.
        plugins: Files, packages or requirements, as ``--extension``.
        files: Texts by relative path, written into the copy.
        check: A shell command; exit code 0 means success.
        extra: The fields that pi batch does not know.
    """

    id: str
    prompt: str
    repo: str | None = None
    commit: str | None = None
    model: str | None = None
    plugins: tuple[str, ...] = ()
    files: Mapping[str, str] = field(factory=dict)
    check: str | None = None
    extra: Mapping[str, Any] = field(factory=dict)

    @property
    def file_name(self) -> str:
        """The id as a portable file name, with other characters encoded as ``%XX``."""
        from urllib.parse import quote

        name = quote(self.id, safe=" +,=@")
        return f"%2E{name[1:]}" if name.startswith(".") else name


def read_tasks(file: Path) -> list[Task]:
    """Read tasks; the file's suffix selects the format: ``.csv``, ``.parquet``, else JSON lines.

    Raises:
        BadTasks: The file cannot be read, or something in it is wrong.
        UserError: The file is Parquet, and pyarrow is not installed.
    """
    tasks: list[Task] = []
    problems: list[str] = []
    places: dict[str, str] = {}
    try:
        before = _state(file)
        for place, row in _rows(file):
            task, wrong = _task(row, file.parent) if isinstance(row, dict) else (None, [str(row)])
            problems += [f"{place}: {each}" for each in wrong]
            id_ = str(row["id"]) if isinstance(row, dict) and "id" in row else None
            if id_ is not None and places.setdefault(id_, place) != place:
                problems.append(f"{place}: the id {id_!r:.60} is already used by {places[id_]}; give each task its own")
            if task is not None:
                tasks.append(task)
            if _state(file) != before:  # at once, because a file can grow as fast as it is read
                problems = [f"The tasks {str(file)!r} changed while they were read: wait until the file is complete."]
                break
    except OSError as error:
        problems.append(f"The tasks {str(file)!r} cannot be read: {error.strerror or error}.")
    except (UnicodeDecodeError, csv.Error, UnreadableParquet) as error:
        problems.append(f"The tasks {str(file)!r} cannot be read: {error}.")
    if not problems and not tasks:
        problems.append(f"There are no tasks in {str(file)!r}.")
    if problems:
        raise BadTasks(problems)
    return tasks


def _state(file: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written; None for a pipe, which has no content to compare."""
    found = file.stat()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Yield the place of each row, and the row or its problem."""
    if file.suffix.lower() == ".csv":
        yield from _csv_rows(file)
    elif file.suffix.lower() == ".parquet":
        yield from ((f"row {number}", row) for number, row in enumerate(read_rows(file), 1))
    else:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"line {number}", _json_row(line)


def _json_row(line: str) -> dict[str, Any] | str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"it is not JSON ({error}): {line.strip()[:60]!r}"
    return row if isinstance(row, dict) else f"it is not an object: {line.strip()[:60]!r}"


def _csv_rows(file: Path) -> Iterator[tuple[str, dict[str, Any] | str]]:
    csv.field_size_limit(1 << 30)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines, strict=True)
        for row in rows:
            place = f"line {rows.line_num}"
            if None in row:
                yield place, f"it has {len(row[None])} values more than the header has names"
            else:
                yield place, _cells({key: value for key, value in row.items() if value})


def _cells(row: dict[str, Any]) -> dict[str, Any] | str:
    """Parse cells that contain JSON."""
    for name in ("plugins", "files"):
        if name in row and row[name].lstrip()[:1] in ("[", "{"):
            try:
                row[name] = json.loads(row[name])
            except ValueError as error:
                return f"{name} is not JSON ({error}): {row[name][:60]!r}"
        elif name == "plugins" and name in row:
            row[name] = [each.strip() for each in row[name].split(",")]
    return row


def _task(row: dict[str, Any], folder: Path) -> tuple[Task | None, list[str]]:
    given = {key: value for key, value in row.items() if value is not None}
    wrong = [
        f"{name} must be a string, not {given[name]!r:.60}"
        for name in _TEXTS
        if name in given and not isinstance(given[name], str)
    ]
    id_ = given.get("id")
    if isinstance(id_, int) and not isinstance(id_, bool):
        id_ = str(id_)
    if not isinstance(id_, str) or not id_.strip() or len(id_) > _LONGEST_ID:
        wrong.append(f"id must be a string of 1 to {_LONGEST_ID} characters, not {id_!r:.60}")
    if isinstance(given.get("prompt", ""), str) and not given.get("prompt", "").strip():
        wrong.append("the prompt is missing")
    wrong += _wrong_lists(given)
    if not _is_unicode(given):
        wrong.append("a string in it has half a surrogate pair, which is not a character")
    if wrong:
        return None, wrong
    extra = {key: value for key, value in given.items() if key not in _KNOWN}
    repo = given.get("repo")
    return Task(
        id=str(id_),
        prompt=_NAME.sub(lambda found: str(extra.get(found[1], found[0])), given["prompt"]),
        repo=str((folder / expand_home(repo)).resolve()) if repo is not None else None,
        commit=given.get("commit"),
        model=given.get("model"),
        plugins=tuple(given.get("plugins", ())),
        files=given.get("files", {}),
        check=given.get("check"),
        extra=extra,
    ), []


def _is_unicode(given: Mapping[str, Any]) -> bool:
    try:
        json.dumps(given, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def _wrong_lists(given: dict[str, Any]) -> list[str]:
    wrong = []
    plugins, files = given.get("plugins", []), given.get("files", {})
    if not isinstance(plugins, list) or not all(isinstance(each, str) for each in plugins):
        wrong.append(f"plugins must be a list of strings, not {plugins!r:.60}")
    if not isinstance(files, dict) or not all(isinstance(each, str) for each in files.values()):
        wrong.append(f"files must be an object of strings by path, not {files!r:.60}")
    else:
        wrong += [f"the file {path!r:.60} is outside the task's folder" for path in files if not _is_inside(path)]
    return wrong


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return bool(parts.parts) and not parts.is_absolute() and not {"..", ".git"} & {*parts.parts} and "\0" not in path
