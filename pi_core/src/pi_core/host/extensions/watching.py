"""Detects changes to the files of local extensions (``--watch``)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_core.host.extensions.local import LocalExtensions

__all__ = ["changes"]

LOOK_SECONDS = 0.5
"""Seconds between polls. Notification APIs differ by platform; a few ``stat`` calls work on all of them."""


async def changes(extensions: LocalExtensions) -> AsyncIterator[None]:
    """Yield after each change, once a poll finds no further change, because editors write in several steps."""
    known = await asyncio.to_thread(extensions.marks)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        seen = await asyncio.to_thread(extensions.marks)
        if seen == known:
            continue
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            again = await asyncio.to_thread(extensions.marks)
            if again == seen:
                break
            seen = again
        known = seen
        yield
