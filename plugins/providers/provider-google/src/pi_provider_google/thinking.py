"""Reasoning effort in the API's terms, and the output limit for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.errors import RequestFailed
from pi_provider_google.families import GIVEN_LEVELS, is_foreign, least_budget, takes_levels, token_budgets
from pi_provider_kit import (
    budget_level,
    clamp_thinking_level,
    default_max_tokens,
    estimate_context_tokens,
    fit_thinking_budget,
    thinking_budget,
)

if TYPE_CHECKING:
    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.provider import Context, StreamOptions

__all__ = ["limits"]

_DYNAMIC = -1
"""Budget value that lets the model choose."""


def limits(model: Model, context: Context, options: StreamOptions) -> dict[str, Any]:
    """Return ``maxOutputTokens``, and ``thinkingConfig`` for a model that reasons.

    Thinking counts as output, so the budget is added to the limit of the answer.

    Raises:
        RequestFailed: The model's data map the level to a value that the API does not support.
    """
    room = default_max_tokens(model, estimate_context_tokens(context))
    most = min(options.max_tokens or room, room)
    level = clamp_thinking_level(model, options.reasoning)
    config = _config(model, level, options) if model.reasoning else {}
    if config.get("thinkingBudget", 0) > 0 and level != "off":
        wanted: dict[str, int] = {budget_level(level): config["thinkingBudget"]}
        most, budget = fit_thinking_budget(evolve(model, max_tokens=room), most, level, wanted)
        config["thinkingBudget"] = max(budget, least_budget(model.id))
    if config and options.reasoning not in (None, "off"):
        config = {"includeThoughts": True, **config}
    return {"maxOutputTokens": most, "thinkingConfig": config} if config else {"maxOutputTokens": most}


def _config(model: Model, level: ThinkingLevel, options: StreamOptions) -> dict[str, Any]:
    word = (model.thinking_level_map or {}).get(level)
    if word is not None or takes_levels(model.id):
        return {"thinkingLevel": _known(model, level, word or _word(model, level))}
    if is_foreign(model.id):
        return {} if level == "off" else {"thinkingBudget": thinking_budget(level, options.thinking_budgets)}
    if level == "off":
        return {"thinkingBudget": least_budget(model.id)}
    name = budget_level(level)
    budgets = {**(token_budgets(model.id) or {}), **(options.thinking_budgets or {})}
    return {"thinkingBudget": budgets.get(name, _DYNAMIC)}


def _word(model: Model, level: ThinkingLevel) -> str:
    """Return the API's level where the model's data have none; the lowest for "off" if the model always thinks."""
    if level in ("off", "minimal"):
        return "LOW" if "-pro" in model.id else "MINIMAL"
    return level.upper()


def _known(model: Model, level: ThinkingLevel, word: str) -> str:
    if word.upper() in GIVEN_LEVELS:
        return word.upper()
    message = (
        f"The thinkingLevelMap of model {model.reference!r} maps {level!r} to {word!r}, which Google does not accept. "
        f"Use one of {', '.join(GIVEN_LEVELS)}."
    )
    raise RequestFailed(message)
