"""The rate of tool calls: how many a run and a session may make in a minute. Other limits are budgets."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from attrs import Factory, define

from pi_guardrails.settings import AMOUNTS, RATE, SCOPES, limits_of

if TYPE_CHECKING:
    from pi_hookspecs import PiContext, SettingsView

__all__ = ["Rate"]

_NOTICE_AT = 0.8
_MINUTE = 60.0


@define
class _Calls:
    """The calls of one scope in the last minute, and whether the user was notified of the limit."""

    times: deque[float] = Factory(deque)
    noticed: bool = False


class Rate:
    """Counts the tool calls of a session.

    Args:
        settings: Read for ``guardrails.limits.run`` and ``guardrails.limits.session``; an unset limit does not apply.

    Raises:
        UserError: A limit is set to an invalid value.
    """

    def __init__(self, settings: SettingsView) -> None:
        limits = limits_of(settings)
        self._limits = {scope: limits[scope, RATE] for scope in SCOPES if (scope, RATE) in limits}
        self._needs_budgets = any(measure in AMOUNTS for _, measure in limits)
        self._calls = {scope: _Calls() for scope in self._limits}

    @property
    def needs_budgets(self) -> bool:
        """Whether there are limits that the plugin ``budgets`` enforces."""
        return self._needs_budgets

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return bool(self._limits)

    def end_run(self) -> None:
        """Begin a new run."""
        if "run" in self._calls:
            self._calls["run"] = _Calls()

    def tool_call(self, ctx: PiContext) -> str | None:
        """Count a tool call; return why it is refused, None if it is allowed."""
        now = time.monotonic()
        for scope, limit in self._limits.items():
            times = self._calls[scope].times
            while times and now - times[0] >= _MINUTE:
                times.popleft()
            if (reason := self._check(scope, limit, ctx)) is not None:
                return f"{reason} Wait for a minute before the next call, or ask the user."
        for calls in self._calls.values():
            calls.times.append(now)
        return None

    def _check(self, scope: str, limit: float, ctx: PiContext) -> str | None:
        calls, setting = self._calls[scope], f"guardrails.limits.{scope}.{RATE}"
        number = len(calls.times)
        used = f"{number} of {limit:g} tool calls in the last minute"
        if number >= limit:
            return f"Guardrails: this {scope} has used {used}. Raise {setting} in the settings to continue."
        if number >= _NOTICE_AT * limit and not calls.noticed:
            calls.noticed = True
            ctx.ui.notify(f"Guardrails: this {scope} has used {used} ({setting}).", "warning")
        return None
