"""Editing the line in the user's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["edit_outside", "editor_command"]

_OTHERS = ("editor", "nano", "vi")
"""Tried where neither a setting nor the environment names an editor."""


def editor_command(setting: str | None, environ: Mapping[str, str]) -> str:
    """Return the command of the editor: the setting's, ``$VISUAL``, ``$EDITOR``, else one that is there."""
    from shutil import which

    named = (setting, environ.get("VISUAL"), environ.get("EDITOR"), *filter(which, _OTHERS))
    return next((each for each in named if each and each.strip()), _OTHERS[-1])


async def edit_outside(text: str, command: str) -> str:
    """Return a text as it was edited in a program that has the terminal meanwhile.

    Args:
        text: What is there already.
        command: The program, as in a shell; the file's path is appended.

    Raises:
        OSError: The program cannot be started, or the file not be read.
        ValueError: The command has a quotation mark without its partner, or the file is no UTF-8.
        ChildProcessError: The program failed, which is how editors report that nothing is to change.
    """
    words = shlex.split(command)
    with tempfile.TemporaryDirectory(prefix="pi-") as folder:  # 0700: what is typed is the user's own
        file = Path(folder) / "prompt.md"
        file.write_text(text, encoding="utf-8")
        code = await run_in_terminal(lambda: subprocess.call([*words, os.fspath(file)]), in_executor=True)  # noqa: S603
        if code != 0:
            raise ChildProcessError(f"{words[0]} ended with exit code {code}")
        return file.read_text(encoding="utf-8").removesuffix("\n")
