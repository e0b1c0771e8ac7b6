"""Validates sequence fields of events: a single value or a string raises in the line that passes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["listed"]

T = TypeVar("T")


def listed(values: Iterable[T], field: str, example: str) -> tuple[T, ...]:
    """Return values as a tuple.

    Args:
        values: What was given.
        field: The name of the field.
        example: A valid value, as code.

    Raises:
        TypeError: They are not a list: a single value, a string, a dict.
    """
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__iter__"):
        raise TypeError(f"{field} takes a list, such as {example}, not {values!r:.60}")
    return tuple(values)
