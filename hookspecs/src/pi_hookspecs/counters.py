"""Sums of the calls, times and failures of each plugin's hooks in a session."""

from __future__ import annotations

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

__all__ = ["HookCounters"]


@frozen(kw_only=True, eq=False, repr=False)
class HookCounters(Value):
    """All calls of one plugin's implementations of a hook in a session.

    Attributes:
        calls: Calls, including failed ones.
        total_ms: Milliseconds of all calls.
        longest_ms: Milliseconds of the longest call.
        failures: Calls that raised, took too long, blocked the event loop, or answered with a wrong type.
        timeouts: Those of them that took too long or blocked.
        message_tokens: Estimated tokens of the messages that they added, to the conversation or to a request.
    """

    hook: str
    plugin: str
    calls: int = 0
    total_ms: float = 0.0
    longest_ms: float = 0.0
    failures: int = 0
    timeouts: int = 0
    message_tokens: int = 0
