"""The handlers of a session with budgets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_budgets.account import account_of, used_in
from pi_budgets.family import accounts, member_of
from pi_budgets.gate import EXIT_CODE, Gate
from pi_budgets.ledger import names_of
from pi_budgets.limits import Budgets, read_budgets
from pi_budgets.line import ledger_file, today
from pi_budgets.prices import has_prices, most
from pi_budgets.reservations import Reservation
from pi_budgets.shared import shared_in
from pi_budgets.usage import write_left
from pi_hookspecs import BeforeModelRequestResult, PiError, ToolCallResult, ToolResultMessage, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_budgets.account import Account
    from pi_budgets.amounts import Amounts
    from pi_budgets.family import Member
    from pi_hookspecs import (
        AgentSettledEvent,
        AgentStartEvent,
        BeforeModelRequestEvent,
        ChildSessionStartEvent,
        MessageEndEvent,
        PiAPI,
        PiContext,
        SessionShutdownEvent,
        ToolCallEvent,
    )

__all__ = ["Hooks"]

_DAMAGES_SHOWN = 3
_NAMES = (
    "before_model_request",
    "tool_call",
    "message_end",
    "agent_start",
    "agent_settled",
    "child_session_start",
    "session_shutdown",
)


class Hooks:
    """One session's handlers.

    Args:
        pi: Where the handlers are added while any limit applies.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._off: list[Callable[[], None]] = []
        self._start: dict[str | None, Amounts] = {}
        self._notices: set[str] = set()
        self._free: dict[str, bool] = {}
        self._timer: asyncio.Task[None] | None = None

    def start(self, ctx: PiContext, *, wanted: bool) -> None:
        """Add the handlers if a limit may be set, and report invalid limits now rather than at the first request."""
        while self._off:
            self._off.pop()()
        if not wanted:
            return
        # First of all, so that whatever fails below leaves the gate shut and not open.
        self._off += [self._pi.on(name, getattr(self, name)) for name in _NAMES]
        try:
            read_budgets(ctx.settings, ctx.get_flag)
        except UserError as error:
            if ctx.has_ui:  # elsewhere the first request, which is refused, ends pi with the message
                ctx.ui.notify(f"Every request is refused: {error}", "error")

    async def before_model_request(
        self, event: BeforeModelRequestEvent, ctx: PiContext
    ) -> BeforeModelRequestResult | None:
        """Reserve a request, or refuse it."""
        try:
            budgets = read_budgets(ctx.settings, ctx.get_flag)
        except UserError as error:
            return _refused(str(error), error.exit_code)
        if not budgets.limits:
            return None
        try:
            reason = await self._refusal(event, budgets, ctx)
        except OSError as error:
            return _refused(f"The budget cannot be enforced: {error}. No request is made.", 1)
        return None if reason is None else _refused(reason)

    async def tool_call(self, _event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Count a tool call, or refuse it."""
        try:
            budgets = read_budgets(ctx.settings, ctx.get_flag)
        except UserError as error:
            return ToolCallResult(block=True, reason=str(error))
        member, account = self._account(ctx)
        reason = await self._gate(account, budgets, ctx, names_of(None, member.agent)).tool_call()
        return None if reason is None else ToolCallResult(block=True, reason=reason)

    def message_end(self, event: MessageEndEvent, ctx: PiContext) -> None:
        """Count the usage that a tool reports; child sessions are counted by their own requests."""
        message = event.message
        if not isinstance(message, ToolResultMessage) or message.usage is None:
            return
        call = message.tool_call_id
        if not any(f"{each.parent_call}/".startswith(f"{call}/") for each in ctx.children):
            member, account = self._account(ctx)
            account.settle("", names_of(None, member.agent), used_in(message.usage))

    def agent_start(self, _event: AgentStartEvent, ctx: PiContext) -> None:
        """Start a run's clock; a child session uses its parent's clock."""
        member, account = self._account(ctx)
        if member.root != ctx.session.id:
            return
        account.begin_run()
        if not ctx.has_ui and self._timer is None:
            budgets = self._budgets(ctx)
            self._timer = asyncio.create_task(self._gate(account, budgets, ctx, (None,)).end_in_time())

    def agent_settled(self, _event: AgentSettledEvent, ctx: PiContext) -> None:
        """Release reservations of requests that were never sent, and reset the run's counters."""
        self._stop_timer()
        member, account = self._account(ctx)
        left = [each.id for each in account.reserved.values() if each.session == ctx.session.id]
        for request in left:
            del account.reserved[request]
        if left:
            shared_in(str(ctx.settings.agent_dir)).reservations.release(session=ctx.session.id)
        if member.root == ctx.session.id:
            account.end_run()

    def child_session_start(self, _event: ChildSessionStartEvent, ctx: PiContext) -> None:
        """Create the account that the child session will use, if it does not exist."""
        self._account(ctx)

    def session_shutdown(self, event: SessionShutdownEvent, ctx: PiContext) -> None:
        """Discard the counters: the session's entries record the usage."""
        self._stop_timer()
        if event.reason != "reload":
            accounts().pop(ctx.session.id, None)

    # Internals

    async def _refusal(self, event: BeforeModelRequestEvent, budgets: Budgets, ctx: PiContext) -> str | None:
        """Reserve a request; return why it may not be made, None when it may.

        Raises:
            OSError: The ledger cannot be read or written, or nothing can be reserved.
        """
        member, account = self._account(ctx)
        agent_dir = str(ctx.settings.agent_dir)
        if budgets.are_shared:
            write_left(account, agent_dir)
        if account.stopped is not None:
            return account.stopped
        if reason := await self._unknown_price(event, budgets, ctx):
            return reason
        names = names_of(event.plugin, member.agent)
        is_turn = member.agent is None and event.purpose == "conversation" and event.attempt == 1
        new = Reservation(
            id=event.request_id,
            session=ctx.session.id,
            project=account.project,
            names=names,
            amounts={**most(event.model, event.estimated_tokens), "requests": 1, "turns": int(is_turn)},
            is_shared=budgets.are_shared,
        )
        gate = self._gate(account, budgets, ctx, names)
        reason = await gate.request(new, is_needed=event.purpose != "cache_warming")
        for damage in shared_in(agent_dir).ledger.damages[:_DAMAGES_SHOWN]:
            self._notify_once(str(damage), ctx)
        if account.latest_day > today():
            sentence = f"The clock was set back, or was wrong: the ledger continues with the day {account.latest_day}"
            self._notify_once(f"{sentence} until its lines are removed from {ledger_file(agent_dir)}.", ctx)
        return reason

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _budgets(self, ctx: PiContext) -> Budgets:
        """Return the limits; no limits if they are invalid, since then every request is refused anyway."""
        try:
            return read_budgets(ctx.settings, ctx.get_flag)
        except UserError:
            return Budgets()

    def _account(self, ctx: PiContext) -> tuple[Member, Account]:
        member = member_of(ctx)
        return member, account_of(member, ctx, self._start)

    def _gate(self, account: Account, budgets: Budgets, ctx: PiContext, names: tuple[str | None, ...]) -> Gate:
        return Gate(account, budgets, ctx, shared_in(str(ctx.settings.agent_dir)), names)

    async def _unknown_price(self, event: BeforeModelRequestEvent, budgets: Budgets, ctx: PiContext) -> str | None:
        """Return why a model without known prices is refused; notify the user if it is allowed."""
        limit = next((limit for limit in budgets.limits if limit.measure == "dollars"), None)
        if limit is None or budgets.unknown_price == "ignore" or has_prices(event.model):
            return None
        if await self._is_free(event.model.provider, ctx):
            return None
        what = f"The prices of {event.model.reference} are unknown, so {limit.setting} cannot limit it"
        if budgets.unknown_price == "refuse":
            return f"{what}. Add its prices to models.json, or set budgets.unknownPrice to tokens or ignore."
        self._notify_once(f"{what}; limits of tokens and requests still apply.", ctx)
        return None

    async def _is_free(self, provider: str, ctx: PiContext) -> bool:
        """Return whether a provider needs no key, such as a local server, so that requests cost nothing."""
        if provider not in self._free:
            try:
                self._free[provider] = await ctx.models.get_api_key(provider) is None
            except PiError:
                return False
        return self._free[provider]

    def _notify_once(self, sentence: str, ctx: PiContext) -> None:
        if sentence not in self._notices:
            self._notices.add(sentence)
            ctx.ui.notify(sentence, "warning")


def _refused(reason: str, exit_code: int = EXIT_CODE) -> BeforeModelRequestResult:
    return BeforeModelRequestResult(block=True, reason=reason, exit_code=exit_code)
