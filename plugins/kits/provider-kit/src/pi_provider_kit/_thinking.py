"""How hard a model may think, and how many tokens that leaves for the answer."""

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
    "claude_thinking",
    "default_max_tokens",
    "fit_thinking_budget",
    "sampling_params",
    "supported_thinking_levels",
    "thinking_budget",
]

THINKING_BUDGETS: dict[str, int] = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384}
"""Tokens per level, where an API counts tokens."""

_ANSWER = 1024
"""Tokens that thinking leaves for the answer."""

_WINDOW_MARGIN = 4096
"""Tokens of the window that are kept free, because the size of the context is an estimate."""

_ONLY_IF_MAPPED = ("xhigh", "max")

_CLAUDE_BUDGET = 1024
"""Claude refuses a smaller one."""

_CLAUDE_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}


def supported_thinking_levels(model: Model) -> tuple[ThinkingLevel, ...]:
    """Return the levels that the model knows, weakest first; ``("off",)`` for one that does not reason."""
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
    """Return the level, or the next one above it that the model knows, or else the next below; None is ``off``."""
    supported = supported_thinking_levels(model)
    wanted = THINKING_LEVELS.index(level or "off")
    above = (each for each in supported if THINKING_LEVELS.index(each) >= wanted)
    return next(above, supported[-1] if supported else "off")


def budget_level(level: ThinkingLevel) -> ThinkingLevel:
    """Return the level as APIs with budgets know it: ``xhigh`` and ``max`` are ``high``."""
    return "high" if level in _ONLY_IF_MAPPED else level


def thinking_budget(level: ThinkingLevel, budgets: Mapping[str, int] | None = None) -> int:
    """Return the tokens to think with, 0 for ``off``; ``budgets`` are the user's own (``thinkingBudgets``)."""
    name = budget_level(level)
    if name == "off":
        return 0
    return (budgets or {}).get(name, THINKING_BUDGETS[name])


def fit_thinking_budget(
    model: Model, base: int, level: ThinkingLevel, budgets: Mapping[str, int] | None = None
) -> tuple[int, int]:
    """Return ``(max_tokens, budget)`` of a request whose answer may take ``base`` tokens.

    Thinking comes on top of the answer as far as the model's output limit allows; then the answer keeps 1024 tokens.
    """
    budget = thinking_budget(level, budgets)
    most = min(base + budget, model.max_tokens)
    return most, budget if most > budget else max(0, most - _ANSWER)


def claude_thinking(
    model: Model, options: StreamOptions, most: int, room: int, *, adaptive: bool, display: bool = True
) -> tuple[int, dict[str, Any]]:
    """Return ``(max_tokens, fields)`` of a request to a Claude that reasons, whoever serves it.

    Args:
        model: The Claude.
        options: The level that is wanted, and the user's budgets.
        most: Tokens that the answer may take.
        room: Tokens that answer and thinking may take together.
        adaptive: Whether it thinks by effort (``output_config``), not by budget.
        display: Whether it is told to show its thinking summed up.
    """
    level = clamp_thinking_level(model, options.reasoning)
    if level == "off":
        return most, {"thinking": {"type": "disabled"}}
    shown = {"display": "summarized"} if display else {}
    if adaptive:
        effort = (model.thinking_level_map or {}).get(level) or _CLAUDE_EFFORTS[level]
        return most, {"thinking": {"type": "adaptive", **shown}, "output_config": {"effort": effort}}
    total, budget = fit_thinking_budget(evolve(model, max_tokens=room), most, level, options.thinking_budgets)
    budget = max(budget, _CLAUDE_BUDGET)
    if budget >= total:  # so little output that no thinking fits
        return most, {"thinking": {"type": "disabled"}}
    return total, {"thinking": {"type": "enabled", "budget_tokens": budget, **shown}}


def sampling_params(model: Model, reasoning: ThinkingLevel | None) -> dict[str, Any]:
    """Return the model's own request fields; they replace what the codec would send.

    Those of the level at which the model thinks, ``samplingParamsByThinkingLevel``, win over its ``samplingParams``.
    """
    level = "off" if reasoning in (None, "off") else clamp_thinking_level(model, reasoning)
    by_level = model.extra.get("samplingParamsByThinkingLevel")
    layers = model.extra.get("samplingParams"), by_level.get(level) if isinstance(by_level, dict) else None
    return {name: value for layer in layers if isinstance(layer, dict) for name, value in layer.items()}


def default_max_tokens(model: Model, context_tokens: int = 0) -> int:
    """Return the output tokens to ask for: the model's limit, as far as the window has room.

    A context that fills the window still gets 1024 (or the model's limit): the API's own error tells more than an
    answer of one token.
    """
    room = model.context_window - context_tokens - _WINDOW_MARGIN
    return max(min(model.max_tokens, room), min(model.max_tokens, _ANSWER))
