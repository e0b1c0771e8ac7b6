"""In which order implementations are asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from pi_core.hooks.dispatcher import HookDispatcher, HookImplementation
from pi_core.hooks.order import sort_implementations
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import Order, hookimpl

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookFailure


def listener(**options: Any) -> Any:
    """A plugin object that listens to one hook, with the options of ``hookimpl``."""

    @hookimpl(**options)
    def turn_start(event: Any) -> None:
        del event

    return SimpleNamespace(turn_start=turn_start)


def hooks_over(plugins: dict[str, Any], report: Any = None, rank: Any = None) -> HookDispatcher:
    manager = PluginManager(lambda hook, message: None)
    for name, plugin in plugins.items():
        manager.register(plugin, name)
    return HookDispatcher(manager, report=report or (lambda failure: None), rank=rank)


def order(hooks: HookDispatcher) -> list[str]:
    return [each.plugin for each in hooks.implementations("turn_start")]


def test_first_loaded_is_first_asked():
    hooks = hooks_over({"c": listener(), "a": listener(), "b": listener()})

    assert order(hooks) == ["c", "a", "b"]


def test_load_order_counts_and_not_the_order_of_registration():
    places = {"a": 0, "b": 1, "c": 2}

    hooks = hooks_over({"c": listener(), "b": listener(), "a": listener()}, rank=places.__getitem__)

    assert order(hooks) == ["a", "b", "c"]


def test_tryfirst_and_trylast_go_to_the_ends_and_keep_load_order_among_themselves():
    hooks = hooks_over(
        {
            "a": listener(trylast=True),
            "b": listener(),
            "c": listener(tryfirst=True),
            "d": listener(trylast=True),
            "e": listener(tryfirst=True),
        }
    )

    assert order(hooks) == ["c", "e", "b", "a", "d"]


def test_before_and_after_name_plugins():
    hooks = hooks_over({"a": listener(after="c"), "b": listener(), "c": listener(), "d": listener(before=["a", "b"])})

    assert order(hooks) == ["c", "d", "a", "b"]


def test_before_and_after_win_over_tryfirst_and_trylast():
    hooks = hooks_over({"a": listener(tryfirst=True, after="b"), "b": listener(trylast=True), "c": listener()})

    assert order(hooks) == ["c", "b", "a"]


def test_names_of_plugins_that_are_not_there_change_nothing():
    hooks = hooks_over({"a": listener(after="z"), "b": listener(before=("y", "b"))})

    assert order(hooks) == ["a", "b"]


def test_a_handler_added_at_run_time_runs_at_its_plugins_place():
    hooks = hooks_over({"a": listener(), "b": listener(), "c": listener(trylast=True)})

    hooks.add("a", "turn_start", lambda event: None)

    assert order(hooks) == ["a", "a", "b", "c"]


def test_a_cycle_is_reported_once_and_load_order_decides():
    failures: list[HookFailure] = []
    hooks = hooks_over({"a": listener(after="b"), "b": listener(after="c"), "c": listener(after="a")}, failures.append)
    hooks.compile()
    hooks.compile("turn_start")

    assert order(hooks) == ["a", "c", "b"]
    assert [(failure.kind, failure.hook) for failure in failures] == [("order", "turn_start")]
    assert "form a cycle (a -> c -> b -> a); load order decides" in str(failures[0])


def test_requests_outside_of_the_cycle_are_honoured():
    failures: list[HookFailure] = []
    hooks = hooks_over({"a": listener(after="b"), "b": listener(after="c"), "c": listener(after="b")}, failures.append)

    assert order(hooks) == ["b", "a", "c"]
    assert len(failures) == 1


def test_every_cycle_is_reported():
    failures: list[HookFailure] = []
    names = {"a": "b", "b": "a", "c": "d", "d": "c"}
    hooks_over({name: listener(after=other) for name, other in names.items()}, failures.append)

    assert [failure.plugin for failure in failures] == ["a", "c"]


NAMES = "abcdef"
CONSTRAINTS = st.lists(st.sampled_from(NAMES), max_size=3).map(tuple)


@st.composite
def implementations(draw: st.DrawFn) -> list[HookImplementation]:
    return [
        HookImplementation(
            hook="turn_start",
            plugin=draw(st.sampled_from(NAMES)),
            call=lambda event, ctx: None,
            function=lambda: None,
            deadline=1.0,
            band=draw(st.integers(0, 2)),
            order=Order(before=draw(CONSTRAINTS), after=draw(CONSTRAINTS)),
        )
        for _ in range(draw(st.integers(0, 8)))
    ]


def constraints(asked: list[HookImplementation]) -> set[tuple[int, int]]:
    """Pairs of ids: the first wants, or is wanted, to run before the second."""
    return {
        (id(one), id(two))
        for one in asked
        for two in asked
        if one.plugin != two.plugin and (two.plugin in one.order.before or one.plugin in two.order.after)
    }


def closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} | pairs
        if more == pairs:
            return pairs
        pairs = more


@given(implementations())
def test_the_order_is_a_permutation_that_honours_every_request_outside_of_a_cycle(asked):
    ordered, cycles = sort_implementations(asked, NAMES.index)

    place = {id(each): position for position, each in enumerate(ordered)}
    reachable = closure(constraints(asked))
    assert sorted(map(id, ordered)) == sorted(map(id, asked))
    assert all(place[one] < place[two] for one, two in constraints(asked) if (two, one) not in reachable)
    assert bool(cycles) is any(one == two for one, two in reachable)
    assert all(cycle[0] == cycle[-1] for cycle in cycles)


@given(implementations())
def test_without_order_requests_only_band_and_load_order_count(asked):
    for each in asked:
        each.order = Order()

    ordered, cycles = sort_implementations(asked, NAMES.index)

    assert ordered == sorted(asked, key=lambda each: (each.band, NAMES.index(each.plugin)))
    assert cycles == []
