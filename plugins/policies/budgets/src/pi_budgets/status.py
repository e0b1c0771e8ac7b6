"""``/budget``: how much of each limit is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_budgets.account import Account
from pi_budgets.amounts import formatted
from pi_budgets.family import accounts, member_of
from pi_budgets.limits import read_budgets
from pi_budgets.shared import shared_in
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_budgets.ledger import Ledger
    from pi_budgets.limits import Limit
    from pi_hookspecs import PiContext

__all__ = ["show_budgets"]


def show_budgets(_args: str, ctx: PiContext) -> None:
    """Show the user how much of each limit is used."""
    try:
        budgets = read_budgets(ctx.settings, ctx.get_flag)
        ledger = shared_in(str(ctx.settings.agent_dir)).read()
    except OSError as error:
        raise UserError(f"The ledger cannot be read: {error}") from error
    member = member_of(ctx)
    account = accounts().get(member.root) or Account(member.project)
    lines = [f"This session has used ${ctx.totals.cost.total:.2f}."]
    lines += [_line(limit, account, ledger) for limit in budgets.limits]
    lines += (
        [] if budgets.limits else ["No limit is set: see budgets in the settings, --max-cost, --max-time, --max-turns."]
    )
    ctx.ui.notify("\n".join([*lines, *map(str, ledger.damages)]))


def _line(limit: Limit, account: Account, ledger: Ledger) -> str:
    """Return how much of a limit is used: ``budgets.day.dollars: $0.80 of $1.00``."""
    from pi_budgets.gate import used_of

    used = formatted(limit.measure, used_of(limit, account, ledger), limit.amount)
    if limit.setting in account.lifted:
        return f"{limit.setting}: {used}, no limit in this session"
    more = account.extra.get(limit.setting, 0.0)
    raised = f", raised to {formatted(limit.measure, 0.0, limit.amount + more).rpartition(' of ')[2]}" if more else ""
    return f"{limit.setting}: {used}{raised}"
