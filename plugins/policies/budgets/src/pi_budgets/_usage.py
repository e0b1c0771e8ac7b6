"""Records each request's usage in the ledger, and settles it with the budgets."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from pi_budgets._family import accounts, member_of
from pi_budgets._line import append_line, ledger_file, today

if TYPE_CHECKING:
    from pi_budgets._account import Account
    from pi_hookspecs import ModelUsageEvent, PiContext

__all__ = ["record_usage", "write_left"]


def record_usage(event: ModelUsageEvent, ctx: PiContext) -> None:
    """Append the ledger's line of a request, then release what was reserved for it."""
    member = member_of(ctx)
    account = accounts().get(member.root)
    used, seconds, calls, day = event.usage, event.duration_ms / 1000, 0, today()
    if account is not None:
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
        problem = f"What requests use cannot be written down: {error}"
    if account is not None:
        account.unwritten += [line] if problem is not None else []
        _settle(account, event, seconds, agent_dir, member.agent)
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


def _settle(account: Account, event: ModelUsageEvent, seconds: float, agent_dir: str, agent: str | None) -> None:
    """Count a request for its budgets, and release what was reserved for it."""
    from pi_budgets._account import used_in
    from pi_budgets._ledger import names_of

    reservation = account.reserved.get(event.request_id)
    turns = reservation.amounts.get("turns", 0) if reservation is not None else 0
    amounts = {**used_in(event.usage), "requests": 1, "seconds": seconds, "turns": turns}
    account.settle(event.request_id, names_of(event.plugin, agent), amounts)
    if reservation is not None and reservation.is_shared:
        from pi_budgets._shared import shared_in

        shared_in(agent_dir).reservations.release(request=event.request_id)


@cache
def _reported() -> set[str]:
    """Return the problems about which the user was already notified."""
    return set()
