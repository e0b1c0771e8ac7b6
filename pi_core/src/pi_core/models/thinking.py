"""Which thinking levels a model supports, and the nearest supported level for any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import THINKING_LEVELS, UnknownName

if TYPE_CHECKING:
    from pi_hookspecs import Model, ThinkingLevel

__all__ = ["clamp_thinking_level", "thinking_levels"]

_ONLY_IF_MAPPED = ("xhigh", "max")


def thinking_levels(model: Model) -> tuple[ThinkingLevel, ...]:
    """Return the levels that a model supports, lowest first; only ``off`` for a model without reasoning."""
    if not model.reasoning:
        return ("off",)
    table = model.thinking_level_map or {}
    return tuple(
        level
        for level in THINKING_LEVELS
        if (table[level] is not None if level in table else level not in _ONLY_IF_MAPPED)
    )


def clamp_thinking_level(model: Model, level: ThinkingLevel) -> ThinkingLevel:
    """Return the level, or the nearest level that the model supports: the next higher, else the next lower.

    Raises:
        UnknownName: The level is not one of ``THINKING_LEVELS``.
    """
    if level not in THINKING_LEVELS:
        raise UnknownName("thinking level", str(level), THINKING_LEVELS, f"Use one of {', '.join(THINKING_LEVELS)}")
    available = thinking_levels(model)
    place = THINKING_LEVELS.index(level)
    nearest = [*THINKING_LEVELS[place:], *reversed(THINKING_LEVELS[:place])]
    return next((each for each in nearest if each in available), "off")
