"""One change of a file at a time: parallel writes and edits of one file queue up."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["file_mutation_queue"]

_last: dict[str, Future[None]] = {}
"""Future of the last change in each queue, by real path; empty when no file is being changed."""
_guard = threading.Lock()


@asynccontextmanager
async def file_mutation_queue(path: str) -> AsyncIterator[None]:
    """Hold the lock on a file's changes.

    Symbolic links are resolved, so that two names of one file share a queue. The queue is first in,
    first out, and one for the whole process: sessions in other threads and event loops wait in it too.

    Args:
        path: Absolute path; the file need not exist.
    """
    key = os.path.realpath(path)  # noqa: ASYNC240 - a few calls of the system
    finished: Future[None] = Future()
    with _guard:
        before = _last.get(key)
        _last[key] = finished
    try:
        if before is not None:
            await asyncio.shield(asyncio.wrap_future(before))  # a cancelled waiter must not cancel the other
        yield
    finally:
        if before is None or before.done():
            _leave(key, finished)
        else:  # cancelled while waiting: the next still waits for the one before
            before.add_done_callback(lambda _: _leave(key, finished))


def _leave(key: str, finished: Future[None]) -> None:
    with _guard:
        if _last.get(key) is finished:
            del _last[key]
    finished.set_result(None)
