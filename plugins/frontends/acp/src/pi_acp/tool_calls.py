"""What an editor displays of a tool call: kind, title, files, differences, output."""

from __future__ import annotations

import json
import os
import re
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_acp.prompt import blocks_of
from pi_core import dumps, expand_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["call_fields", "changed_line", "diffs_of", "kind_of", "output_fields", "path_of", "stored_diffs"]

_KINDS = {
    "read": "read",
    "edit": "edit",
    "write": "edit",
    "bash": "execute",
    "powershell": "execute",
    "process": "execute",
    "grep": "search",
    "find": "search",
    "ls": "search",
}

_TITLES = {
    "read": ("Read {}", "path"),
    "edit": ("Edit {}", "path"),
    "write": ("Write {}", "path"),
    "bash": ("{}", "command"),
    "powershell": ("{}", "command"),
    "grep": ("Search for {}", "pattern"),
    "find": ("Find {}", "pattern"),
    "ls": ("List {}", "path"),
}

_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")

_TITLE = 200
"""Characters of a title."""

_RAW = 64 * 1024
"""Maximum bytes of ``rawOutput``."""

_DIFF = 1024 * 1024
"""Maximum size in bytes of a file whose differences are displayed."""


def kind_of(tool: str) -> str:
    """Return the kind of a tool, for its icon."""
    return _KINDS.get(tool, "other")


def path_of(arguments: Mapping[str, Any], cwd: Path) -> Path | None:
    """Return the absolute path of the file or folder that a call is about, read like pi's tools do; None without one.

    A permission is about the file that is changed, so ``~``, ``@``, ``file://`` and Unicode spaces mean the same here.
    """
    given = arguments.get("path")
    if not isinstance(given, str) or not given or "\0" in given:
        return None
    path = _SPACES.sub(" ", given.removeprefix("@"))
    if path.startswith("file://"):
        path = _path_of_url(path)
    if path == "~" or path.startswith(("~/", "~\\")):
        path = f"{expand_home('~')}{path[1:]}"
    return Path(os.path.normpath(Path(cwd, path)))


def _path_of_url(url: str) -> str:
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(url).path, errors="surrogateescape")


def call_fields(tool: str, arguments: Mapping[str, Any], cwd: Path) -> dict[str, Any]:
    """Return the fields of a call with complete arguments."""
    fields: dict[str, Any] = {
        "title": _title(tool, arguments),
        "kind": kind_of(tool),
        "rawInput": _plain(arguments),
    }
    path = path_of(arguments, cwd)
    if path is not None:
        line = arguments.get("offset")
        at = {"line": line} if tool == "read" and isinstance(line, int) and line > 0 else {}
        fields["locations"] = [{"path": str(path), **at}]
    return fields


def output_fields(
    content: Iterable[Any], details: Any = None, instead: Iterable[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the fields of a result; ``instead`` holds differences or terminals that replace its text."""
    displayed = [*instead] or [{"type": "content", "content": block} for block in blocks_of(content)]
    fields: dict[str, Any] = {"content": displayed}
    if details is not None:
        raw = dumps(details)
        if len(raw) <= _RAW:
            fields["rawOutput"] = json.loads(raw)
    return fields


def diffs_of(tool: str, arguments: Mapping[str, Any], cwd: Path, unsaved: str | None = None) -> list[dict[str, Any]]:
    """Return what a call of ``edit`` or ``write`` is going to change.

    If the whole new text is unknown, each replacement becomes a separate difference.

    Args:
        tool: Its name.
        arguments: The call's arguments.
        cwd: The folder for relative paths.
        unsaved: The current text of the file; None to read the file.
    """
    path = path_of(arguments, cwd)
    if path is None or tool not in ("edit", "write"):
        return []
    old = _text_of(path) if unsaved is None else unsaved
    changed = None if old is None or tool == "write" else _replaced(old, _replacements(arguments))
    return [_diff(path, old, changed)] if changed is not None else _diffs_without_file(tool, arguments, path, old)


def changed_line(tool: str, arguments: Mapping[str, Any], diffs: list[dict[str, Any]]) -> int | None:
    """Return the line, from 1, at which a call's differences begin; None if they are not those of the whole file."""
    if len(diffs) != 1:
        return None
    old, new = diffs[0]["oldText"], diffs[0]["newText"]
    if old is None:
        return 1
    if tool == "edit" and any((old, new) == pair for pair in _replacements(arguments)):
        return 1 if _text_of(Path(diffs[0]["path"])) == old else None
    before, after = str(old).split("\n"), str(new).split("\n")
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    return min(same + 1, len(before))


def stored_diffs(tool: str, arguments: Mapping[str, Any], cwd: Path) -> list[dict[str, Any]]:
    """Return the changes of a call in a stored conversation, from its arguments: the file may have changed since."""
    path = path_of(arguments, cwd)
    return [] if path is None else _diffs_without_file(tool, arguments, path, None)


def _diffs_without_file(tool: str, arguments: Mapping[str, Any], path: Path, old: str | None) -> list[dict[str, Any]]:
    """Return the new text of ``write`` as a difference to ``old``, of ``edit`` each replacement."""
    if tool == "write":
        new = arguments.get("content")
        return [_diff(path, old, new)] if isinstance(new, str) and len(new) <= _DIFF else []
    edits = _replacements(arguments) if tool == "edit" else []
    return [_diff(path, before, after) for before, after in edits if len(before) + len(after) <= _DIFF]


def _replacements(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the old and new texts of ``edit``; older conversations have one pair, next to the path."""
    edits = arguments.get("edits", [arguments])
    return [
        (each["oldText"], each["newText"])
        for each in (edits if isinstance(edits, list) else ())
        if isinstance(each, dict) and isinstance(each.get("oldText"), str) and isinstance(each.get("newText"), str)
    ]


def _diff(path: Path, old: str | None, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": str(path), "oldText": old, "newText": new}


def _text_of(path: Path) -> str | None:
    try:
        if path.stat().st_size > _DIFF or not path.is_file():
            return None
        return path.read_bytes().decode()
    except (OSError, ValueError):
        return None


def _replaced(text: str, edits: list[tuple[str, str]]) -> str | None:
    """Return a text after replacements; None if one does not occur exactly once, or two overlap."""
    places = []
    for old, new in edits:
        if not old or text.count(old) != 1:
            return None
        places.append((text.index(old), old, new))
    parts, end = [], 0
    for start, old, new in sorted(places):
        if start < end:
            return None
        parts += [text[end:start], new]
        end = start + len(old)
    return "".join([*parts, text[end:]])


def _title(tool: str, arguments: Mapping[str, Any]) -> str:
    template, name = _TITLES.get(tool, (tool, ""))
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        return "List ." if tool == "ls" else tool
    title = template.format(" ".join(value.split()))
    return title if len(title) <= _TITLE else title[: _TITLE - 1] + "…"


def _plain(arguments: Mapping[str, Any]) -> Any:
    return json.loads(dumps(dict(arguments)))
