"""Refuses requests to models above a price, and logs the usage of each request to a CSV file."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from pi_hookspecs import BeforeModelRequestResult, PluginSetting, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import BeforeModelRequestEvent, ModelUsageEvent, PiContext

__all__ = ["before_model_request", "model_usage", "register_settings"]

LIMIT = "priceLimit.perMillion"
COLUMNS = ("request", "purpose", "plugin", "attempt", "model", "input", "output", "dollars", "milliseconds", "error")


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the limit."""
    dollars = {"type": "number", "minimum": 0}
    return [PluginSetting(LIMIT, schema=dollars, description="Dollars per million tokens", protected=True)]


@hookimpl
def before_model_request(event: BeforeModelRequestEvent, ctx: PiContext) -> BeforeModelRequestResult | None:
    """Refuse a model whose dearest token costs more than the setting; without the setting refuse none."""
    limit = ctx.settings.get_number(LIMIT, float("inf"))
    cost = event.model.cost
    price = max(cost.input, cost.output, *(max(tier.input, tier.output) for tier in cost.tiers))
    if price <= limit:
        return None
    reason = f"{event.model.id!r} costs {price:g} dollars per million tokens, and {limit:g} are allowed ({LIMIT})."
    return BeforeModelRequestResult(block=True, reason=reason, exit_code=4)


@hookimpl
def model_usage(event: ModelUsageEvent, ctx: PiContext) -> None:
    """Append a row; an error message of a server may quote a key, so it is redacted."""
    used, error = event.usage, ctx.secrets.redact(event.error or "")
    model = f"{event.model.provider}/{event.model.id}"
    row = (event.request_id, event.purpose, event.plugin, event.attempt, model, used.input, used.output)
    with (ctx.settings.agent_dir / "usage.csv").open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow(COLUMNS)
        writer.writerow((*row, used.cost.total, event.duration_ms, error))
