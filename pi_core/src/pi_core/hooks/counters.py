"""Counters of hook calls by hook and plugin. They are always on, so counting takes a few additions and no call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import HookCounters

__all__ = ["Counter", "summed"]


class Counter:
    """The calls of one plugin's implementations of a hook."""

    __slots__ = ("calls", "failures", "longest", "message_tokens", "seconds", "timeouts")

    def __init__(self) -> None:
        self.calls = self.failures = self.timeouts = self.message_tokens = 0
        self.seconds = self.longest = 0.0


def summed(counters: Mapping[tuple[str, str], Counter]) -> tuple[HookCounters, ...]:
    """Return the counters of called implementations by hook and plugin, the largest total time first."""
    from pi_hookspecs import HookCounters

    found = (
        HookCounters(
            hook=hook,
            plugin=plugin,
            calls=each.calls,
            total_ms=each.seconds * 1000,
            longest_ms=each.longest * 1000,
            failures=each.failures,
            timeouts=each.timeouts,
            message_tokens=each.message_tokens,
        )
        for (hook, plugin), each in counters.items()
        if each.calls
    )
    return tuple(sorted(found, key=lambda each: (-each.total_ms, each.plugin, each.hook)))
