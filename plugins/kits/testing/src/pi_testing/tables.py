"""Tests of pure functions with a table: one test for all rows, which reports every row that fails.

``pytest.mark.parametrize`` makes a test of every row. Each is collected by every worker, set up and reported, which
takes longer than most functions do. Keep it for rows that need fixtures of their own, that wait, or that are skipped.
"""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["for_each"]

_SHOWN = 10
"""How many failures are printed in full; the others are listed by their rows."""
_LENGTH = 300
"""Characters of a row that are printed."""


def for_each(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call a test with each row of a table, all of them in one test, which fails if any row does.

    ``@for_each(("text", "expected"), [("a", 1), ("b", 2)])`` takes what ``pytest.mark.parametrize`` takes, and may be
    given several times, for all combinations. All rows get the same fixtures.

    Args:
        names: The parameters of a row: a sequence, or a text with commas. One name alone takes the rows as they are.
        rows: The values, in the order of the names.

    Returns:
        A decorator of a test, which may be a coroutine function.

    Raises:
        ValueError: If there are no rows, or a row has more or fewer values than there are names.
    """
    single = isinstance(names, str) and "," not in names
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    table = [dict(zip(keys, (row,) if single else row, strict=True)) for row in rows]
    if not table:
        raise ValueError(f"for_each({names!r}, ...) has no rows, so its test could not fail")

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(test):

            @functools.wraps(test)
            async def run(*arguments: Any, **fixtures: Any) -> None:
                failures = _Failures(table)
                for row in table:
                    with failures.collected(row):
                        await test(*arguments, **row, **fixtures)
                failures.report()
        else:

            @functools.wraps(test)
            def run(*arguments: Any, **fixtures: Any) -> None:
                failures = _Failures(table)
                for row in table:
                    with failures.collected(row):
                        test(*arguments, **row, **fixtures)
                failures.report()

        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined] # what pytest fills
        return run

    return decorate


class _Failures:
    """The rows of a table that have failed so far, each with its exception."""

    def __init__(self, table: Sequence[dict[str, Any]]) -> None:
        self._rows = len(table)
        self._labels: list[str] = []
        self._exceptions: list[BaseException] = []

    @contextmanager
    def collected(self, row: dict[str, Any]) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - report() raises it
            label = ", ".join(f"{name}={value!r}" for name, value in row.items())[:_LENGTH]
            failure.add_note(f"Row: {label}")
            self._labels.append(label)
            self._exceptions.append(failure)

    def report(self) -> None:
        if self._exceptions:
            listed = "".join(f"\n  {label}" for label in self._labels)
            text = f"{len(self._labels)} of {self._rows} rows failed:{listed}\n"
            raise BaseExceptionGroup(text, self._exceptions[:_SHOWN])
