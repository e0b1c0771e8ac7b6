"""Records each request's usage in the ledger, and settles it with the budgets."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from pi_budgets.family import accounts, member_of
from pi_budgets.line import append_line, ledger_file, today

if TYPE_CHECKING:
    from pi_budgets.account import Account
    from pi_budgets.amounts import Amounts
    from pi_budgets.reservations import Reservation
    from pi_hookspecs import ModelUsageEvent, PiContext, Usage

__all__ = ["record_usage", "write_left"]


def record_usage(event: ModelUsageEvent, ctx: PiContext) -> None:
    """Append the ledger's line of a request, then release what was reserved for it."""
    member = member_of(ctx)
    account = accounts().get(member.root)
    used, seconds, calls, day = event.usage, event.duration_ms / 1000, 0, today()
    if account is not None:
        used = _settled_usage(account, event, ctx)
        seconds, calls = account.take_unposted(seconds)
        day = max(day, account.latest_day)
    line = {
        "id": event.request_id,
        "at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "day": day,
        "session": ctx.session.id,
        "project": member.project,
        "plugin": event.plugin,
        "agent": member.agent,
        "purpose": event.purpose,
        "model": event.model.reference,
        "responseId": event.answer.response_id if event.answer is not None else None,
        "input": used.input,
        "output": used.output,
        "cacheRead": used.cache_read,
        "cacheWrite": used.cache_write,
        "dollars": used.cost.total,
        "seconds": round(seconds, 3),
        "toolCalls": calls,
    }
    agent_dir = str(ctx.settings.agent_dir)
    problem = None
    try:
        append_line(ledger_file(agent_dir), line)
    except OSError as error:
        problem = f"The usage of requests cannot be recorded: {error}"
    if account is not None:
        from pi_budgets.account import used_in

        account.unwritten += [line] if problem is not None else []
        _settle(account, event, {**used_in(used), "seconds": seconds}, agent_dir, member.agent)
    if problem is not None and problem not in _reported():
        _reported().add(problem)
        ctx.ui.notify(problem, "warning")


def write_left(account: Account, agent_dir: str) -> None:
    """Append the lines of an account that could not be appended before.

    Raises:
        OSError: They still cannot be appended.
    """
    while account.unwritten:
        append_line(ledger_file(agent_dir), account.unwritten[0])
        del account.unwritten[0]


_MOST_TOKENS = 1_000_000_000
"""More than any request can have: a larger number is no usage."""


def _settled_usage(account: Account, event: ModelUsageEvent, ctx: PiContext) -> Usage:
    """Return what a request counts for: what the answer reports, or what was reserved if it reports nothing usable.

    Some servers and proxies leave the usage out; without this, no budget would ever end their requests.
    """
    from math import isfinite

    from pi_budgets.amounts import tokens_of
    from pi_hookspecs import Cost, Usage

    reservation = account.reserved.get(event.request_id)
    tokens, dollars = tokens_of(event.usage), event.usage.cost.total
    is_usable = 0 < tokens <= _MOST_TOKENS and isfinite(dollars) and dollars >= 0
    is_reported = is_usable or (tokens == 0 and 0 < dollars < float("inf"))
    if event.error is not None or is_reported or reservation is None or not _is_limited(reservation, ctx):
        return event.usage
    most, output = reservation.amounts, event.model.max_tokens
    cost = Cost(total=most["dollars"])
    sentence = (
        f"{event.model.reference} does not report usable token counts, so each of its requests counts as the most "
        f"that it may use: {most['tokens']:,.0f} tokens" + (f", ${most['dollars']:.4f}." if most["dollars"] else ".")
    )
    if (key := f"{ctx.session.id} {event.model.reference}") not in _reported():
        _reported().add(key)
        ctx.ui.notify(sentence, "warning")
    return Usage(input=round(most["tokens"]) - output, output=output, cost=cost)


def _is_limited(reservation: Reservation, ctx: PiContext) -> bool:
    """Return whether dollars or tokens are limited, and the request may use any."""
    from pi_budgets.limits import read_budgets
    from pi_hookspecs import UserError

    try:
        limits = read_budgets(ctx.settings, ctx.get_flag).limits
    except UserError:
        return True  # every request is refused until they are corrected
    return any(limit.measure in ("dollars", "tokens") and reservation.amounts[limit.measure] > 0 for limit in limits)


def _settle(account: Account, event: ModelUsageEvent, used: Amounts, agent_dir: str, agent: str | None) -> None:
    """Count a request for its budgets, and release what was reserved for it."""
    from pi_budgets.ledger import names_of

    reservation = account.reserved.get(event.request_id)
    turns = reservation.amounts.get("turns", 0) if reservation is not None else 0
    amounts = {**used, "requests": 1, "turns": turns}
    account.settle(event.request_id, names_of(event.plugin, agent), amounts)
    if reservation is not None and reservation.is_shared:
        from pi_budgets.shared import shared_in

        shared_in(agent_dir).reservations.release(request=event.request_id)


@cache
def _reported() -> set[str]:
    """Return the problems about which the user was already notified."""
    return set()
