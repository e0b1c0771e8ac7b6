"""Reports which plugin changed what in a hook's event to implementations that observe; others have no cost.

A request has the whole conversation, so the event is not converted before and after each implementation: of a frozen
message only its data is noted, of plain data its bytes, and only what differs is converted and compared field by field.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.wire import to_wire
from pi_hookspecs._markers import OBSERVED
from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.deferred import define, field
from pi_hookspecs.messages import AssistantMessage, ToolResultMessage, UserMessage
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
        data = {name: _noted(getattr(event, name)) for name in OBSERVED[call.hook.name]}
        seen = call.seen
        if seen is None:
            seen = call.seen = _Seen(implementation.plugin, data)
        seen.changes += [(seen.plugin, path) for path in _changes(seen.data, data)]
        seen.plugin, seen.data = implementation.plugin, data
        if not implementation.observes:
            return await invoke(call, implementation, event)
        await invoke(call, implementation, evolve(event, changes=tuple(seen.changes)))
        return None

    return watch


class _Element:
    """An element of a list as it was; equal to another one of which the plain JSON data are equal.

    Args:
        message: A frozen message; None for plain data.
        data: The element, or the data in the message, as bytes; None if it has none.
        plain: What is compared if there are no bytes.
    """

    __slots__ = ("_data", "_message", "_plain")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, message: Any, data: bytes | None, plain: Any = None) -> None:
        self._message = message
        self._data = data
        self._plain = plain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Element):
            return NotImplemented
        if self._data is not None and self._data == other._data and self._message is other._message:
            return True
        return not [*differences(self.as_data(), other.as_data())]

    def as_data(self) -> Any:
        """Return the element as plain JSON data."""
        if self._data is None:
            return self._plain
        data = marshal.loads(self._data)  # noqa: S302 - of this process
        return to_wire(data if self._message is None else _with_data(self._message, data))


_LEVELS = 3
"""Levels of dicts whose lists are noted by element: the messages of a payload are in its first or second."""

_DATA: dict[type, tuple[str, ...]] = {
    UserMessage: ("extra",),
    AssistantMessage: ("extra",),
    ToolResultMessage: ("extra", "details"),
    TextContent: ("extra",),
    ThinkingContent: ("extra",),
    ImageContent: (),
    ToolCall: ("extra", "arguments"),
}
"""The fields of messages and of their blocks that can be changed in place."""


def _noted(value: Any, level: int = 0) -> Any:
    """Return what is needed to find later how a value has changed."""
    if type(value) is dict and level < _LEVELS:
        return {str(name): _noted(each, level + 1) for name, each in value.items()}
    return [*map(_element, value)] if type(value) in (list, tuple) else to_wire(value)


def _element(value: Any) -> _Element:
    is_message = type(value) in _DATA
    try:
        return _Element(value if is_message else None, marshal.dumps(_data_of(value) if is_message else value, 2))
    except (ValueError, KeyError):  # nested too deeply, or objects of other classes
        return _Element(None, None, to_wire(value))


def _data_of(message: Any) -> list[list[Any]]:
    """Return the data of a message, and of each of its blocks.

    Raises:
        KeyError: A block is of another class.
    """
    content = getattr(message, "content", ())
    parts = (message,) if isinstance(content, str) else (message, *content)
    return [[_value(each, name) for name in _DATA[type(each)]] for each in parts]


def _value(part: Any, name: str) -> Any:
    value = getattr(part, name)
    return dict(value) if name == "extra" else value  # which is of a class of its own where it is empty


def _with_data(message: Any, data: list[list[Any]]) -> Any:
    """Return a message as it was with its data."""
    own, *blocks = (dict(zip(_DATA[type(each)], values, strict=True)) for each, values in _paired(message, data))
    if blocks:
        own["content"] = tuple(evolve(each, **changes) for each, changes in zip(message.content, blocks, strict=True))
    return evolve(message, **own)


def _paired(message: Any, data: list[list[Any]]) -> Iterator[tuple[Any, list[Any]]]:
    blocks = getattr(message, "content", ()) if len(data) > 1 else ()
    return zip((message, *blocks), data, strict=True)


def _changes(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which what was noted differs, as ``differences`` does."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            below = f"{path}.{name}" if path else name
            if (name in old) != (name in new):
                yield below
            else:
                yield from _changes(old[name], new[name], below)
    elif _are_elements(old) and _are_elements(new):
        if len(old) != len(new):
            yield from _list_differences(old, new, path)
            return
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                yield from differences(before.as_data(), after.as_data(), f"{path}[{place}]")
    else:
        yield from differences(_as_data(old), _as_data(new), path)


def _are_elements(noted: Any) -> bool:
    return type(noted) is list and all(type(each) is _Element for each in noted[:1])


def _as_data(noted: Any) -> Any:
    if isinstance(noted, dict):
        return {name: _as_data(each) for name, each in noted.items()}
    return [each.as_data() for each in noted] if noted and _are_elements(noted) else noted


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
