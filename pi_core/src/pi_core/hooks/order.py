"""The order of a hook's implementations: load order, unless a plugin requests otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.hooks.records import HookImplementation

__all__ = ["sort_implementations"]


def sort_implementations(
    implementations: Sequence[HookImplementation], rank: Callable[[str], int]
) -> tuple[list[HookImplementation], list[list[str]]]:
    """Sort by ``tryfirst``/``trylast``, then load order, then apply ``before=`` and ``after=``.

    Returns:
        The order, and for each cycle of ``before=`` and ``after=`` the names of its plugins, with the first name
        repeated at the end. Within a cycle load order decides; all other requests are applied.
    """
    remaining = sorted(implementations, key=lambda each: (each.band, rank(each.plugin)))
    if not any(each.order.before or each.order.after for each in remaining):
        return remaining, []
    ordered: list[HookImplementation] = []
    cycles: list[list[str]] = []
    while remaining:
        free = next((each for each in remaining if not _predecessors(each, remaining)), None)
        if free is None:
            free = _first_in_a_cycle(remaining)
            cycle = _cycle(free, remaining)
            if not any(set(cycle) <= set(known) for known in cycles):
                cycles.append(cycle)
        remaining.remove(free)
        ordered.append(free)
    return ordered, cycles


def _predecessors(
    implementation: HookImplementation, remaining: Sequence[HookImplementation]
) -> list[HookImplementation]:
    return [
        each
        for each in remaining
        if each.plugin != implementation.plugin
        and (each.plugin in implementation.order.after or implementation.plugin in each.order.before)
    ]


def _first_in_a_cycle(remaining: Sequence[HookImplementation]) -> HookImplementation:
    """Return the first implementation in a cycle: each of its direct and indirect predecessors also comes after it."""
    ahead = {id(each): _all_ahead(each, remaining) for each in remaining}
    return next(each for each in remaining if all(id(each) in ahead[other] for other in ahead[id(each)]))


def _all_ahead(implementation: HookImplementation, remaining: Sequence[HookImplementation]) -> set[int]:
    """Return the ids of an implementation's direct and indirect predecessors."""
    found: set[int] = set()
    pending = [implementation]
    while pending:
        for each in _predecessors(pending.pop(), remaining):
            if id(each) not in found:
                found.add(id(each))
                pending.append(each)
    return found


def _cycle(start: HookImplementation, remaining: Sequence[HookImplementation]) -> list[str]:
    """Return the plugins of an implementation's cycle in the requested order, with the first one also at the end."""
    names: list[str] = []
    each = start
    while each.plugin not in names:
        names.append(each.plugin)
        each = _predecessors(each, remaining)[0]
    return [*names[names.index(each.plugin) :], each.plugin][::-1]
