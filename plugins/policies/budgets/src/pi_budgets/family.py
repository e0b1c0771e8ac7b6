"""Which sessions belong together: a child session uses the budgets of the session that it works for.

A child session has its own handlers, which have to find its parent's account.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pi_budgets.account import Account
    from pi_hookspecs import PiContext

__all__ = ["Member", "accounts", "forget_child", "know_child", "member_of"]


class Member(NamedTuple):
    """What a session is in its family.

    Attributes:
        root: The topmost session that it works for; itself if it is not a child session.
        project: The root session's working directory.
        agent: The name of the child session; None for others.
    """

    root: str
    project: str
    agent: str | None = None


@cache
def accounts() -> dict[str, Account]:
    """Return the accounts of the sessions of this process that have budgets."""
    return {}


@cache
def _children() -> dict[str, Member]:
    return {}


def know_child(child: str, label: str | None, parent: PiContext) -> None:
    """Remember that a session works for another one."""
    above = member_of(parent)
    _children()[child] = Member(above.root, above.project, label or above.agent)


def forget_child(child: str) -> None:
    """Forget a child session that has ended."""
    _children().pop(child, None)


def member_of(ctx: PiContext) -> Member:
    """Return what a session is in its family."""
    session = ctx.session.id
    return _children().get(session) or Member(session, str(ctx.cwd))
