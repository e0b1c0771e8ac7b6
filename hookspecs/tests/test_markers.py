"""`hookimpl` is pluggy's marker with order by plugin name."""

from __future__ import annotations

import pytest

from pi_hookspecs import Order, UnknownName, hookimpl


def test_a_bare_mark_is_pluggy_s():
    @hookimpl
    def turn_start(event): ...

    assert turn_start.pi_impl["tryfirst"] is False
    assert not hasattr(turn_start, "pi_order")


def test_a_mark_can_name_its_neighbours():
    @hookimpl(before="policy", after=["git", "audit"], trylast=True, specname="tool_call")
    def guard(event): ...

    assert guard.pi_order == Order(("policy",), ("git", "audit"))
    assert guard.pi_impl["trylast"] is True
    assert guard.pi_impl["specname"] == "tool_call"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tol_call", "Unknown hook: tol_call. Did you mean tool_call?"),
        ("zzz", "Unknown hook: zzz. pi hooks lists them"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest_or_where_to_look(name, message):
    assert str(UnknownName("hook", name, ["tool_call", "turn_end"], "pi hooks lists them")) == message
