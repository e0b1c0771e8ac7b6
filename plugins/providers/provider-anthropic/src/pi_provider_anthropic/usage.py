"""Converts the API's usage to ours, with its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import Usage
from pi_provider_kit import billed_dollars, token_count, with_cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model

__all__ = ["usage_of"]


def usage_of(model: Model, reported: Mapping[str, Any]) -> Usage:
    """Return the usage of all reports so far, which are cumulative: later counts replace earlier ones.

    ``input_tokens`` leaves out cached ones, as ours does. The share of one-hour cache writes is known where the
    API breaks them down, and the price where a gateway bills it.
    """
    long_writes = _part(reported, "cache_creation", "ephemeral_1h_input_tokens")
    details = reported.get("output_tokens_details")
    thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
    usage = Usage(
        input=token_count(reported.get("input_tokens")),
        output=token_count(reported.get("output_tokens")),
        cache_read=token_count(reported.get("cache_read_input_tokens")),
        cache_write=token_count(reported.get("cache_creation_input_tokens")),
        cache_write_1h=long_writes or None,
        reasoning=None if thinking is None else token_count(thinking),
    )
    return with_cost(model, usage, billed_dollars(reported))


def _part(reported: Mapping[str, Any], whole: str, name: str) -> int:
    details = reported.get(whole)
    return token_count(details.get(name)) if isinstance(details, dict) else 0
