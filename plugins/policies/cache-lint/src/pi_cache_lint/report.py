"""What a session's entries say about the cache: hit rate, breaks, money lost."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_cache_lint.first import ENTRY
from pi_hookspecs import AssistantMessage, CustomEntry, MessageEntry, UsageEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pi_hookspecs import PiContext, SessionEntry

__all__ = ["LastUse", "last_use", "lines_of", "show_report", "summary_of"]

_TEXTS = ("request", "kind", "link", "plugin", "hook")
_WARMING = "cache_warming"
"""The purpose of requests that keep a prompt in the cache, in the session's entries."""

_NO_AMOUNT = 1e12
"""Dollars from here on are no amount: a number in a session file can have thousands of digits."""


def summary_of(entries: Iterable[SessionEntry]) -> dict[str, Any]:
    """Return what ``pi cache --json`` prints of a session.

    Returns:
        ``hitRate`` (0 to 1), ``dollarsLost`` and ``breaks``; and ``refreshes`` (``count``, ``dollars``) if requests
        kept the prompt in the cache, which count in none of the others.
    """
    read = sent = refreshes = 0
    refreshed = 0.0
    breaks: list[dict[str, Any]] = []
    for each in entries:
        if isinstance(each, MessageEntry) and isinstance(each.message, AssistantMessage):
            usage = each.message.usage
            read += usage.cache_read
            sent += usage.input + usage.cache_read + usage.cache_write
        elif isinstance(each, UsageEntry) and each.kind == _WARMING:
            refreshes += 1
            refreshed += each.usage.cost.total
        elif isinstance(each, CustomEntry) and each.custom_type == ENTRY and isinstance(each.data, dict):
            broken = each.data.get("break")
            if isinstance(broken, dict):
                breaks.append(_read_break(broken))
    lost = sum((each["dollars"] or 0.0 for each in breaks), 0.0)
    found = {"hitRate": round(read / sent, 4) if sent else 0.0, "dollarsLost": round(lost, 6), "breaks": breaks}
    return found | ({"refreshes": {"count": refreshes, "dollars": round(refreshed, 6)}} if refreshes else {})


class LastUse(NamedTuple):
    """The last use of a provider's cache, in Unix seconds."""

    provider: str
    model: str
    at: float


def last_use(entries: Iterable[SessionEntry]) -> LastUse | None:
    """Return when a provider's cache was used last: by an answer, or by a request that kept the prompt in it."""
    found = None
    for each in entries:
        if isinstance(each, MessageEntry) and isinstance(each.message, AssistantMessage):
            message = each.message
            if message.stop_reason not in ("error", "aborted"):
                found = LastUse(message.provider, message.model, message.timestamp / 1000)
        elif isinstance(each, UsageEntry) and each.kind == _WARMING:
            with suppress(ValueError):  # another program may have written it
                found = LastUse(each.provider, each.model, datetime.fromisoformat(each.timestamp).timestamp())
    return found


def _read_break(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a break's fields; None for one that another version left out or wrote differently."""
    texts = {name: value if isinstance(value := found.get(name), str) else None for name in _TEXTS}
    dollars = found.get("dollars")
    known = isinstance(dollars, int | float) and 0 <= dollars < _NO_AMOUNT
    return {**texts, "dollars": dollars if known else None}


def lines_of(summary: Mapping[str, Any]) -> Sequence[str]:
    """Return a readable summary: one line in total, one for each break, one for each plugin that cost money."""
    breaks = summary["breaks"]
    number = f"{len(breaks)} break{'' if len(breaks) == 1 else 's'}"
    lines = [
        f"{summary['hitRate']:.0%} of the input was read from the cache; {number}, ${summary['dollarsLost']:.4f} lost"
    ]
    lines += [
        f"{each['kind'] or '-':<9}  ${each['dollars'] or 0:.4f}  {each['link'] or '-'}  {_by(each)}"
        f"  request {each['request'] or '-'}"
        for each in breaks
    ]
    if (refreshes := summary.get("refreshes")) is not None:
        times = f"{refreshes['count']} time{'' if refreshes['count'] == 1 else 's'}"
        lines.append(f"The prompt was kept in the cache by sending it again {times}, for ${refreshes['dollars']:.4f}")
    lost: dict[str, float] = {}
    for each in breaks:
        if each["plugin"] and each["kind"] == "avoidable":
            lost[each["plugin"]] = lost.get(each["plugin"], 0.0) + (each["dollars"] or 0)
    lines += [f"{plugin} lost ${dollars:.4f}" for plugin, dollars in sorted(lost.items()) if dollars]
    return lines


def _by(found: Mapping[str, Any]) -> str:
    plugin, hook = found["plugin"] or "pi", found["hook"]
    return f"{plugin} ({hook})" if hook else "-"


def show_report(_args: str, ctx: PiContext) -> None:
    """Show the report of this session, and the next decision on keeping the prompt in the cache."""
    lines = [*lines_of(summary_of(ctx.session.entries()))]
    if ctx.cache_warming is not None:
        lines.append(f"The prompt is {ctx.cache_warming}")
    ctx.ui.notify("\n".join(lines))
