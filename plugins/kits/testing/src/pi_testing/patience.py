"""Waits with a time limit: an expected event that does not happen fails the test instead of hanging it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["PATIENCE", "soon"]

T = TypeVar("T")

PATIENCE = 300
"""Seconds. Far more than anything takes here; only a test that would hang gets to know it."""


async def soon(waiting: Awaitable[T], what: Callable[[], str]) -> T:
    """Return what is waited for.

    Raises:
        AssertionError: It did not happen in time; the message contains ``what``.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            return await waiting
    except TimeoutError:
        raise AssertionError(f"waited {PATIENCE:g} s for {what()}") from None
