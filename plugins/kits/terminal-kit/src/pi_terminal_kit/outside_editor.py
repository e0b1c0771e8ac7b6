"""Edits a text in the user's own editor, and loses neither the text nor what was written there if the editor fails."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

__all__ = ["EditorFailed", "edit_outside", "editor_command"]

_OTHERS = ("notepad",) if sys.platform == "win32" else ("editor", "nano", "vi")
"""Editors to try if neither a setting nor the environment names one."""

_SIGNALED = 128
"""A shell reports the end of a program by a signal with this number and that of the signal."""

_REMEDY = "Set externalEditor in settings.json, or $VISUAL, to an editor that is installed"


class EditorFailed(ChildProcessError):
    """The text was not edited; the message says why and what to do, in sentences without the last full stop."""


def editor_command(setting: str | None, environ: Mapping[str, str]) -> str:
    """Return the editor's command: from the setting, ``$VISUAL`` or ``$EDITOR``, else an editor that is installed."""
    named = (setting, environ.get("VISUAL"), environ.get("EDITOR"), *filter(shutil.which, _OTHERS))
    return next((each for each in named if each and each.strip()), _OTHERS[-1])


async def edit_outside(text: str, command: str, run: Callable[[Sequence[str]], Awaitable[int]]) -> str:
    """Let the user edit a text in a program that takes over the terminal, and return the edited text.

    Args:
        text: The initial text.
        command: The program and its arguments, in shell syntax; the path of the file is appended.
        run: Runs a program with its arguments in the terminal and returns its exit code, or the negative number of the
            signal that ended it.

    Raises:
        EditorFailed: The program cannot be started or it failed, which is also how editors report that the text must
            not change. If a signal ended it, or if its text cannot be read, the file stays if it was changed.
    """
    words = _split(command)
    try:
        folder = Path(tempfile.mkdtemp(prefix="pi-"))  # mode 0700: the text is private
    except OSError as error:
        raise EditorFailed(f"There is no place for the file that the editor would get: {error}") from None
    file = folder / "prompt.md"
    keeps = False
    try:
        written = _write(file, text)
        code = await _run(run, [*words, os.fspath(file)])
        try:
            return _edited(file, code, words[0])
        except EditorFailed as failed:
            keeps = not _was_refused(code) and file.is_file() and file.read_bytes() != written
            if keeps:
                raise EditorFailed(f"{failed}. What was saved there is in {file}") from None
            raise
    finally:
        if not keeps:
            shutil.rmtree(folder, ignore_errors=True)


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise EditorFailed(f"The command of the editor, {command!r}, cannot be read: {error}. {_REMEDY}") from None
    if not words or not words[0]:
        raise EditorFailed(f"The command of the editor, {command!r}, names no program. {_REMEDY}")
    return words


def _write(file: Path, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    try:
        file.touch(mode=0o600)
        file.write_bytes(data)
    except OSError as error:
        raise EditorFailed(f"The file for the editor cannot be written: {error}") from None
    return data


async def _run(run: Callable[[Sequence[str]], Awaitable[int]], words: Sequence[str]) -> int:
    try:
        return await run(words)
    except (OSError, ValueError) as error:  # a null character in the command
        why = "there is no such program" if isinstance(error, FileNotFoundError) else _reason(error)
        raise EditorFailed(f"The editor {words[0]!r} cannot be started: {why}. {_REMEDY}") from None


def _edited(file: Path, code: int, editor: str) -> str:
    if code != 0:
        raise EditorFailed(f"The editor {editor!r} ended with {_named(code)}")
    try:
        return file.read_text(encoding="utf-8").removesuffix("\n")
    except FileNotFoundError:
        raise EditorFailed(f"The editor {editor!r} has removed its file") from None
    except (OSError, ValueError) as error:
        raise EditorFailed(f"What the editor {editor!r} has written cannot be read: {_reason(error)}") from None


def _was_refused(code: int) -> bool:
    """Whether an exit code is the editor's own: the user wants to drop what was written, as with ``:cq`` in vi."""
    return 0 < code <= _SIGNALED


def _named(code: int) -> str:
    number = -code if code < 0 else code - _SIGNALED
    try:
        return f"{signal.Signals(number).name}, a signal" if code < 0 or code > _SIGNALED else f"exit code {code}"
    except ValueError:
        return f"exit code {code}"


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
