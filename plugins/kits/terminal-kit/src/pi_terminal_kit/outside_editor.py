"""The user's own editor: which one it is, and a text edited in it."""

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
"""Tried where neither a setting nor the environment names an editor."""


def editor_command(setting: str | None, environ: Mapping[str, str]) -> str:
    """Return the command of the editor: the setting's, ``$VISUAL``, ``$EDITOR``, else one that is there."""
    from shutil import which

    named = (setting, environ.get("VISUAL"), environ.get("EDITOR"), *filter(which, _OTHERS))
    return next((each for each in named if each and each.strip()), _OTHERS[-1])


async def edit_outside(text: str, command: str, run: Callable[[Sequence[str]], Awaitable[int]]) -> str:
    """Return a text as it was edited in a program that has the terminal meanwhile.

    Args:
        text: What is there already.
        command: The program, as in a shell; the file's path is appended.
        run: Runs a program with its arguments at the terminal and returns its exit code.

    Raises:
        OSError: The program cannot be started, or the file not be read.
        ValueError: The command has a quotation mark without its partner, or the file is no UTF-8.
        ChildProcessError: The program failed, which is how editors report that nothing is to change.
    """
    words = shlex.split(command)
    with tempfile.TemporaryDirectory(prefix="pi-") as folder:  # 0700: what is typed is the user's own
        file = Path(folder) / "prompt.md"
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        code = await run([*words, os.fspath(file)])
        if code != 0:
            raise ChildProcessError(f"{words[0]} ended with exit code {code}")
        return file.read_text(encoding="utf-8").removesuffix("\n")
