"""Reasoning effort and budgets, and the tokens left for the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.models import THINKING_LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.provider import StreamOptions

__all__ = [
    "THINKING_BUDGETS",
    "budget_level",
    "clamp_thinking_level",
    "claude_effort",
    "claude_thinking",
    "default_max_tokens",
    "fit_thinking_budget",
    "sampling_params",
    "supported_thinking_levels",
    "thinking_budget",
]

THINKING_BUDGETS: dict[str, int] = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384}
"""Tokens per level, for APIs with token budgets."""

_ANSWER = 1024
"""Minimum tokens for the answer."""

_WINDOW_MARGIN = 4096
"""Tokens of the window that are kept free, because the size of the context is an estimate."""

_ONLY_IF_MAPPED = ("xhigh", "max")

_CLAUDE_BUDGET = 1024
"""Claude rejects a smaller one."""

_CLAUDE_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}


def supported_thinking_levels(model: Model) -> tuple[ThinkingLevel, ...]:
    """Return the levels that the model supports, lowest first; ``("off",)`` for one that does not reason."""
    if not model.reasoning:
        return ("off",)
    mapping = model.thinking_level_map or {}
    levels = []
    for level in THINKING_LEVELS:
        default = None if level in _ONLY_IF_MAPPED else level
        if mapping.get(level, default) is not None:
            levels.append(level)
    return tuple(levels)


def clamp_thinking_level(model: Model, level: ThinkingLevel | None) -> ThinkingLevel:
    """Return the level, or the next higher one that the model supports, or else the next lower; None is ``off``."""
    supported = supported_thinking_levels(model)
    wanted = THINKING_LEVELS.index(level or "off")
    above = (each for each in supported if THINKING_LEVELS.index(each) >= wanted)
    return next(above, supported[-1] if supported else "off")


def budget_level(level: ThinkingLevel) -> ThinkingLevel:
    """Return the level for APIs with budgets: ``xhigh`` and ``max`` are ``high``."""
    return "high" if level in _ONLY_IF_MAPPED else level


def thinking_budget(level: ThinkingLevel, budgets: Mapping[str, int] | None = None) -> int:
    """Return the thinking budget in tokens, 0 for ``off``; ``budgets`` are the user's own (``thinkingBudgets``)."""
    name = budget_level(level)
    if name == "off":
        return 0
    return (budgets or {}).get(name, THINKING_BUDGETS[name])


def fit_thinking_budget(
    model: Model, base: int, level: ThinkingLevel, budgets: Mapping[str, int] | None = None
) -> tuple[int, int]:
    """Return ``(max_tokens, budget)`` of a request with ``base`` tokens for the answer.

    The budget is added to them up to the model's output limit; the answer keeps at least 1024 tokens.
    """
    budget = thinking_budget(level, budgets)
    most = min(base + budget, model.max_tokens)
    return most, budget if most > budget else max(0, most - _ANSWER)


def claude_effort(model: Model, level: ThinkingLevel) -> str | None:
    """Return the effort of a Claude model for a level; None if the model does not think with it."""
    level = clamp_thinking_level(model, level)
    return None if level == "off" else (model.thinking_level_map or {}).get(level) or _CLAUDE_EFFORTS[level]


def claude_thinking(
    model: Model, options: StreamOptions, most: int, room: int, *, adaptive: bool, display: bool = True
) -> tuple[int, dict[str, Any]]:
    """Return ``(max_tokens, fields)`` of a request to a Claude model with reasoning, on any provider.

    Args:
        model: The Claude model.
        options: The requested level, and the user's budgets.
        most: Maximum tokens of the answer.
        room: Maximum tokens of answer and thinking together.
        adaptive: Whether it takes an effort (``output_config``) instead of a budget.
        display: Whether to request summaries of its thinking.
    """
    level = clamp_thinking_level(model, options.reasoning)
    if level == "off":
        return most, {"thinking": {"type": "disabled"}}
    summaries = {"display": "summarized"} if display else {}
    if adaptive:
        effort = claude_effort(model, level)
        return most, {"thinking": {"type": "adaptive", **summaries}, "output_config": {"effort": effort}}
    total, budget = fit_thinking_budget(evolve(model, max_tokens=room), most, level, options.thinking_budgets)
    budget = max(budget, _CLAUDE_BUDGET)
    if budget >= total:  # too little output for any thinking
        return most, {"thinking": {"type": "disabled"}}
    return total, {"thinking": {"type": "enabled", "budget_tokens": budget, **summaries}}


def sampling_params(model: Model, reasoning: ThinkingLevel | None) -> dict[str, Any]:
    """Return the model's own request fields; they replace what the codec would send.

    Those of the current level, ``samplingParamsByThinkingLevel``, take precedence over ``samplingParams``.
    """
    level = "off" if reasoning in (None, "off") else clamp_thinking_level(model, reasoning)
    by_level = model.extra.get("samplingParamsByThinkingLevel")
    layers = model.extra.get("samplingParams"), by_level.get(level) if isinstance(by_level, dict) else None
    return {name: value for layer in layers if isinstance(layer, dict) for name, value in layer.items()}


def default_max_tokens(model: Model, context_tokens: int = 0) -> int:
    """Return the output tokens to request: the model's limit, or what is left of the window.

    With a full window it is still 1024 (or the model's limit): the API's own error is clearer than an answer of one
    token.
    """
    room = model.context_window - context_tokens - _WINDOW_MARGIN
    return max(min(model.max_tokens, room), min(model.max_tokens, _ANSWER))
