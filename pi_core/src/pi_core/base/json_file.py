"""JSON files that users and several processes edit: readable errors and atomic replacement.

``settings.json`` and ``trust.json`` are such files; each contains one object. Changes are made under the same lock that
the TypeScript pi uses.
"""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["UnusableFile", "change_text", "format_object", "is_truncated", "parse_object", "read_text", "short_json"]

_MAX_SHORT = 60
_MAX_DEPTH = 100


class UnusableFile(UserError):
    """A file, or a text given instead, cannot be used; the message has its name, line, column and the reason."""


def read_text(file: Path) -> str | None:
    """Return the text of a file without the byte order mark that Windows editors write; None if there is no file.

    Raises:
        UnusableFile: The file cannot be read, or is not text.
    """
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):  # reading from a pipe or a device may never end
            kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
            raise UnusableFile(f"{file}: cannot be read: it is {kind}")
        return file.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise UnusableFile(f"{file}: cannot be read: {_reason(error)}") from error


def parse_object(text: str, origin: str) -> dict[str, Any]:
    """Return the JSON object in a text; an empty text is an empty object.

    Args:
        text: The JSON.
        origin: The source of the text, for the error message.

    Raises:
        UnusableFile: The text is not JSON, or not an object; the message contains line and column.
    """
    try:
        values = json.loads(text, parse_constant=_refuse_constant) if text.strip() else {}
        _check_depth(values)
    except json.JSONDecodeError as error:
        raise UnusableFile(f"{origin}:{error.lineno}:{error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise UnusableFile(f"{origin}: cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise UnusableFile(f"{origin}: must contain a JSON object, not {short_json(values)}")
    return values


def is_truncated(text: str, error: UserError) -> bool:
    """Return whether a text is invalid JSON because it ends too early: an unknown part of it is missing."""
    cause = error.__cause__
    if not isinstance(cause, json.JSONDecodeError) or cause.msg == "Extra data":
        return False
    lines = text.split("\n")
    while lines and lines[-1].strip()[:2] in ("", "//"):  # a comment after the last brace is not a missing end
        lines.pop()
    whole = "\n".join(lines).rstrip()
    return cause.pos >= len(whole) or not whole.endswith("}")


def format_object(values: dict[str, Any]) -> str:
    """Return an object as the JSON text of a file."""
    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can express
        return json.dumps(values, indent=2, allow_nan=False) + "\n"
    return text


def change_text(
    file: Path, change: Callable[[str | None], str | None], *, folder_mode: int = 0o777, file_mode: int = 0o644
) -> None:
    """Replace the text of a file with the result of ``change``, under the file's lock.

    Args:
        file: The file. It and its folder are created if they do not exist; a symbolic link remains a symbolic link.
        change: Called with the text, or with None if there is no file; returns the new text, or None to change nothing.
        folder_mode: Permissions of a created folder, less the process's umask.
        file_mode: Permissions of a created file, less the process's umask. An existing file keeps its permissions, but
            if ``file_mode`` grants none to group and others, they lose the permission to write.

    Raises:
        UnusableFile: The file cannot be read.
        UserError: The file cannot be written; it is unchanged.
        PiError: Another process holds the lock.
    """
    from pi_core.base.directory_lock import brief_directory_lock  # both are only needed for a change
    from pi_core.base.replacing import replace_file

    try:
        file.parent.mkdir(folder_mode, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _write_error(file, error) from error
    with brief_directory_lock(file):
        before = read_text(file)
        after = change(before)
        if after is not None and after != before:
            try:
                replace_file(file, after.encode(), mode=file_mode)
            except OSError as error:
                raise _write_error(file, error) from error


def short_json(value: Any) -> str:
    """Return a value as JSON, truncated to 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _MAX_SHORT else text[: _MAX_SHORT - 3] + "..."


def _write_error(file: Path, error: Exception) -> UserError:
    return UserError(f"{file}: cannot be written: {_reason(error)}. Nothing was changed.")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _check_depth(value: Any, room: int = _MAX_DEPTH) -> None:
    """Raise ``ValueError`` for deep nesting, because copying and merging it would raise a ``RecursionError``."""
    if not room:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, room - 1)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
