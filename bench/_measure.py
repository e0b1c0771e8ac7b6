"""Common code of the benches: CPU time of a piece of work, the best of several rounds, and the tables."""

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
    """Print rows of what, figure and bar; a row without a bar is a peer or additional information."""
    lines = [
        (what, f"{figure:.2f}", "" if bar is None else f"{bar:.2f}", "" if bar is None else verdict(figure, bar))
        for what, figure, bar in rows
    ]
    show_table(title, ["", unit, "bar", ""], lines)


def verdict(figure: float, bar: float) -> str:
    """Return whether a bar is reached, in a word."""
    return "ok" if figure <= bar else "MISSED"


def show_table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table whose columns are as wide as what is in them: the first and the last to the left, figures right."""
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    print(f"{title}\n")
    for cells in (heads, *lines):
        first, *figures, last = cells
        middle = "  ".join(f"{cell:>{width}}" for cell, width in zip(figures, widths[1:-1], strict=True))
        print(f"{first:{widths[0]}}  {middle}  {last}".rstrip())
    print()
