"""Figures of a session as front ends at a terminal display them: ``/session``, the footer, a virtual model's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_terminal_kit.words import count

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["dispatch_facts", "session_rows", "usage_facts"]


def session_rows(stats: Any, *, file: str | None, cache: object = None) -> list[str]:
    """Return rows about a session's file, size and cost.

    Args:
        stats: The statistics of a session, of this process or of another one (``get_session_stats``).
        file: The session's file for display; None if it is not stored.
        cache: The next decision on keeping the prompt in the provider's cache, in words; None if there is none.
    """
    tokens, usage = stats.tokens, stats.context_usage
    parts = [f"{tokens.input:,} input", f"{tokens.output:,} output"]
    parts += [f"{tokens.cache_read:,} read from the cache"] if tokens.cache_read else []
    parts += [f"{tokens.cache_write:,} written to it"] if tokens.cache_write else []
    messages = f"{stats.user_messages:,} of yours, {stats.assistant_messages:,} of the model"
    rows = [
        f"File      {file or 'in memory'}",
        f"ID        {stats.session_id}",
        f"Messages  {messages}, {count(stats.tool_calls, 'tool call')}",
        f"Tokens    {tokens.total:,}: {', '.join(parts)}",
        f"Cost      ${stats.cost:.4f}",
        *_cost_rows(stats.cost_by_model),
    ]
    if usage is not None and usage.tokens is not None and usage.context_window:
        rows.append(f"Context   {usage.tokens:,} of {usage.context_window:,} tokens")
    if cache is not None:
        rows.append(f"Cache     {cache}")
    return rows


def _cost_rows(by_model: Mapping[str, float]) -> list[str]:
    """Return a row for each model and its dollars, for below the row of the total; none if one model answered all."""
    return [f"          ${cost:.4f} {model}" for model, cost in by_model.items()] if len(by_model) > 1 else []


def usage_facts(stats: Any) -> dict[str, Any]:
    """Return the footer's totals."""
    tokens = stats.tokens
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "cost": stats.cost,
    }


def dispatch_facts(answer: Any | None) -> dict[str, str | None]:
    """Return the footer's fields on the model that answers for a virtual model: that of its last answer, if any."""
    level = getattr(answer, "thinking_level", None)
    return {
        "dispatched": getattr(answer, "model", None),
        "dispatched_level": None if level == "off" else level,
    }
