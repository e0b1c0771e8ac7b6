"""What the API says it used, as our tokens and their price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.messages import Usage
from pi_provider_kit import with_cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs.models import Model

__all__ = ["usage_of"]


_MOST = 10**15
"""More tokens than that are nonsense, and too much for arithmetic on prices."""


def usage_of(model: Model, said: Mapping[str, Any]) -> Usage:
    """Return the usage that all the API said so far amounts to; later counts stand for earlier ones (cumulative).

    ``input_tokens`` leaves out cached ones, as ours does. The hour's share of cache writes is known where the API
    breaks them down.
    """
    writes = said.get("cache_creation")
    details = said.get("output_tokens_details")
    long_writes = _count(writes, "ephemeral_1h_input_tokens")
    reasoning = _count(details, "thinking_tokens")
    usage = Usage(
        input=_count(said, "input_tokens"),
        output=_count(said, "output_tokens"),
        cache_read=_count(said, "cache_read_input_tokens"),
        cache_write=_count(said, "cache_creation_input_tokens"),
        cache_write_1h=long_writes or None,
        reasoning=reasoning or None,
    )
    return with_cost(model, usage)


def _count(source: Any, name: str) -> int:
    value = source.get(name) if isinstance(source, dict) else None
    return value if isinstance(value, int) and 0 < value < _MOST else 0
