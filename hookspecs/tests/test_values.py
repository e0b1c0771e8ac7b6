"""Values of the contract compare, hash and print as attrs would have generated it."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from typing import Any

import attrs
import pytest
from attrs import Factory, field, frozen

import pi_hookspecs
from pi_hookspecs import Completion, Tool, Usage, UserMessage
from pi_hookspecs.values import ReprMixin, Value
from pi_testing import for_each


@frozen(kw_only=True, eq=False, repr=False)
class Key(Value):
    name: str
    secret: str = field(default="", repr=False)
    seen: int = field(default=0, eq=False)
    parts: tuple[Any, ...] = ()
    extra: dict[str, Any] = Factory(dict)


@frozen(kw_only=True, eq=False, repr=False)
class LaterKey(Key):
    """Has the same fields."""


@frozen(eq=False, repr=False)
class Place(Value):
    file: str
    line: int


def test_values_with_equal_fields_are_equal():
    same = Key(name="a", parts=(Key(name="b"),)) == Key(name="a", parts=(Key(name="b"),))
    other = Key(name="a") == Key(name="b")

    assert (same, other) == (True, False)


def test_a_value_of_another_class_is_another_value():
    assert Key(name="a") != LaterKey(name="a")
    assert Key(name="a") != "a"


def test_a_field_that_does_not_count_is_not_compared():
    assert Key(name="a", seen=1) == Key(name="a", seen=2)


def test_equal_values_hash_alike_where_their_fields_can():
    assert len({Place("a", 1), Place("a", 1), Place("a", 2)}) == 2


def test_a_value_with_a_dict_cannot_be_hashed():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Key(name="a"))


def test_a_value_prints_its_fields_without_the_secret_ones():
    output = repr(Key(name="a", secret="hidden", parts=(1,)))

    assert output == "Key(name='a', seen=0, parts=(1,), extra={})"


def test_a_value_that_holds_itself_prints():
    held: dict[str, Any] = {}
    value = Key(name="a", extra=held)
    held["me"] = value

    assert repr(value) == "Key(name='a', seen=0, parts=(), extra={'me': ...})"


def test_what_has_an_identity_equals_itself_alone(read_tool):
    again = attrs.evolve(read_tool)

    assert read_tool != again
    assert len({read_tool, again}) == 2


@pytest.fixture
def read_tool():
    async def execute(*_: Any) -> Any:
        """Do nothing."""

    return Tool(name="read", description="Read.", parameters={"type": "object"}, execute=execute)


def test_messages_compare_by_content():
    first, second = (UserMessage(content="hi", timestamp=1) for _ in range(2))

    assert first == second
    assert Usage(input=1) != Usage(input=2)


def contract_classes():
    modules = pkgutil.walk_packages(pi_hookspecs.__path__, "pi_hookspecs.")
    names = sorted(each.name for each in modules)
    loaded = [importlib.import_module(name) for name in names]
    return sorted(
        {
            each
            for module in loaded
            for each in vars(module).values()
            if isinstance(each, type) and each.__module__ == module.__name__ and attrs.has(each)
        },
        key=lambda each: f"{each.__module__}.{each.__qualname__}",
    )


@for_each("each", contract_classes())
def test_no_class_of_the_contract_has_methods_compiled_that_values_share(each):
    own = [vars(each).get(name) for name in ("__repr__", "__eq__", "__hash__")]
    compiled = [made.__name__ for made in own if "<attrs generated" in getattr(made, "__code__", made).__repr__()]

    assert issubclass(each, ReprMixin) or each.__name__.startswith("_")
    assert not compiled


@pytest.mark.parametrize(
    "write",
    [
        lambda extra: extra.__setitem__("a", 1),
        lambda extra: extra.update(a=1),
        lambda extra: extra.setdefault("a", 1),
        lambda extra: extra.__ior__({"a": 1}),
    ],
    ids=range(4),
)
def test_what_has_nothing_extra_cannot_be_given_it_in_place(write):
    one, two = (UserMessage(content="hi", timestamp=1) for _ in range(2))
    with pytest.raises(TypeError, match=r"create a copy with attrs\.evolve"):
        write(one.extra)

    assert two.extra == one.extra == {}
    assert attrs.evolve(one, extra={"a": 1}).extra == {**one.extra, "a": 1}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])  # noqa: S301 - our own
def test_nothing_extra_stays_it_in_a_copy(copied):
    message = UserMessage(content="hi", timestamp=1)

    assert copied(message) == message
    assert copied(message).extra is message.extra


@for_each(
    ("replaces", "why"),
    [
        ("ab", "replaces is the start and the end"),
        ((1, 2, 3), "replaces is the start and the end"),
        (5, "replaces is the start and the end"),
        ((3, 2), "must not begin before 0 or end before it begins"),
        ((-1, 2), "must not begin before 0 or end before it begins"),
    ],
)
def test_what_a_completion_replaces_is_a_start_and_an_end(replaces, why):
    with pytest.raises((TypeError, ValueError), match=why):
        Completion("x", replaces=replaces)
