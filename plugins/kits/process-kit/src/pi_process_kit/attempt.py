"""The folder of an attempt at a task, before and after ``pi`` works in it: files to begin with, and shell commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_hookspecs.programs import SpawnRequest
from pi_process_kit.child import start_child

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["run_shell", "write_files"]


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, by their paths relative to the folder, and the folders that contain them."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


async def run_shell(
    line: str,
    folder: Path,
    *,
    purpose: str,
    timeout: float,  # noqa: ASYNC109 - the command's deadline
) -> tuple[int, str]:
    """Run a command line with ``/bin/sh``; return its exit code, and its standard output and error as one text.

    Args:
        line: The command line.
        folder: The working directory.
        purpose: The purpose; see ``SpawnRequest``.
        timeout: Seconds after which the command is ended, together with everything that it started.

    Raises:
        ProcessFailure: The shell cannot be started.
    """
    request = SpawnRequest(argv=("/bin/sh", "-c", line), cwd=str(folder), env=dict(os.environ), purpose=purpose)
    async with await start_child(request, stderr="stdout", timeout=timeout) as child:
        child.stdin.close()
        output = await child.stdout.read()
        return await child.wait(), output.decode(errors="replace")
