"""How values compare, hash and print: by their fields, in one place instead of generated for each class.

attrs compiles ``__eq__``, ``__hash__`` and ``__repr__`` of every class when its module is imported. The contract has
hundreds of classes and a run compares or prints few of them, so that half of what it costs to define them, a quarter
of the time that pi takes to start, would be spent on nothing. Values are declared with ``eq=False, repr=False`` and
inherit these instead; ``field(eq=False)`` and ``field(repr=False)`` mean what they always do.
"""

from __future__ import annotations

from operator import attrgetter
from reprlib import recursive_repr
from typing import Any

__all__ = ["Shown", "Value", "nothing_more"]


class Shown:
    """A frozen attrs class that prints its fields and is equal to itself alone, as events and tools are."""

    __slots__ = ()

    @recursive_repr()
    def __repr__(self) -> str:
        shown = [f"{each.name}={_shown(each, self)}" for each in _fields(self) if each.repr]
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(shown)})"


class Value(Shown):
    """A frozen attrs class that is equal to another of its class with equal fields."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return bool(_compared(self) == _compared(other))

    def __hash__(self) -> int:
        return hash((type(self), _compared(self)))


class _Nothing(dict[str, Any]):
    """An empty dict that stays empty."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("values are frozen: to add to extra, make another value with attrs.evolve(value, extra={...})")

    __setitem__ = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> Any:
        return nothing_more, ()


_NOTHING = _Nothing()


def nothing_more() -> dict[str, Any]:
    """Return the ``extra`` of what has none.

    All messages of a session share one: plugins are given them as they are, and what one plugin put into a dict of its
    own would be in the conversation.
    """
    return _NOTHING


def _fields(value: Shown) -> tuple[Any, ...]:
    fields: tuple[Any, ...] = type(value).__attrs_attrs__  # type: ignore[attr-defined] # attrs sets it
    return fields


def _shown(field: Any, value: Shown) -> str:
    text: str = (repr if field.repr is True else field.repr)(getattr(value, field.name))
    return text


def _compared(value: Shown) -> Any:
    """Return the fields that count, as something that compares and hashes at once."""
    names = [field.name for field in _fields(value) if field.eq]
    return attrgetter(*names)(value) if names else ()
