"""What can be limited, and amounts of it: a mapping from measure to number, missing ones being 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Usage

__all__ = ["MEASURES", "SCOPES", "SHARED", "Amounts", "add", "formatted", "tokens_of"]

Amounts: TypeAlias = dict[str, float]

SCOPES = ("run", "session", "day", "project", "total")
MEASURES = ("dollars", "tokens", "requests", "seconds", "toolCalls")
"""As the settings name them. The options add the scope ``start`` (since pi was started) and the measure ``turns``."""

SHARED = frozenset({"day", "project", "total"})
"""Scopes that all of a user's processes share through the ledger."""

_UNITS = {"toolCalls": "tool calls"}


def add(total: Amounts, more: Mapping[str, float]) -> None:
    """Add amounts to a total, in place."""
    for measure, amount in more.items():
        if amount:
            total[measure] = total.get(measure, 0.0) + amount


def tokens_of(usage: Usage) -> int:
    """Return all tokens of a request, including cached ones."""
    return usage.input + usage.output + usage.cache_read + usage.cache_write


def formatted(measure: str, amount: float, limit: float) -> str:
    """Return an amount and its limit in words: ``$0.80 of $1.00``, ``2 of 2 requests``."""
    if measure == "dollars":
        digits = 2 if limit >= 0.1 else 4  # noqa: PLR2004 - below ten cents, cents say too little
        return f"${amount:.{digits}f} of ${limit:.{digits}f}"
    if measure == "seconds":
        return f"{amount:.0f} of {limit:g} seconds"
    return f"{amount:.10g} of {limit:.10g} {_UNITS.get(measure, measure)}"
