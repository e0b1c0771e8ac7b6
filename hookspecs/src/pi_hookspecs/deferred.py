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
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

if TYPE_CHECKING:
    from attrs import define, field, frozen

    _Fields: TypeAlias = dict[str, tuple[str, Any]]

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
        """Argument of ``__init__`` to the field's name and default; None if attrs is needed to set the fields."""
        bases = [base for base in self.original.__mro__[1:] if "__attrs_attrs__" in vars(base)]
        inherited = _declared[bases[0]].fields if bases and bases[0] in _declared else None if bases else {}
        if inherited is None or not all(issubclass(bases[0], base) for base in bases):
            return None
        if any(hasattr(self.original, step) for step in _STEPS):
            return None
        fields = {argument: field for argument, field in inherited.items() if field[0] not in self.names}
        for name in self.names:
            default = vars(self.original).get(name, attrs.NOTHING)
            if isinstance(default, _Field):
                options = default.options
                if options.keys() - {"default", "factory", "repr", "eq", "metadata"}:
                    return None
                has_factory = options.get("factory") is not None
                default = attrs.Factory(options["factory"]) if has_factory else options.get("default", attrs.NOTHING)
            if isinstance(default, _ATTRS_FIELD) or getattr(default, "takes_self", False):
                return None
            fields[name.lstrip("_")] = name, default
        return fields

    @cached_property
    def required(self) -> set[str]:
        """The arguments without a default."""
        return {argument for argument, (_name, default) in (self.fields or {}).items() if default is attrs.NOTHING}

    @cached_property
    def is_positional(self) -> bool:
        """Whether arguments may be positional; attrs knows where a base has fields, too."""
        return not self.options.get("kw_only") and [*(self.fields or ())] == [name.lstrip("_") for name in self.names]


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


class _StandIn:
    """Stands in a class for an attribute that attrs adds; reading it has all of them added."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        for cls in owner.__mro__:
            if vars(cls).get(self.name) is self:
                _generate(cls)
        return getattr(owner if instance is None else instance, self.name)


class _InitStandIn(_StandIn):
    """Stands for ``__init__``, and sets the fields of the first instances."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: type) -> Any:
        for cls in owner.__mro__:
            if "__init__" in cls.__dict__:
                break
        declared = _declared[cls]
        if instance is None or declared.fields is None or declared.instances >= _BY_HAND:
            return super().__get__(instance, owner)
        return partial(self._set_fields, declared, instance)

    def _set_fields(self, declared: _Declared, instance: Any, /, *arguments: Any, **named: Any) -> None:
        fields = declared.fields or {}
        given = {**dict(zip(fields, arguments, strict=False)), **named} if arguments else named
        if (
            len(given) != len(arguments) + len(named)
            or not given.keys() <= fields.keys()
            or not given.keys() >= declared.required
            or (arguments and not declared.is_positional)
        ):
            super().__get__(instance, type(instance))(*arguments, **named)  # it says what is wrong
            return
        declared.instances += 1
        for argument, (name, default) in fields.items():
            value = given.get(argument, default)
            if value is default and type(default) is _FACTORY and argument not in given:
                value = default.factory()
            object.__setattr__(instance, name, value)


_FACTORY: Any = attrs.Factory
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
        if any(isinstance(each, cached_property) or getattr(each, "__closure__", None) for each in vars(cls).values()):
            return declared.make()
        slotted = _slotted(declared)
        _declared[slotted] = declared
        return slotted

    return decorator


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
