"""What observers of hooks get: each call of a plugin's hook, and the sums."""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from pi_hookspecs.values import Value

__all__ = ["HookCounters", "HookOutcome", "HookTrace"]

HookOutcome: TypeAlias = Literal["ok", "vetoed", "raised", "answer", "deadline", "blocked", "cancelled"]
"""How a call ended.

``vetoed``: its answer blocks or cancels; ``answer``: its answer was of a wrong type; ``deadline``: it took too long;
``blocked``: it was interrupted, because it blocked the event loop; ``cancelled``: what it belongs to was cancelled.
"""


@frozen(kw_only=True, eq=False, repr=False)
class HookTrace(Value):
    """One call of a plugin's hook, after its end.

    Attributes:
        hook: The hook's name.
        plugin: The plugin whose implementation was called.
        milliseconds: How long it took, without the time that a dialog was open.
        changed: Whether it answered something.
        started: When it was called, in seconds since 1970.
        outcome: How it ended.
        key: What the event is about: the id of its tool call, or of its request to a model; None for other events.
    """

    hook: str
    plugin: str
    milliseconds: float
    changed: bool
    started: float = 0.0
    outcome: HookOutcome = "ok"
    key: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class HookCounters(Value):
    """All calls of one plugin's implementations of a hook in a session.

    Attributes:
        calls: Calls, failed ones included.
        total_ms: Milliseconds of all calls.
        longest_ms: Milliseconds of the longest call.
        failures: Calls that raised, took too long, blocked the event loop, or answered with a wrong type.
        timeouts: Those of them that took too long or blocked.
    """

    hook: str
    plugin: str
    calls: int = 0
    total_ms: float = 0.0
    longest_ms: float = 0.0
    failures: int = 0
    timeouts: int = 0
