"""What the benches share: CPU time of a piece of work, the best of several rounds, and the table."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence


def cpu_per_step(work: Callable[[int], Awaitable[Any]], steps: int, rounds: int = 5) -> float:
    """Return the microseconds of CPU that one of ``steps`` takes, in the best of several rounds."""
    return min(asyncio.run(_one_round(work, steps)) for _ in range(rounds))


async def _one_round(work: Callable[[int], Awaitable[Any]], steps: int) -> float:
    gc.collect()
    started = time.process_time()
    await work(steps)
    return (time.process_time() - started) / steps * 1e6


def show(title: str, unit: str, rows: Sequence[tuple[str, float, float | None]]) -> None:
    """Print rows of what, figure and bar; a row without a bar is a peer or says something beside it."""
    print(f"{title}\n")
    print(f"{'':58} {unit:>10} {'bar':>10}")
    for what, figure, bar in rows:
        verdict = "" if bar is None else "  ok" if figure <= bar else "  MISSED"
        print(f"{what:58} {figure:10.2f} {'' if bar is None else f'{bar:.2f}':>10}{verdict}")
