"""In which order the implementations of one hook run: first loaded first, unless a plugin requests otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.hooks.records import HookImplementation

__all__ = ["in_order"]


def in_order(
    implementations: Sequence[HookImplementation], rank: Callable[[str], int]
) -> tuple[list[HookImplementation], list[list[str]]]:
    """Sort by ``tryfirst``/``trylast``, then load order, then honour ``before=`` and ``after=``.

    Returns:
        The order, and for each cycle of requests the names of its plugins, the first one again at the end;
        within a cycle load order decides, all other requests are honoured.
    """
    waiting = sorted(implementations, key=lambda each: (each.band, rank(each.plugin)))
    if not any(each.order.before or each.order.after for each in waiting):
        return waiting, []
    ordered: list[HookImplementation] = []
    cycles: list[list[str]] = []
    while waiting:
        free = next((each for each in waiting if not _predecessors(each, waiting)), None)
        if free is None:
            free = _first_in_a_cycle(waiting)
            cycle = _cycle(free, waiting)
            if not any(set(cycle) <= set(known) for known in cycles):
                cycles.append(cycle)
        waiting.remove(free)
        ordered.append(free)
    return ordered, cycles


def _predecessors(
    implementation: HookImplementation, waiting: Sequence[HookImplementation]
) -> list[HookImplementation]:
    return [
        each
        for each in waiting
        if each.plugin != implementation.plugin
        and (each.plugin in implementation.order.after or implementation.plugin in each.order.before)
    ]


def _first_in_a_cycle(waiting: Sequence[HookImplementation]) -> HookImplementation:
    """Return the first that comes after none but those that, in the end, come after it."""
    ahead = {id(each): _all_ahead(each, waiting) for each in waiting}
    return next(each for each in waiting if all(id(each) in ahead[other] for other in ahead[id(each)]))


def _all_ahead(implementation: HookImplementation, waiting: Sequence[HookImplementation]) -> set[int]:
    """Return the ids of all that have to run before it, in any number of steps."""
    found: set[int] = set()
    look_at = [implementation]
    while look_at:
        for each in _predecessors(look_at.pop(), waiting):
            if id(each) not in found:
                found.add(id(each))
                look_at.append(each)
    return found


def _cycle(start: HookImplementation, waiting: Sequence[HookImplementation]) -> list[str]:
    """Follow the requests from one in a cycle until a plugin occurs again; names in the requested order."""
    names: list[str] = []
    each = start
    while each.plugin not in names:
        names.append(each.plugin)
        each = _predecessors(each, waiting)[0]
    return [*names[names.index(each.plugin) :], each.plugin][::-1]
