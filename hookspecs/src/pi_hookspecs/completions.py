"""What plugins offer while the user types."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

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
        raise TypeError(f"a completion is a text, not {value!r:.60}")
    return value


@frozen(eq=False, repr=False)
class Completion(Value):
    """One offer of a completion.

    Attributes:
        value: The text that replaces what is typed.
        description: One line, shown next to it.
        label: What a list shows in place of the value.

    Raises:
        TypeError: The value is not text.
    """

    value: str = field(converter=_text)
    description: str = field(default="", kw_only=True)
    label: str | None = field(default=None, kw_only=True)
