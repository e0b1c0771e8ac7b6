"""``frozen`` and ``define`` of attrs, whose methods are generated when they are first used.

attrs writes and compiles ``__init__`` and more while a class is defined: two thirds of a millisecond for each. The
contract and the engine define hundreds of classes, and a run creates instances of a third of those that it imports.
Here a class has its slots at once, and a stand-in for each attribute that attrs adds. The first use of one of these, be
it an instance, ``attrs.fields`` or a subclass, lets attrs make the class and takes all of them from there.

Type checkers see the functions of attrs. Every field is annotated, and comparison and ``repr`` are those of a base such
as ``Value``. A class with a cached property, or with a method that uses ``super()``, is made by attrs at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from attrs import define, frozen

__all__ = ["define", "frozen"]

_GENERATED = (
    "__init__",
    "__attrs_init__",
    "__attrs_attrs__",
    "__attrs_props__",
    "__match_args__",
    "__replace__",
    "__getstate__",
    "__setstate__",
    "__setattr__",
    "__delattr__",
)
"""What attrs may add to a class; what its version does not add is inherited."""

_CLASS_VARIABLES = ("ClassVar", "typing.ClassVar")


class _StandIn:
    """Stands in a class for an attribute that attrs adds; reading it has all of them added."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        for cls in owner.__mro__:
            if vars(cls).get(self._name) is self:
                _generate(cls)
        return getattr(owner if instance is None else instance, self._name)


_STAND_INS = {name: _StandIn(name) for name in _GENERATED}
_waiting: dict[type, Callable[[], type]] = {}
"""Class to the function that lets attrs make it."""


def _generate(cls: type) -> None:
    """Replace the stand-ins of a class; twice, if two threads do, is no harm."""
    made = vars(_waiting[cls]())
    for name in made.keys() - vars(cls).keys() | _STAND_INS.keys():
        if name in made:
            setattr(cls, name, made[name])
        elif vars(cls).get(name) is _STAND_INS[name]:
            delattr(cls, name)


def _deferring(decorate: str) -> Any:
    def decorator(cls: type | None = None, **options: Any) -> Any:
        if cls is None:
            return lambda cls: decorator(cls, **options)
        if options.get("eq", True) or options.get("repr", True):
            message = f"{cls.__qualname__}: declare it with eq=False and repr=False, or with the decorator of attrs"
            raise TypeError(message)

        def make() -> type:
            made: type = getattr(attrs, decorate)(**options)(cls)
            return made

        if any(isinstance(each, cached_property) or getattr(each, "__closure__", None) for each in vars(cls).values()):
            return make()
        slotted = _slotted(cls)
        _waiting[slotted] = make
        return slotted

    return decorator


def _slotted(original: type) -> type:
    """Return the class with slots for its fields, and stand-ins for what attrs adds to it."""
    fields = [name for name, type_ in original.__annotations__.items() if not str(type_).startswith(_CLASS_VARIABLES)]
    slots = dict.fromkeys((*fields, "__weakref__"))
    attributes = {name: each for name, each in vars(original).items() if name not in slots and name != "__dict__"}
    for base in original.__mro__[1:-1]:
        for name in (*getattr(base, "__slots__", ()), *(("__weakref__",) if "__weakref__" in vars(base) else ())):
            slots.pop(name, None)
    attributes = {**_STAND_INS, **attributes, "__slots__": tuple(slots)}
    return type(original)(original.__name__, original.__bases__, attributes)


if not TYPE_CHECKING:
    define, frozen = _deferring("define"), _deferring("frozen")
