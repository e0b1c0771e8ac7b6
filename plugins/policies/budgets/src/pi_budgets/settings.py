"""The settings ``budgets.*``, and the limits of ``guardrails.limits`` that this plugin keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_budgets.amounts import MEASURES, SCOPES
from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["GUARDED", "GUARDED_SCOPES", "SETTINGS", "UNKNOWN_PRICE"]

GUARDED_SCOPES = ("run", "session")
GUARDED = ("requests", "tokens", "dollars")
"""The scopes and measures of ``guardrails.limits``."""

_AMOUNT: dict[str, Any] = {"type": "number", "minimum": 0}
_MEASURED = {
    "dollars": "Dollars",
    "tokens": "Tokens, sent and received",
    "requests": "Requests to a model",
    "seconds": "Seconds, tools included",
    "toolCalls": "Tool calls",
}

UNKNOWN_PRICE = PluginSetting(
    "budgets.unknownPrice",
    schema={"enum": ["refuse", "tokens", "ignore"], "default": "tokens"},
    description=(
        "What to do with models of unknown price if dollars are limited: refuse them, count only their tokens and say"
        " so, or count without a notice"
    ),
    project=("refuse", "tokens", "ignore"),
)


def _limits(above: str, scopes: Sequence[str], measures: Sequence[str]) -> Iterator[PluginSetting]:
    for scope in scopes:
        for measure in measures:
            name = f"{above}.{scope}.{measure}"
            yield PluginSetting(name, schema=_AMOUNT, description=_MEASURED[measure], project="lower")


SETTINGS = (
    *_limits("budgets", SCOPES, MEASURES),
    *_limits("budgets.by.*", SCOPES, MEASURES),
    UNKNOWN_PRICE,
    *_limits("guardrails.limits", GUARDED_SCOPES, GUARDED),
)
