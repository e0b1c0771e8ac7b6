"""A class whose methods attrs generates at their first use is, from then on, the class that attrs makes."""

from __future__ import annotations

import copy
import inspect
import pickle
import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import attrs
import pytest

from pi_hookspecs import deferred
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
OPTIONS: dict[str, Any] = {"eq": False, "repr": False}


@deferred.frozen(kw_only=True, eq=False, repr=False)
class Point(Value):
    """A point."""

    kind: ClassVar[str] = "point"
    x: int
    y: int = 0
    tags: list[str] = attrs.field(factory=list)
    extra: dict[str, Any] = attrs.field(factory=dict, eq=False, repr=False)

    def moved(self, by: int) -> Point:
        return attrs.evolve(self, x=self.x + by)


@deferred.frozen(kw_only=True, eq=False, repr=False)
class NamedPoint(Point):
    """A point with a name, and with another default of ``y``."""

    name: str = ""
    y: int = 7


@deferred.define(eq=False, repr=False)
class Counter(ReprMixin):
    """A mutable class with a converter, a validator, a default of its own and a step after ``__init__``."""

    limit: int = attrs.field(converter=int)
    seen: int = attrs.field(default=0, validator=attrs.validators.le(3))
    both: int = attrs.field(init=False)
    after: str = attrs.field(init=False, default="")

    @both.default
    def _both(self) -> int:
        return self.limit + self.seen

    def __attrs_post_init__(self) -> None:
        self.after = f"{self.limit}/{self.seen}"


@deferred.define(eq=False, repr=False)
class OwnInit:
    """Has an ``__init__`` of its own, which calls the generated one."""

    value: int

    def __init__(self, text: str) -> None:
        self.__attrs_init__(int(text))  # type: ignore[attr-defined] # attrs makes it


@deferred.frozen(eq=False, repr=False)
class Box(Generic[T]):
    """A generic class."""

    content: T


def test_nothing_is_generated_before_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("attrs was called")

    monkeypatch.setattr(attrs, "frozen", refuse)

    @deferred.frozen(eq=False, repr=False)
    class Unused:
        name: str

    first, second = Unused("a"), Unused(name="b")

    assert (first.name, second.name) == ("a", "b")
    assert not hasattr(first, "__dict__")
    with pytest.raises(AssertionError, match="attrs was called"):
        [Unused("many") for _ in range(100)]


def refused(*arguments: Any, **named: Any) -> Callable[[Any], None]:
    def use(cls: Any) -> None:
        with pytest.raises(TypeError, match="__init__"):
            cls(*arguments, **named)

    return use


def changed(cls: Any) -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        cls(x=1).x = 2


FIRST_USES: dict[str, Callable[[Any], Any]] = {
    "many instances": lambda cls: [cls(x=1) for _ in range(20)],
    "an instance with too much": refused(1, 2, 3),
    "an instance without a field": refused(),
    "an instance with another field": refused(x=1, w=2),
    "a change": changed,
    "a changed copy": lambda cls: attrs.evolve(cls(x=1), y=2),
    "its fields": attrs.fields,
    "whether attrs made it": attrs.has,
    "its signature": inspect.signature,
    "a pattern": lambda cls: cls.__match_args__,
    "a subclass of attrs": lambda cls: attrs.frozen(type("Sub", (cls,), {"__annotations__": {"w": int}, "w": 1})),
    "unpickling": lambda cls: cls.__new__(cls).__setstate__,
}


@pytest.mark.parametrize("use", FIRST_USES.values(), ids=FIRST_USES)
@pytest.mark.parametrize("options", [{}, {"kw_only": True}], ids=["positional", "keywords"])
def test_each_first_use_makes_what_attrs_makes(use: Callable[[Any], Any], options: dict[str, Any]) -> None:
    def body() -> type:
        class Body:
            x: int
            y: int = 3
            z: ClassVar[int] = 4

        return Body

    ours: Any = deferred.frozen(**options, **OPTIONS)(body())
    theirs: Any = attrs.frozen(**options, **OPTIONS)(body())
    use(ours)

    assert vars(ours).keys() == vars(theirs).keys()
    assert ours.__slots__ == theirs.__slots__
    assert attrs.fields(ours) == attrs.fields(theirs)
    assert ours.__match_args__ == theirs.__match_args__
    assert inspect.signature(ours) == inspect.signature(theirs)


def test_values_keep_their_comparison_and_repr() -> None:
    point = Point(x=1, extra={"a": 1})

    assert point == Point(x=1)
    assert repr(point) == "Point(x=1, y=0, tags=[])"
    assert point.moved(2).x == 3
    assert point.kind == "point"


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301 - its own
def test_values_are_copied_and_pickled(make: Callable[[Any], Any]) -> None:
    point = NamedPoint(x=1, name="a", tags=["b"])

    copied = make(point)

    assert type(copied) is NamedPoint
    assert copied == point


def test_frozen_values_cannot_be_changed() -> None:
    point = NamedPoint(x=1)

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        point.x = 2  # type: ignore[misc] # what is tested
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        del point.x


def test_a_subclass_has_the_fields_of_its_base_once() -> None:
    point = NamedPoint(x=1)

    assert point.y == 7
    assert NamedPoint.__slots__ == ("name",)
    assert not hasattr(point, "__dict__")
    assert [each.name for each in attrs.fields(NamedPoint)] == ["x", "tags", "extra", "name", "y"]


def test_what_attrs_runs_for_a_field_runs() -> None:
    counter = Counter("3", 1)

    assert (counter.limit, counter.both, counter.after) == (3, 4, "3/1")
    with pytest.raises(ValueError, match="seen"):
        counter.seen = 4
    counter.limit = "5"  # type: ignore[assignment] # converted
    assert counter.limit == 5


def test_an_own_init_calls_the_generated_one() -> None:
    assert OwnInit("4").value == 4


@pytest.mark.parametrize("instances", [1, 20])
def test_a_plain_subclass_calls_the_init_of_its_base(instances: int) -> None:
    class Tagged(NamedPoint):
        def __init__(self, tag: str) -> None:
            super().__init__(x=1, name=tag)

    assert [Tagged(str(number)).name for number in range(instances)] == [str(number) for number in range(instances)]


def test_a_pattern_names_positional_fields() -> None:
    match Box("a"):
        case Box(content):
            assert content == "a"


def test_a_generic_class_takes_its_parameter() -> None:
    assert Box[int](3).content == 3


def test_instances_can_be_referred_to_weakly() -> None:
    box = Box(1)

    assert weakref.ref(box)() is box


def test_cached_properties_and_super_work() -> None:
    @deferred.frozen(eq=False, repr=False)
    class Cached:
        word: str

        def twice(self) -> str:
            return self.word * 2

        @cached_property
        def letters(self) -> list[str]:
            return list(self.word)

    @deferred.frozen(eq=False, repr=False)
    class Louder(Cached):
        def twice(self) -> str:
            return super().twice().upper()

    assert Cached("ab").letters == ["a", "b"]
    assert Louder("ab").twice() == "ABAB"


@pytest.mark.parametrize("options", [{"eq": False}, {"repr": False}, {}])
def test_generated_comparison_is_refused_where_it_is_declared(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="eq=False and repr=False"):

        @deferred.frozen(**options)
        class Compared:
            name: str
