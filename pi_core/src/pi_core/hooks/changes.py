"""Reports which plugin changed what in a hook's event to implementations that observe; others have no cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.wire import to_wire
from pi_hookspecs._markers import OBSERVED
from pi_hookspecs.deferred import define, field
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from pi_core.hooks.records import HookCall, HookImplementation

__all__ = ["differences", "report_changes"]


@define(eq=False, repr=False)
class _Seen(ReprMixin):
    """The event of one hook call as the latest implementation received it, and the changes to it so far."""

    plugin: str
    data: dict[str, Any]
    changes: list[tuple[str, str]] = field(factory=list)


def report_changes(
    invoke: Callable[[HookCall, HookImplementation, Any], Coroutine[Any, Any, Any]],
) -> Callable[[HookCall, HookImplementation, Any], Coroutine[Any, Any, Any]]:
    """Return a function that calls implementations by ``invoke`` and reports changes to observing ones."""

    async def watch(call: HookCall, implementation: HookImplementation, event: Any) -> Any:
        if call.seen is None and implementation.observes:  # observers come last, so there is nothing to compare
            await invoke(call, implementation, event)
            return None
        data = {name: to_wire(getattr(event, name)) for name in OBSERVED[call.hook.name]}
        seen = call.seen
        if seen is None:
            seen = call.seen = _Seen(implementation.plugin, data)
        seen.changes += [(seen.plugin, path) for path in differences(seen.data, data)]
        seen.plugin, seen.data = implementation.plugin, data
        if not implementation.observes:
            return await invoke(call, implementation, event)
        await invoke(call, implementation, evolve(event, changes=tuple(seen.changes)))
        return None

    return watch


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which plain data differs, such as ``messages[2].content``.

    If elements of a list were added or removed, the path is one slice of the new list, such as ``messages[2:5]``.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            below = f"{path}.{name}" if path else str(name)
            if (name in old) != (name in new):
                yield below
            else:
                yield from differences(old.get(name), new.get(name), below)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(old, new, path)
    elif old != new or type(old) is not type(new):
        yield path


def _list_differences(old: Sequence[Any], new: Sequence[Any], path: str) -> Iterator[str]:
    if len(old) == len(new):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{path}[{place}]")
        return
    shorter = min(len(old), len(new))
    start = next((place for place in range(shorter) if old[place] != new[place]), shorter)
    same = next((count for count in range(shorter - start) if old[-1 - count] != new[-1 - count]), shorter - start)
    yield f"{path}[{start}:{len(new) - same}]"
