"""``frozen``, ``define`` and ``field`` of attrs, for classes whose methods are generated when they are needed.

attrs writes and compiles ``__init__`` and more while a class is defined: two thirds of a millisecond for each. The
contract and the engine define hundreds of classes; a run creates no instance of half of those that it imports, and one
or two of many others. Here a class has its slots at once, and a stand-in for each attribute that attrs adds. The one of
``__init__`` sets the fields of the first instances itself. Any other use, such as ``attrs.fields``, ``attrs.evolve`` or
a subclass, lets attrs make the class and takes everything from there; so does any call that attrs may refuse.

Type checkers see the functions of attrs. Every field is annotated, and comparison and ``repr`` are those of a base such
as ``Value``. A class with a cached property, or with a method that uses ``super()``, is made by attrs at once.
"""

from __future__ import annotations

from functools import cached_property, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from attrs import define, field, frozen

__all__ = ["define", "field", "frozen"]

_GENERATED = (
    "__attrs_init__",
    "__attrs_attrs__",
    "__attrs_props__",
    "__match_args__",
    "__replace__",
    "__getstate__",
    "__setstate__",
)
"""What attrs may add to a class, besides ``__init__``; what its version does not add is inherited."""

_FROZEN = ("__setattr__", "__delattr__")

_BY_HAND = 8
"""Instances that are created before attrs makes ``__init__``, which costs as much as 50 of them."""

_STEPS = ("__attrs_pre_init__", "__attrs_post_init__")


class _Field:
    """The arguments of ``field``, of which attrs makes a field of its own later."""

    __slots__ = ("options",)

    def __init__(self, **options: Any) -> None:
        self.options = options


class _Declared:
    """A class as it was declared.

    Attributes:
        original: The class before it got slots.
        names: Of the fields that it declares itself.
        instances: How many were created without attrs.
    """

    def __init__(self, original: type, decorate: str, options: dict[str, Any]) -> None:
        annotations = original.__annotations__
        self.original = original
        self.decorate = decorate
        self.options = options
        self.names = [name for name in annotations if "ClassVar" not in f"{annotations[name]}"[:15]]
        self.instances = 0

    def make(self) -> type:
        """Let attrs make the class; of what it returns, the attributes are used."""
        for name in self.names:
            declared = vars(self.original).get(name)
            if isinstance(declared, _Field):
                setattr(self.original, name, attrs.field(**declared.options))
        made: type = getattr(attrs, self.decorate)(**self.options)(self.original)
        return made

    @cached_property
    def fields(self) -> _Fields | None:
        """The fields of an instance; None if attrs is needed to set them."""
        bases = [base for base in self.original.__mro__[1:] if "__attrs_attrs__" in base.__dict__]
        inherited = _declared[bases[0]].fields if bases and bases[0] in _declared else None if bases else _Fields()
        if inherited is None or not all(issubclass(bases[0], base) for base in bases):
            return None
        if any(hasattr(self.original, step) for step in _STEPS):
            return None
        found = _Fields(is_positional=not bases and not self.options.get("kw_only"))
        for argument, name in inherited.names.items():
            if name not in self.names:
                found.add(argument, name, inherited.defaults.get(argument, attrs.NOTHING))
        attributes = self.original.__dict__
        for name in self.names:
            default = attributes.get(name, attrs.NOTHING)
            if type(default) is _Field:
                options = default.options
                if not options.keys() <= _SIMPLE:
                    return None
                has_factory = "factory" in options and options["factory"] is not None
                default = attrs.Factory(options["factory"]) if has_factory else options.get("default", attrs.NOTHING)
            if type(default) is _ATTRS_FIELD or (type(default) is _FACTORY and default.takes_self):
                return None
            found.add(name.lstrip("_") if name[0] == "_" else name, name, default)
        return found


class _Fields:
    """The fields of a class.

    Attributes:
        names: Argument of ``__init__`` to the name of its field, in order.
        defaults: Argument to its default; a ``Factory`` makes one.
        factories: The arguments whose default is made.
        is_positional: Whether arguments may be positional. Where a base has fields, attrs decides.
    """

    __slots__ = ("defaults", "factories", "is_positional", "names")

    def __init__(self, *, is_positional: bool = False) -> None:
        self.names: dict[str, str] = {}
        self.defaults: dict[str, Any] = {}
        self.factories: dict[str, Callable[[], Any]] = {}
        self.is_positional = is_positional

    def add(self, argument: str, name: str, default: Any) -> None:
        self.names[argument] = name
        if default is not attrs.NOTHING:
            self.defaults[argument] = default
        if type(default) is _FACTORY:
            self.factories[argument] = default.factory


_SIMPLE = {"default", "factory", "repr", "eq", "metadata"}
"""Arguments of ``field`` that mean nothing but a default to ``__init__``."""

_FACTORY: Any = attrs.Factory
_declared: dict[type, _Declared] = {}
_ATTRS_FIELD = type(attrs.field())


def _generate(cls: type) -> None:
    """Replace the stand-ins of a class; twice, if two threads do, is no harm."""
    made = vars(_declared[cls].make())
    for name in made.keys() - vars(cls).keys() | _FROZEN_STAND_INS.keys():
        if name in made:
            setattr(cls, name, made[name])
        elif vars(cls).get(name) is _FROZEN_STAND_INS[name]:
            delattr(cls, name)


def _held(stand_in: _StandIn, instance: Any, owner: type) -> tuple[type, ...]:
    """Return the classes in which an attribute is looked up, from the one on that has the stand-in.

    ``inspect.signature`` passes the class as an instance of ``type``; ``super()`` begins after a class.
    """
    order: tuple[type, ...] = instance.__mro__ if owner is type else owner.__mro__
    for index, cls in enumerate(order):
        attributes = cls.__dict__
        if stand_in.name in attributes and attributes[stand_in.name] is stand_in:
            return order[index:] if index else order
    return order  # another thread has replaced it


class _StandIn:
    """Stands in a class for an attribute that attrs adds; reading it has all of them added."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        order = _held(self, instance, owner)
        for cls in order:
            if vars(cls).get(self.name) is self:
                _generate(cls)
        for cls in order:
            if self.name in vars(cls):
                found = vars(cls)[self.name]
                return found.__get__(instance, owner) if hasattr(type(found), "__get__") else found
        message = f"{owner.__qualname__!r} has no attribute {self.name!r}"
        raise AttributeError(message)


class _InitStandIn(_StandIn):
    """Stands for ``__init__``, and sets the fields of the first instances."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: type) -> Any:
        declared = _declared.get(_held(self, instance, owner)[0])
        if instance is None or owner is type or declared is None or declared.fields is None:
            return super().__get__(instance, owner)
        if declared.instances >= _BY_HAND:
            return super().__get__(instance, owner)
        return partial(self._set_fields, declared, instance)

    def _set_fields(self, declared: _Declared, instance: Any, /, *arguments: Any, **named: Any) -> None:
        fields = declared.fields
        given = {**dict(zip(fields.names, arguments, strict=False)), **named} if arguments and fields else named
        values = {**fields.defaults, **given} if fields else {}
        if (
            fields is None
            or len(given) != len(arguments) + len(named)
            or values.keys() != fields.names.keys()
            or (arguments and not fields.is_positional)
        ):
            super().__get__(instance, type(instance))(*arguments, **named)  # it says what is wrong
            return
        declared.instances += 1
        for argument, make in fields.factories.items():
            if argument not in given:
                values[argument] = make()
        for argument, name in fields.names.items():
            object.__setattr__(instance, name, values[argument])


_STAND_INS: dict[str, Any] = {"__init__": _InitStandIn("__init__"), **{name: _StandIn(name) for name in _GENERATED}}
_FROZEN_STAND_INS = {**_STAND_INS, **{name: _StandIn(name) for name in _FROZEN}}


def _deferring(decorate: str) -> Any:
    def decorator(cls: type | None = None, **options: Any) -> Any:
        if cls is None:
            return partial(decorator, **options)
        if options.get("eq", True) or options.get("repr", True):
            message = f"{cls.__qualname__}: declare it with eq=False and repr=False, or with the decorator of attrs"
            raise TypeError(message)
        declared = _Declared(cls, decorate, options)
        if any(map(_needs_class, cls.__dict__.values())):
            return declared.make()
        slotted = _slotted(declared)
        _declared[slotted] = declared
        return slotted

    return decorator


def _needs_class(attribute: Any) -> bool:
    """Whether an attribute of a class refers to it, as ``super()`` does, or is replaced by attrs."""
    kind = type(attribute)
    if kind is property:
        attribute = attribute.fget
    elif kind is classmethod or kind is staticmethod:
        attribute = attribute.__func__
    return kind is cached_property or (type(attribute) is FunctionType and attribute.__closure__ is not None)


def _slotted(declared: _Declared) -> type:
    """Return the class with slots for its fields, and stand-ins for what attrs adds to it."""
    original = declared.original
    slots = dict.fromkeys((*declared.names, "__weakref__"))
    attributes = {name: each for name, each in vars(original).items() if name not in slots and name != "__dict__"}
    for base in original.__mro__[1:-1]:
        for name in (*getattr(base, "__slots__", ()), *(("__weakref__",) if "__weakref__" in vars(base) else ())):
            slots.pop(name, None)
    # A mutable class has no ``__setattr__`` of its own, unless attrs converts or checks what is set.
    is_plain = declared.decorate == "define" and declared.fields is not None
    stand_ins = _STAND_INS if is_plain else _FROZEN_STAND_INS
    attributes = {**stand_ins, **attributes, "__slots__": tuple(slots)}
    return type(original)(original.__name__, original.__bases__, attributes)


if not TYPE_CHECKING:
    define, frozen, field = _deferring("define"), _deferring("frozen"), _Field
