"""Decides whether a request may be sent: reserves its cost, waits for other requests, asks the user, or refuses."""

from __future__ import annotations

import asyncio
import time
from math import ceil
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from attrs import frozen

from pi_budgets.amounts import formatted
from pi_budgets.line import today
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from pi_budgets.account import Account
    from pi_budgets.ledger import Ledger
    from pi_budgets.limits import Budgets, Limit
    from pi_budgets.reservations import Reservation
    from pi_budgets.shared import Shared
    from pi_hookspecs import PiContext

__all__ = ["EXIT_CODE", "BudgetExceededEvent", "Gate", "Reached", "used_of"]

EXIT_CODE = 4
"""Exit code of a process that a budget stops."""

_WAIT_SECONDS = 15.0
"""How long a request waits for others whose cost is not known yet. The hook's own deadline is longer."""

_ASKING_SECONDS = 20.0
"""How long a tool call waits while the user is asked the same for another one; the hook's deadline is 30 seconds."""

_PAUSE_SECONDS = 0.1
_STATUS = "budgets"
_NOTICE_AT = 0.8
_MORE = 0.25

_CHOICES = (("once", "Allow 25 % more", "y"), ("session", "No limit in this session", "s"))

_SUBJECTS = {
    "run": "this run has used {}",
    "session": "this session has used {}",
    "start": "pi has used {} since it was started",
    "day": "all sessions of today have used {}",
    "project": "all sessions of this project have used {}",
    "total": "all sessions have used {}",
}


@frozen(kw_only=True, eq=False, repr=False)
class BudgetExceededEvent(ReprMixin):
    """A request or a tool call was refused because a limit is reached.

    Attributes:
        setting: The setting or option of the limit.
        scope: What it counts: a run, a session, a day ...
        measure: ``dollars``, ``tokens`` ...
        who: The plugin or ``agent:NAME`` that the limit applies to; None for everything.
        used: What was used.
        limit: What is allowed.
        message: A sentence for the user with all of this.
    """

    type: ClassVar[Literal["budget_exceeded"]] = "budget_exceeded"
    setting: str
    scope: str
    measure: str
    who: str | None
    used: float
    limit: float
    message: str


class Reached(NamedTuple):
    """A limit that is reached, or would be if the requests in flight cost as much as they may.

    Attributes:
        limit: The limit.
        used: What was used of it.
        may_pass: Whether the limit still holds if those requests cost less.
    """

    limit: Limit
    used: float
    may_pass: bool = False


@frozen
class Gate:
    """The decisions about one session.

    Args:
        account: What was used.
        budgets: The limits.
        ctx: The session.
        shared: What other processes use.
        names: Whose budgets the request or call counts for.
    """

    account: Account
    budgets: Budgets
    ctx: PiContext
    shared: Shared
    names: tuple[str | None, ...]

    async def request(self, new: Reservation, *, is_needed: bool = True) -> str | None:
        """Reserve a request; return why it is refused, None if it is allowed.

        Args:
            new: The request, with the most that it may use.
            is_needed: Whether the run needs it; for another one the user is not asked, and nothing waits.

        Raises:
            OSError: The ledger cannot be read, or nothing can be reserved.
        """
        end, has_status = time.monotonic() + _WAIT_SECONDS, False
        try:
            while (reached := await self._reserve(new, wait=time.monotonic() < end)) is not None:
                if not is_needed:
                    return explained(reached, self.account.allowed(reached.limit))
                if reached.may_pass:
                    self.ctx.ui.set_status(_STATUS, f"Waiting for requests that may reach {reached.limit.setting}")
                    has_status = True
                    await asyncio.sleep(_PAUSE_SECONDS)
                elif (reason := await self._settled_with_user(reached)) is not None:
                    return reason
        finally:
            if has_status:
                self.ctx.ui.set_status(_STATUS)
        self._give_notices()
        return None

    async def tool_call(self) -> str | None:
        """Count a tool call; return why it is refused, None if it is allowed."""
        while (reached := self._reached(("toolCalls", "seconds"), self.shared.ledger, ())) is not None:
            reason = await self._settled_with_user(reached, _ASKING_SECONDS)
            if reason is not None:
                self.account.stopped = reason
                return reason
        self.account.call_tool(self.names)
        return None

    async def end_in_time(self) -> None:
        """Abort the run when its time is up, whatever it is doing; used when there is no user to ask."""
        limits = [
            limit
            for limit in self.budgets.limits
            if limit.measure == "seconds" and limit.who is None and not limit.is_shared
        ]
        if not limits:
            return
        left = {limit: limit.amount - used_of(limit, self.account, self.shared.ledger) for limit in limits}
        first = min(limits, key=left.__getitem__)
        await asyncio.sleep(left[first])
        reached = Reached(first, used_of(first, self.account, self.shared.ledger))
        reason = explained(reached, first.amount)
        await self._announce(reached, reason)
        self.ctx.ui.notify(reason, "error")
        self.ctx.abort(reason, exit_code=EXIT_CODE)

    # Decisions

    async def _reserve(self, new: Reservation, *, wait: bool) -> Reached | None:
        def decide(ledger: Ledger, others: Sequence[Reservation]) -> Reached | None:
            reached = self._reached(("dollars", "tokens", "requests", "seconds", "turns"), ledger, others, wait=wait)
            if reached is None:
                self.account.reserved[new.id] = new  # before another session of the family decides
            return reached

        if not self.budgets.are_shared:
            return decide(self.shared.ledger, ())
        reached = await asyncio.to_thread(self.shared.reserve, new, decide)  # the lock may have to be waited for
        self.account.latest_day = self.shared.ledger.latest_day
        return reached

    def _reached(
        self, measures: tuple[str, ...], ledger: Ledger, others: Sequence[Reservation], *, wait: bool = False
    ) -> Reached | None:
        """Return the first limit that is reached, or else the first that requests in flight may reach."""
        near = None
        for limit in self.budgets.limits:
            if limit.who not in self.names or limit.measure not in measures:
                continue
            used, allowed = used_of(limit, self.account, ledger), self.account.allowed(limit)
            if used >= allowed:
                return Reached(limit, used)
            if wait and near is None and used + self._reserved(limit, others) >= allowed:
                near = Reached(limit, used, may_pass=True)
        return near

    def _reserved(self, limit: Limit, others: Sequence[Reservation]) -> float:
        if not limit.is_shared:
            return self.account.reserved_for(limit)
        return sum(
            each.amounts.get(limit.measure, 0.0)
            for each in others
            if limit.who in each.names and (limit.scope != "project" or each.project == self.account.project)
        )

    # The user

    async def _settled_with_user(self, reached: Reached, patience: float | None = None) -> str | None:
        """Ask the user to raise a limit; return the refusal, None if the limit was raised.

        Args:
            reached: The limit.
            patience: Seconds to wait while the user answers the same question for another session of the family.
        """
        limit, account = reached.limit, self.account
        reason = explained(reached, account.allowed(limit))
        try:
            async with asyncio.timeout(patience):
                await account.asking.acquire()
        except TimeoutError:
            return f"{reason} The user is being asked."
        try:
            if reached.used < account.allowed(limit):  # raised while this waited
                return None
            if self.ctx.has_ui and limit.setting not in account.declined and await self._is_raised(reached, reason):
                account.stopped = None
                return None
        finally:
            account.asking.release()
        await self._announce(reached, reason)
        return reason

    async def _is_raised(self, reached: Reached, reason: str) -> bool:
        """Ask the user what to do about a limit; return whether to continue."""
        limit, account = reached.limit, self.account
        from pi_hookspecs import Approval, ApprovalChoice, unanswered_reason

        stop = ApprovalChoice("no", "Stop", allows=False, key="n")
        choices = (*(ApprovalChoice(answer, label, key=key) for answer, label, key in _CHOICES), stop)
        approval = Approval("A limit has been reached. Continue?", why=reason, choices=choices)
        answer = await self.ctx.ui.approve(approval, signal=self.ctx.signal)
        if answer == "session":
            account.lifted.add(limit.setting)
        elif answer == "once":
            more = max(limit.amount, reached.used) * _MORE
            allowed = reached.used + more
            account.extra[limit.setting] = (allowed if limit.measure == "dollars" else ceil(allowed)) - limit.amount
        if reached.used < account.allowed(limit):
            account.noticed.add(limit)  # the question was a notice
            return True
        if unanswered_reason() is None:  # else the next request asks again
            account.declined.add(limit.setting)
        return False

    async def _announce(self, reached: Reached, reason: str) -> None:
        limit = reached.limit
        event = BudgetExceededEvent(
            setting=limit.setting,
            scope=limit.scope,
            measure=limit.measure,
            who=limit.who,
            used=reached.used,
            limit=self.account.allowed(limit),
            message=reason,
        )
        await self.ctx.emit(event)

    def _give_notices(self) -> None:
        for limit in self.budgets.limits:
            if limit.who in self.names and limit not in self.account.noticed and limit.measure != "turns":
                used, allowed = used_of(limit, self.account, self.shared.ledger), self.account.allowed(limit)
                if used >= _NOTICE_AT * allowed:
                    self.account.noticed.add(limit)
                    sentence = described(limit, used, allowed)
                    self.ctx.ui.notify(f"{sentence} ({limit.setting}).", "warning")


def used_of(limit: Limit, account: Account, ledger: Ledger) -> float:
    """Return how much of a limit is used."""
    shared = ledger.used(limit.who, limit.scope, account.project, today()) if limit.is_shared else {}
    return account.used(limit, shared)


def described(limit: Limit, used: float, allowed: float) -> str:
    """Return how much of a limit is used, in words."""
    source = "Guardrails" if limit.setting.startswith("guardrails.") else "Budget"
    whose = f" of {limit.who}" if limit.who is not None else ""
    return f"{source}{whose}: {_SUBJECTS[limit.scope].format(formatted(limit.measure, used, allowed))}"


def explained(reached: Reached, allowed: float) -> str:
    """Return the refusal: why the limit applies, and what the user can do."""
    limit = reached.limit
    where = "" if limit.setting.startswith("--") else " in the settings"
    return f"{described(limit, reached.used, allowed)}. Raise {limit.setting}{where} to continue (see pi help budgets)."
