"""One change of a file at a time: parallel writes and edits of one file queue up (pi.md 6.2)."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["file_mutation_queue"]

_queues: dict[tuple[int, str], tuple[asyncio.Lock, int]] = {}
"""Lock and number of users per event loop and real path; empty whenever nothing is being changed."""


@asynccontextmanager
async def file_mutation_queue(path: str) -> AsyncIterator[None]:
    """Wait until nobody else changes the file, and keep others waiting meanwhile.

    Symbolic links are resolved, so that two names of one file share a queue. The queue is first in,
    first out, and holds within one event loop.

    Args:
        path: Absolute path; the file need not exist.
    """
    key = (id(asyncio.get_running_loop()), os.path.realpath(path))  # noqa: ASYNC240 - a few calls of the system
    lock, users = _queues.get(key) or (asyncio.Lock(), 0)
    _queues[key] = (lock, users + 1)
    try:
        async with lock:
            yield
    finally:
        lock, users = _queues[key]
        if users == 1:
            del _queues[key]
        else:
            _queues[key] = (lock, users - 1)
