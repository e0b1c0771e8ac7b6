"""Completions that plugins offer while the user types."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, TypeAlias

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

__all__ = ["Completer", "Completion"]

Completer: TypeAlias = (
    "Callable[[str], Sequence[str] | Sequence[Completion] | Awaitable[Sequence[str] | Sequence[Completion]]]"
)
"""Gets what is typed so far, returns what it could become; plain or ``async``."""


def _text(value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a completion must be a string, not {value!r:.60}")
    return value


def _span(value: Sequence[int] | None) -> tuple[int, int] | None:
    if value is None:
        return None
    try:
        start, end = map(index, value)
    except (TypeError, ValueError):
        raise TypeError(f"replaces is the start and the end of what a completion replaces, not {value!r:.60}") from None
    if not 0 <= start <= end:
        raise ValueError(f"replaces must not begin before 0 or end before it begins: {value!r:.60}")
    return start, end


@frozen(eq=False, repr=False)
class Completion(Value):
    """One offer of a completion.

    Attributes:
        value: The text that replaces what is typed.
        description: One line, shown next to it.
        label: What a list shows in place of the value.
        replaces: Start and end of the part that it replaces, as indices of the text that the plugin was given; None for
            all of that text, and for the word before the cursor where it is that of the editor. Since: 1.2.

    Raises:
        TypeError: The value is not text, or what it replaces is no pair of indices.
        ValueError: The end is before the start.
    """

    value: str = field(converter=_text)
    description: str = field(default="", kw_only=True)
    label: str | None = field(default=None, kw_only=True)
    replaces: tuple[int, int] | None = field(default=None, kw_only=True, converter=_span)
