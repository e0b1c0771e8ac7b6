"""Waiting for what another task or process does, where nothing signals it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_testing import patience

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["until"]


async def until(condition: Callable[[], object], *, seconds: float | None = None) -> None:
    """Wait until a condition is true; it is checked every few milliseconds.

    Args:
        condition: Returns whether it is true.
        seconds: How long to wait, which only a failing test does; None for as long as everything that tests wait for.

    Raises:
        AssertionError: It is not true after these seconds.
    """
    seconds = patience.PATIENCE if seconds is None else seconds
    try:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"it did not happen within {seconds:g} s") from None
