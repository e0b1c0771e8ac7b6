"""Running the user's own editor at the line's terminal."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["run_at_terminal"]


async def run_at_terminal(words: Sequence[str]) -> int:
    """Run a program that takes over the terminal, and return its exit code.

    Raises:
        OSError: It cannot be started.
    """
    return await run_in_terminal(lambda: subprocess.call(words), in_executor=True)  # noqa: S603 - the user's editor
