"""Limits of a run and of a session: requests, tokens, dollars, tool calls a minute."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import Factory, define, field

from pi_guardrails._settings import AMOUNTS, RATE, limits_of
from pi_hookspecs import AssistantMessage, ToolResultMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiContext, SessionEntry, SettingsView

__all__ = ["Limits"]

Scope: TypeAlias = Literal["run", "session"]

_SCOPES: tuple[Scope, ...] = ("run", "session")
_NOTICE_AT = 0.8
_MINUTE = 60.0


@define
class _Spent:
    """Usage of one scope, and the limits that the user was notified of."""

    amounts: dict[str, float] = Factory(lambda: dict.fromkeys(AMOUNTS, 0.0))
    calls: deque[float] = field(factory=deque)
    noticed: set[str] = field(factory=set)

    def add(self, entry: SessionEntry) -> None:
        message = getattr(entry, "message", None)
        answer = isinstance(message, AssistantMessage)
        usage = message.usage if isinstance(message, AssistantMessage | ToolResultMessage) else None
        if message is None:
            usage = getattr(entry, "usage", None)
        if answer or entry.type == "usage":
            self.amounts["requests"] += 1
        if usage is not None:
            self.amounts["tokens"] += usage.input + usage.output + usage.cache_read + usage.cache_write
            self.amounts["dollars"] += usage.cost.total


class Limits:
    """Counts what a session spends by what is stored in it: what was spent before it was resumed counts too.

    Args:
        settings: With ``guardrails.limits.run`` and ``guardrails.limits.session``; a limit that is not set is none.

    Raises:
        UserError: A limit is set and cannot hold.
    """

    def __init__(self, settings: SettingsView) -> None:
        self._limits = limits_of(settings)
        self._spent: dict[Scope, _Spent] = {scope: _Spent() for scope in _SCOPES}
        self._counted = 0

    @property
    def any(self) -> bool:
        """Whether anything is limited."""
        return bool(self._limits)

    def begin(self, entries: Sequence[SessionEntry]) -> None:
        """Count what the session holds already; it was no part of the run to come."""
        self._spent = {scope: _Spent() for scope in _SCOPES}
        self._counted = 0
        self.count(entries)
        self.end_run(entries)

    def end_run(self, entries: Sequence[SessionEntry]) -> None:
        """Begin a new run."""
        self.count(entries)
        self._spent["run"] = _Spent()

    def count(self, entries: Sequence[SessionEntry]) -> None:
        """Count what was added to the session."""
        for number in range(self._counted, len(entries)):
            for spent in self._spent.values():
                spent.add(entries[number])
        self._counted = len(entries)

    def request(self, ctx: PiContext) -> str | None:
        """Return why no further request may be made; None when it may. Gives the notice when a limit comes near."""
        self.count(ctx.session.entries())
        for scope, spent in self._spent.items():
            for measure in AMOUNTS:
                limit = self._limits.get((scope, measure))
                if limit is not None and (reason := self._check(scope, measure, spent.amounts[measure], limit, ctx)):
                    return reason
        return None

    def tool_call(self, ctx: PiContext) -> str | None:
        """Return why no tool may be called now; None when it may, and the call counts."""
        now = time.monotonic()
        for scope in _SCOPES:
            limit, calls = self._limits.get((scope, RATE)), self._spent[scope].calls
            while calls and now - calls[0] >= _MINUTE:
                calls.popleft()
            if limit is not None and (reason := self._check(scope, RATE, len(calls), limit, ctx)) is not None:
                return f"{reason} Wait for a minute before the next call, or ask the user."
        for spent in self._spent.values():
            spent.calls.append(now)
        return None

    def _check(self, scope: Scope, measure: str, amount: float, limit: float, ctx: PiContext) -> str | None:
        setting = f"guardrails.limits.{scope}.{measure}"
        unit = "tool calls in the last minute" if measure == RATE else measure
        used = f"{amount:g} of {limit:g} {unit}" if measure != "dollars" else f"${amount:.2f} of ${limit:.2f}"
        if amount >= limit:
            return f"Guardrails: this {scope} has used {used}. Raise {setting} in the settings to go on."
        noticed = self._spent[scope].noticed
        if amount >= _NOTICE_AT * limit and measure not in noticed:
            noticed.add(measure)
            ctx.ui.notify(f"Guardrails: this {scope} has used {used} ({setting}).", "warning")
        return None
