"""Runs hook programs, all programs of an event together, with JSON on standard input."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_import.hooks.answer import Answer, answer_of, combined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiContext
    from pi_import.hooks.file import Program

__all__ = ["Runner"]

_SCRIPT = '[ -r "$0" ] || { echo "$0 cannot be read" >&2; exit 2; }; exec "$1" -c "$2" <"$0"'
"""The shell's program: ``exec`` of the contract gives programs no input, so it comes from a file.

Without that file it refuses, because a guard that gets nothing would let everything pass.
"""

_ROOM = 3.0
"""Seconds of a hook's deadline that are left for ending a program."""

_DEADLINES = {"PreToolUse": ("tool_call", 30.0), "PostToolUse": ("tool_result", 30.0)}
"""pi's hooks with short deadlines, in which programs run, and these deadlines in seconds."""


class Runner:
    """Runs the programs of one session."""

    def __init__(self) -> None:
        self._background: set[asyncio.Task[object]] = set()

    async def run(self, programs: Sequence[Program], inputs: dict[str, dict[str, Any]], ctx: PiContext) -> Answer:
        """Run programs at the same time and return their combined answer.

        Args:
            programs: What to run.
            inputs: What each gets on standard input, by its ``agent``.
            ctx: The session.
        """
        waited = [each for each in programs if not each.background]
        for each in programs:
            if each.background:
                task = asyncio.ensure_future(self._run(each, inputs[each.agent], ctx))
                self._background.add(task)
                task.add_done_callback(self._background.discard)
        answers = await asyncio.gather(*(self._run(each, inputs[each.agent], ctx) for each in waited))
        answer = combined(answers)
        for text in (answer.notice, answer.failure):
            if text:
                ctx.ui.notify(text, "warning" if text is answer.failure else "info")
        return answer

    async def end(self) -> None:
        """End the programs in the background."""
        tasks = list(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, program: Program, given: dict[str, Any], ctx: PiContext) -> Answer:
        program = evolve(program, timeout=min(program.timeout, _limit(program, ctx)))
        path = _file_of(given, ctx.settings.agent_dir / "cache")
        shell = "bash" if shutil.which("bash") else "sh"
        variables = {
            "CLAUDE_PROJECT_DIR": str(ctx.cwd),
            "GEMINI_PROJECT_DIR": str(ctx.cwd),
            "GEMINI_CWD": str(ctx.cwd),
            "GEMINI_SESSION_ID": ctx.session.id,
        }
        try:
            result = await ctx.exec(
                shell, ["-c", _SCRIPT, path, shell, program.command], timeout=program.timeout, env=variables
            )
        finally:
            _remove(path)
        return answer_of(program, result)


def _limit(program: Program, ctx: PiContext) -> float:
    """Return the seconds that a program can take before pi's own hook misses its deadline."""
    spec, default = _DEADLINES.get(program.event.removesuffix("Failure"), ("", 600.0))
    keys = (("hooks", "plugins", "import", "timeout"), ("hooks", "specs", spec, "timeout"), ("hooks", "timeout"))
    found = (ctx.settings.get(key) for key in keys)
    deadline = next((each for each in found if isinstance(each, int | float) and each > 0), default)
    return max(deadline - _ROOM, 1.0)


def _file_of(given: dict[str, Any], folder: Path) -> str:
    """Write what a program gets to a file that only the user can read.

    Args:
        given: What the program gets.
        folder: A folder that programs in a sandbox can read; they may have a folder for temporary files of their own.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, path = tempfile.mkstemp(dir=folder, prefix="hook-", suffix=".json")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(given, file, default=str)
    return path


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()
