"""Figures of a session as the front ends at a terminal print them: cost by model, what answers for a virtual model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["cost_rows", "dispatch_facts"]


def cost_rows(by_model: Mapping[str, float]) -> list[str]:
    """Return a row for each model and its dollars, for below the row of the total; none if one model answered all."""
    return [f"          ${cost:.4f} {model}" for model, cost in by_model.items()] if len(by_model) > 1 else []


def dispatch_facts(answer: Any | None) -> dict[str, str | None]:
    """Return the footer's fields on the model that answers for a virtual model: that of its last answer, if any."""
    level = getattr(answer, "thinking_level", None)
    return {
        "dispatched": getattr(answer, "model", None),
        "dispatched_level": None if level == "off" else level,
    }
