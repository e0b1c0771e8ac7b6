"""Processes that commands left running on purpose: they live as long as their session and are listed at its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_process_kit import Process

__all__ = ["end_session", "keep", "running"]

_kept: dict[str, list[Process]] = {}
"""By session id; ended ones are removed on the next access."""


def keep(session: str, process: Process) -> None:
    """Keep track of a command's remaining processes until its session ends."""
    process.drain()
    _kept[session] = [*_alive(session), process]


def _alive(session: str) -> list[Process]:
    return [process for process in _kept.get(session, ()) if not process.gone.done()]


def running(session: str) -> list[str]:
    """Return pid and command line of the processes that the session's commands left running."""
    return [line for process in _alive(session) for line in process.left()]


async def end_session(session: str, ui: Any = None) -> list[str]:
    """End the background processes of the session's commands, and notify the user.

    Returns:
        The processes, as from ``running``.
    """
    lines, processes = running(session), _alive(session)
    _kept.pop(session, None)
    for process in processes:
        process.kill()
    ended = await asyncio.gather(*(process.ended() for process in processes))
    if lines and ui is not None:
        count = "1 background process" if len(lines) == 1 else f"{len(lines)} background processes"
        stuck = "" if all(ended) else " Some of them are still running."
        ui.notify(f"Ended {count} that commands had left running: {'; '.join(lines)}.{stuck}", "warning")
    return lines
