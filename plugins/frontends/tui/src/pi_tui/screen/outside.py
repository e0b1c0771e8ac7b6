"""Runs the user's own editor, which uses the terminal meanwhile."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from pi_terminal_kit.outside_editor import edit_outside, editor_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

__all__ = ["edited"]


async def edited(text: str, setting: str | None, suspended: Callable[[], AbstractContextManager[None]]) -> str:
    """Let the user edit a text in their own editor, and return it.

    Args:
        text: The initial text.
        setting: The setting ``externalEditor``.
        suspended: Gives the terminal back while the editor runs.

    Raises:
        EditorFailed: The editor cannot be started, or it failed.
    """

    async def run(command: Sequence[str]) -> int:
        with suspended():
            process = await asyncio.create_subprocess_exec(*command)
            return await process.wait()

    return await edit_outside(text, editor_command(setting, os.environ), run)
