"""When a vendor ends a model, as models and providers' rows have it, and what the user is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import date

    from pi_hookspecs import Model

__all__ = ["RETIREMENT", "retirement_note", "without_retirement"]

RETIREMENT = "retirement"
"""In ``Model.extra``: ``{"date": ..., "successor": ...}``, the latter where the vendor names a model to use instead."""

_DAYS_BEFORE = 30


def retirement_note(model: Model, today: date) -> str | None:
    """Return what to tell the user of a model that is retired, or will be within thirty days; None for nothing."""
    from datetime import timedelta

    found = model.extra[RETIREMENT]
    day = found["date"]
    if day > (today + timedelta(days=_DAYS_BEFORE)).isoformat():
        return None
    when = "was" if day <= today.isoformat() else "is going to be"
    instead = f"; the vendor names {found['successor']} instead" if "successor" in found else ""
    return f"{model.reference} {when} retired on {day}{instead}."


def without_retirement(model: Model) -> dict[str, Any]:
    """Return a model's further fields for another model that is taken to be like it."""
    return {key: value for key, value in model.extra.items() if key != RETIREMENT}
