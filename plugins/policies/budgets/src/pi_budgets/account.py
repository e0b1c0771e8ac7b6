"""What a session and its child sessions have used."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from attrs import define, field

from pi_budgets.amounts import SHARED, Amounts, add, tokens_of
from pi_budgets.family import accounts
from pi_hookspecs import AssistantMessage, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pi_budgets.family import Member
    from pi_budgets.limits import Limit
    from pi_budgets.reservations import Reservation
    from pi_hookspecs import PiContext, SessionEntry, Usage

__all__ = ["Account", "account_of", "used_in"]


@define(eq=False)
class Account:
    """What a session and its child sessions have used.

    Attributes:
        project: The working directory.
        start: What was used since pi started, by name; all conversations of this pi process share it.
        spent: What was used in the run and in the session, by name in ``budgets.by`` (None: everything) and scope.
        reserved: The most that requests in flight may use, by request.
        noticed: The limits about which the user was notified.
        extra: What the user allowed on top of a limit, by setting.
        lifted: Settings of the limits that the user switched off for this session.
        declined: Settings of the limits at which the user chose to stop, in this run.
        stopped: Why no further request may be made in this run: a tool call was refused.
        unwritten: Lines that could not be appended to the ledger.
        latest_day: The latest day in the ledger when it was last read.
        asking: Held while the user is asked, so that child sessions do not ask at the same time.
    """

    project: str
    start: dict[str | None, Amounts] = field(factory=dict)
    spent: dict[tuple[str | None, str], Amounts] = field(factory=dict)
    reserved: dict[str, Reservation] = field(factory=dict)
    noticed: set[Limit] = field(factory=set)
    extra: dict[str, float] = field(factory=dict)
    lifted: set[str] = field(factory=set)
    declined: set[str] = field(factory=set)
    stopped: str | None = None
    unwritten: list[Mapping[str, Any]] = field(factory=list)
    latest_day: str = ""
    asking: asyncio.Lock = field(factory=asyncio.Lock)
    _clock: float | None = None
    _calls: dict[str | None, int] = field(factory=dict)

    def allowed(self, limit: Limit) -> float:
        """Return the allowed amount, including what the user has added."""
        if limit.setting in self.lifted:
            return float("inf")
        return limit.amount + self.extra.get(limit.setting, 0.0)

    def used(self, limit: Limit, shared: Amounts) -> float:
        """Return how much of a limit is used, including time and tool calls since the last request.

        Args:
            limit: The limit.
            shared: What the ledger has for it.
        """
        if limit.scope in SHARED:
            spent = shared
        elif limit.scope == "start":
            spent = self.start.get(limit.who, {})
        else:
            spent = self.spent.get((limit.who, limit.scope), {})
        return spent.get(limit.measure, 0.0) + self._unposted(limit)

    def reserved_for(self, limit: Limit) -> float:
        """Return how much of a limit this family's requests in flight may use."""
        reserved = tuple(self.reserved.values())  # other threads add to it
        return sum(each.amounts.get(limit.measure, 0.0) for each in reserved if limit.who in each.names)

    def begin_run(self) -> None:
        """Start the clock."""
        if self._clock is None:
            self._clock = time.monotonic()

    def end_run(self) -> None:
        """Reset the run's counters for the next run."""
        if self._clock is not None:
            self._post((None,), {"seconds": time.monotonic() - self._clock})
        self._clock = self.stopped = None
        self.declined.clear()
        for key in [key for key in self.spent if key[1] == "run"]:
            del self.spent[key]
        self.noticed = {limit for limit in self.noticed if limit.scope != "run"}

    def call_tool(self, names: tuple[str | None, ...]) -> None:
        """Count a tool call."""
        for who in names:
            self._calls[who] = self._calls.get(who, 0) + 1

    def take_unposted(self, seconds: float) -> tuple[float, int]:
        """Return the seconds and tool calls since the last request; they are booked with the request that has ended.

        Args:
            seconds: Duration of that request, for use when no run is in progress.
        """
        if self._clock is not None:
            now = time.monotonic()
            seconds, self._clock = now - self._clock, now
        calls = self._calls.get(None, 0)
        for who, number in self._calls.items():
            self._post((who,), {"toolCalls": number})
        self._calls.clear()
        return seconds, calls

    def settle(self, request: str, names: tuple[str | None, ...], used: Amounts) -> None:
        """Count what a request used, and release its reservation."""
        self.reserved.pop(request, None)
        self._post(names, used)

    def count_before(self, entries: Iterable[SessionEntry]) -> None:
        """Count what a session used earlier; an answer stored twice counts once."""
        seen: set[str] = set()
        total: Amounts = {}
        for entry in entries:
            add(total, _used_by(entry, seen))
        add(self.spent.setdefault((None, "session"), {}), total)

    def _post(self, names: tuple[str | None, ...], amounts: Amounts) -> None:
        for who in names:
            add(self.start.setdefault(who, {}), amounts)
            for scope in ("run", "session"):
                add(self.spent.setdefault((who, scope), {}), amounts)

    def _unposted(self, limit: Limit) -> float:
        if limit.measure == "toolCalls":
            return self._calls.get(limit.who, 0)
        if limit.measure == "seconds" and limit.who is None and self._clock is not None:
            return time.monotonic() - self._clock
        return 0.0


def _used_by(entry: SessionEntry, seen: set[str]) -> Amounts:
    """Return the usage that an entry records."""
    message: Any = getattr(entry, "message", None)
    if isinstance(message, ToolResultMessage):
        used = used_in(message.usage) if message.usage is not None else {}
        return {**used, "toolCalls": 1, "seconds": (message.duration_ms or 0) / 1000}
    if isinstance(message, AssistantMessage):
        if message.response_id is not None and message.response_id in seen:
            return {}
        seen.add(message.response_id or "")
        return {**used_in(message.usage), "requests": 1, "seconds": (message.duration_ms or 0) / 1000}
    usage = getattr(entry, "usage", None)
    if message is not None or usage is None:
        return {}
    return {**used_in(usage), "requests": 1 if entry.type == "usage" else 0}


def used_in(usage: Usage) -> Amounts:
    """Return the tokens and dollars of a usage."""
    return {"tokens": tokens_of(usage), "dollars": usage.cost.total}


def account_of(member: Member, ctx: PiContext, start: dict[str | None, Amounts]) -> Account:
    """Return the account of a session's family; the first call creates it.

    Args:
        member: What the session is.
        ctx: The session.
        start: What was used since pi was started.
    """
    account: Account | None = accounts().get(member.root)
    if account is None:
        account = accounts()[member.root] = Account(member.project, start)
        if member.root == ctx.session.id:
            account.count_before(ctx.session.entries())
    return account
