"""Edits a text in the user's own editor."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

__all__ = ["edit_outside", "editor_command"]

_OTHERS = ("notepad",) if sys.platform == "win32" else ("editor", "nano", "vi")
"""Editors to try if neither a setting nor the environment names one."""


def editor_command(setting: str | None, environ: Mapping[str, str]) -> str:
    """Return the editor's command: from the setting, ``$VISUAL`` or ``$EDITOR``, else an editor that is installed."""
    from shutil import which

    named = (setting, environ.get("VISUAL"), environ.get("EDITOR"), *filter(which, _OTHERS))
    return next((each for each in named if each and each.strip()), _OTHERS[-1])


async def edit_outside(text: str, command: str, run: Callable[[Sequence[str]], Awaitable[int]]) -> str:
    """Let the user edit a text in a program that takes over the terminal, and return the edited text.

    Args:
        text: The initial text.
        command: The program and its arguments, in shell syntax; the path of the file is appended.
        run: Runs a program with its arguments in the terminal and returns its exit code.

    Raises:
        OSError: The program cannot be started, or the file cannot be read.
        ValueError: The command has an unbalanced quotation mark, or the file is not valid UTF-8.
        ChildProcessError: The program failed, which is how editors report that the text must not change.
    """
    words = shlex.split(command)
    with tempfile.TemporaryDirectory(prefix="pi-") as folder:  # mode 0700: the text is private
        file = Path(folder) / "prompt.md"
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        code = await run([*words, os.fspath(file)])
        if code != 0:
            raise ChildProcessError(f"{words[0]} ended with exit code {code}")
        return file.read_text(encoding="utf-8").removesuffix("\n")
