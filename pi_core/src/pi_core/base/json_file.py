"""A file with one JSON object that people and several processes change: read with reasons, replaced in one step.

``settings.json`` and ``trust.json`` are such files. Changes are made under the lock that pi uses too.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["NotUsable", "change_text", "is_cut_off", "object_of", "shown", "text_of", "written"]

_SHOWN = 60
_DEEPEST = 100
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotUsable(UserError):
    """A file, or what takes its place, cannot be used; the message says which, where in it, and why."""


def text_of(file: Path) -> str | None:
    """Return what a file says, without the byte order mark that Windows' editors write; None where there is none.

    Raises:
        NotUsable: It cannot be read, or is no text.
    """
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):  # reading from a pipe or a device may never end
            kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
            raise NotUsable(f"{file}: cannot be read: it is {kind}")
        return file.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise NotUsable(f"{file}: cannot be read: {_reason(error)}") from error


def object_of(text: str, origin: str) -> dict[str, Any]:
    """Return the object that a text holds; an empty text holds an empty one.

    Args:
        text: JSON.
        origin: Where it comes from, for the message.

    Raises:
        NotUsable: It is no JSON, or no object; the message has line and column.
    """
    try:
        values = json.loads(text, parse_constant=_refuse_constant) if text.strip() else {}
        _check_depth(values)
    except json.JSONDecodeError as error:
        raise NotUsable(f"{origin}:{error.lineno}:{error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise NotUsable(f"{origin}: cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise NotUsable(f"{origin}: must hold a JSON object, not {shown(values)}")
    return values


def is_cut_off(text: str, error: UserError) -> bool:
    """Return whether a text is no JSON because it ends too early: nobody knows what else it would have said."""
    cause = error.__cause__
    if not isinstance(cause, json.JSONDecodeError) or cause.msg == "Extra data":
        return False
    lines = text.split("\n")
    while lines and lines[-1].strip()[:2] in ("", "//"):  # a remark behind the last brace is no missing end
        lines.pop()
    whole = "\n".join(lines).rstrip()
    return cause.pos >= len(whole) or not whole.endswith("}")


def written(values: dict[str, Any]) -> str:
    """Return an object as it is written into a file."""
    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can write
        return json.dumps(values, indent=2, allow_nan=False) + "\n"
    return text


def change_text(
    file: Path, change: Callable[[str | None], str | None], *, folder_mode: int = 0o777, file_mode: int = 0o644
) -> None:
    """Replace a file by what ``change`` makes of its text, while no other process can do the same.

    Args:
        file: Made, and its folder too, where it does not exist. A symbolic link stays one.
        change: Gets the text, None where there is no file, and returns the new one; None leaves everything as it is.
        folder_mode: Permissions of a folder that is made, less the process's mask.
        file_mode: Permissions of a file that is made, less the process's mask. A file that exists keeps its own; but
            where ``file_mode`` gives group and others nothing, they may not write it afterwards.

    Raises:
        NotUsable: It cannot be read.
        UserError: It cannot be written; nothing was changed.
        PiError: Another process holds the lock.
    """
    from pi_core.base.directory_lock import brief_directory_lock  # only a change needs it

    try:
        file.parent.mkdir(folder_mode, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritten(file, error) from error
    with brief_directory_lock(file):
        before = text_of(file)
        after = change(before)
        if after is not None and after != before:
            _replace(file, after, file_mode)


def shown(value: Any) -> str:
    """Return a value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _replace(file: Path, text: str, mode: int) -> None:
    """Put a new file in the place of the old one, with its permissions; a crash leaves the old one."""
    draft: Path | None = None
    try:
        target = file.resolve()
        draft = target.with_name(f"{target.name}.{os.urandom(6).hex()}.tmp")
        with open(draft, "x", encoding="utf-8", newline="", opener=partial(os.open, mode=mode)) as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
        with suppress(FileNotFoundError):
            before = stat.S_IMODE(target.stat().st_mode)
            draft.chmod(before if mode & _OTHERS else before & ~_OTHERS_WRITE)
        draft.replace(target)
    except BaseException as error:
        if draft is not None:
            with suppress(OSError):
                draft.unlink()
        if isinstance(error, OSError | RuntimeError):  # RuntimeError: links in a circle
            raise _unwritten(file, error) from error
        raise


def _unwritten(file: Path, error: Exception) -> UserError:
    return UserError(f"{file}: cannot be written: {_reason(error)}. Nothing was changed.")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _check_depth(value: Any, room: int = _DEEPEST) -> None:
    """Refuse what is nested deeper than anybody means; copying and merging it would end in a ``RecursionError``."""
    if not room:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, room - 1)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
