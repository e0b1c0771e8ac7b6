"""Pass rates: their confidence interval, and whether one is a regression."""

from __future__ import annotations

from math import sqrt

__all__ = ["is_regression", "wilson"]

_Z = 1.959963984540054  # 95 %, two-sided


def wilson(passed: int, runs: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a rate; (0, 1) without runs."""
    if not runs:
        return 0.0, 1.0
    rate, square = passed / runs, _Z * _Z
    middle = (rate + square / (2 * runs)) / (1 + square / runs)
    half = _Z * sqrt(rate * (1 - rate) / runs + square / (4 * runs * runs)) / (1 + square / runs)
    low = 0.0 if passed == 0 else max(0.0, middle - half)
    return low, 1.0 if passed == runs else min(1.0, middle + half)


def is_regression(before: tuple[int, int], now: tuple[int, int]) -> bool:
    """Return whether a rate is worse than an earlier one by more than chance explains.

    That is the case if Newcombe's 95 % interval of the difference is below zero, or if all runs passed before and none
    does now.

    Args:
        before: The number of passed runs and of all runs.
        now: The same for the current evaluation.
    """
    if not (before[1] and now[1]):
        return False
    if before[0] == before[1] and not now[0]:
        return True
    old, new = before[0] / before[1], now[0] / now[1]
    low, high = wilson(*before)[0], wilson(*now)[1]
    return new - old + sqrt((high - new) ** 2 + (old - low) ** 2) < 0
