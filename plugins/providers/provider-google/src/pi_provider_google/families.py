"""Features of a model, derived from its name."""

from __future__ import annotations

import re

__all__ = [
    "GIVEN_LEVELS",
    "is_foreign",
    "knows_images_in_results",
    "least_budget",
    "needs_call_ids",
    "needs_signatures",
    "takes_levels",
    "takes_output_schema",
    "takes_strict_tools",
    "token_budgets",
]

_GEMINI = re.compile(r"gemini-(?:live-)?(\d+)")
_LATEST = re.compile(r"gemini-(?:pro|flash|flash-lite)-latest")
_FOREIGN = ("claude-", "gpt-oss-")
"""Models of other vendors on Cloud Code Assist."""

_GEMINI_3 = 3

GIVEN_LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
"""Values of ``thinkingLevel``."""

_BUDGETS = {
    "2.5-pro": {"minimal": 128, "low": 2048, "medium": 8192, "high": 32_768},
    "2.5-flash-lite": {"minimal": 512, "low": 2048, "medium": 8192, "high": 24_576},
    "2.5-flash": {"minimal": 128, "low": 2048, "medium": 8192, "high": 24_576},
}
"""Tokens per level; the API rejects less than 512 for flash-lite."""

_CANNOT_STOP = "2.5-pro"


def is_foreign(model_id: str) -> bool:
    """Whether it is a model of another vendor, which Cloud Code Assist translates for."""
    return model_id.rpartition("/")[2].startswith(_FOREIGN)


def takes_levels(model_id: str) -> bool:
    """Whether the model takes a level and not a number of tokens: Gemini 3 and later, Gemma 4."""
    return _is_gemini_3(model_id) or "gemma-4" in model_id.lower()


def needs_call_ids(model_id: str) -> bool:
    """Whether calls and results are sent with their ids; older models match them by name and order."""
    return _is_gemini_3(model_id) or is_foreign(model_id)


def needs_signatures(model_id: str) -> bool:
    """Whether the API rejects a call of the model without a thought signature."""
    return _is_gemini_3(model_id)


def knows_images_in_results(model_id: str) -> bool:
    """Whether a function response may contain images; for Gemini 1 and 2 they follow in a user turn."""
    generation = _generation(model_id)
    return generation is None or generation >= _GEMINI_3


def takes_strict_tools(model_id: str) -> bool:
    """Whether strict tools are supported: only for an id with a generation, which ``-latest`` lacks."""
    return (_generation(model_id) or 0) >= _GEMINI_3


def takes_output_schema(model_id: str, *, with_tools: bool) -> bool:
    """Whether an output schema is supported; Gemini 2 rejects it in a request with functions."""
    return _is_gemini_3(model_id) or ("gemini-" in model_id.lower() and not with_tools)


def token_budgets(model_id: str) -> dict[str, int] | None:
    """Return the tokens per level of models with known budgets; None leaves the choice to the model."""
    return next((budgets for family, budgets in _BUDGETS.items() if family in model_id.lower()), None)


def least_budget(model_id: str) -> int:
    """Return the tokens that mean "off": 0, but for a model that cannot stop thinking."""
    return _BUDGETS[_CANNOT_STOP]["minimal"] if _CANNOT_STOP in model_id.lower() else 0


def _is_gemini_3(model_id: str) -> bool:
    generation = _generation(model_id)
    return generation >= _GEMINI_3 if generation is not None else _LATEST.search(model_id.lower()) is not None


def _generation(model_id: str) -> int | None:
    """Return the N of ``gemini-N...``; None for any other id."""
    found = _GEMINI.search(model_id.lower())
    return int(found[1]) if found else None
