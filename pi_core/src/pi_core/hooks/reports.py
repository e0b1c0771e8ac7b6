"""Reports of the dispatcher on failures of hook implementations."""

from __future__ import annotations

from typing import Literal

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.traces import HookTrace
from pi_hookspecs.values import Value

__all__ = ["HookFailure", "HookTrace"]


@frozen(kw_only=True, eq=False, repr=False)
class HookFailure(Value):
    """A failure of an implementation, or a notice about one.

    Attributes:
        kind: ``raised``, ``deadline``, ``blocked`` (it was interrupted because it blocked the event loop),
            ``answer`` (of a wrong type), or a notice: ``blocking`` (its code blocked the event loop, or was
            interrupted, outside of implementations too), ``ignored`` (it continues after its cancellation), ``order``
            (a cycle of ``before=`` and ``after=``), ``stall`` (the event loop was blocked by no plugin),
            ``deprecated`` (the plugin uses something that will be removed).
        milliseconds: The duration of the call.
        quarantined: Whether it is no longer called.
        refuses: Whether it refuses from now on, because failures of the hook refuse.
    """

    hook: str
    plugin: str
    kind: Literal["raised", "deadline", "blocked", "answer", "blocking", "ignored", "order", "stall", "deprecated"]
    message: str
    milliseconds: float = 0.0
    quarantined: bool = False
    refuses: bool = False
    stack: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        if self.kind in ("stall", "blocking"):
            return self.message
        if self.kind in ("ignored", "order", "deprecated"):
            return f"Plugin {self.plugin!r}, {self.hook}: {self.message}"
        text = f"Plugin {self.plugin!r} failed in {self.hook} after {self.milliseconds:.0f} ms: {self.message}"
        if self.quarantined:
            kept = "refuses everything from now on without being called" if self.refuses else "is no longer called"
            text += f". It {kept} in this session; disable it with --disable {self.plugin}"
        return text
