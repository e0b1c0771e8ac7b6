"""Comparison, hash and repr of values by their fields, in one place instead of generated for each class.

attrs compiles ``__eq__``, ``__hash__`` and ``__repr__`` of every class when its module is imported. The contract has
hundreds of classes and a run compares or prints few of them, so that half of what it costs to define them, a quarter
of pi's start-up time, would be wasted. Values are declared with ``eq=False, repr=False`` and
inherit these instead; ``field(eq=False)`` and ``field(repr=False)`` have their usual meaning.
"""

from __future__ import annotations

from operator import attrgetter
from reprlib import recursive_repr
from typing import Any

__all__ = ["ReprMixin", "Shown", "Value", "nothing_more"]


class ReprMixin:
    """Base of attrs classes with a ``repr`` of their fields and equality by identity, such as events and tools."""

    __slots__ = ()

    @recursive_repr()
    def __repr__(self) -> str:
        fields = [f"{each.name}={_field_repr(each, self)}" for each in _fields(self) if each.repr]
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(fields)})"


Shown = ReprMixin
"""The name of ``ReprMixin`` in 1.0."""


class Value(ReprMixin):
    """Base of frozen attrs classes with equality by class and fields."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return bool(_compare_key(self) == _compare_key(other))

    def __hash__(self) -> int:
        return hash((type(self), _compare_key(self)))


class _FrozenDict(dict[str, Any]):
    """An immutable empty dict."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("values are frozen: to add to extra, create a copy with attrs.evolve(value, extra={...})")

    __setitem__ = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> Any:
        return nothing_more, ()


_NOTHING = _FrozenDict()


def nothing_more() -> dict[str, Any]:
    """Return the shared, immutable ``extra`` of values that have none.

    Plugins get the messages of a session themselves, not copies; what a plugin adds to a plain dict would end up in the
    conversation.
    """
    return _NOTHING


def _fields(value: ReprMixin) -> tuple[Any, ...]:
    fields: tuple[Any, ...] = type(value).__attrs_attrs__  # type: ignore[attr-defined] # attrs sets it
    return fields


def _field_repr(field: Any, value: ReprMixin) -> str:
    text: str = (repr if field.repr is True else field.repr)(getattr(value, field.name))
    return text


def _compare_key(value: ReprMixin) -> Any:
    """Return the compared fields as one comparable and hashable object."""
    names = [field.name for field in _fields(value) if field.eq]
    return attrgetter(*names)(value) if names else ()
