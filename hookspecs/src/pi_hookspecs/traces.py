"""Traces of the calls of plugins' hooks, for observers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

__all__ = ["HookOutcome", "HookTrace"]

HookOutcome: TypeAlias = Literal["ok", "vetoed", "raised", "answer", "deadline", "blocked", "cancelled"]
"""How a call ended.

``vetoed``: its answer blocks or cancels; ``answer``: its answer was of a wrong type; ``deadline``: it took too long;
``blocked``: it was interrupted, because it blocked the event loop; ``cancelled``: the operation that it is part of
was cancelled.
"""


@frozen(kw_only=True, eq=False, repr=False)
class HookTrace(Value):
    """One call of a plugin's hook, after its end.

    Attributes:
        hook: The hook's name.
        plugin: The plugin whose implementation was called.
        milliseconds: Its duration, without the time that a dialog was open.
        changed: Whether it returned an answer.
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
