"""Observers get a trace of every call and disturb nothing; counters count every call without them."""

from __future__ import annotations

import asyncio
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from pi_core.hooks import observers
from pi_core.hooks.dispatcher import HookDispatcher, HookRefused, Timeouts
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import AbortController, BeforeModelRequestResult, ToolCallEvent, ToolCallResult, TurnStartEvent
from pi_hookspecs.specs import tools

CTX: Any = SimpleNamespace(signal=None)
CALL = ToolCallEvent(tool_call_id="call-1", tool_name="ls", input={})


@pytest.fixture
def failures():
    return []


@pytest.fixture
def hooks(failures):
    manager = PluginManager(lambda hook, message: pytest.fail(f"{hook}: {message}"))
    dispatcher = HookDispatcher(manager, report=failures.append, timeouts=Timeouts(default=0.1))
    yield dispatcher
    dispatcher.close()


@pytest.fixture
def traces(hooks):
    """What an observer got."""
    found = []
    hooks.observe("watches", found.append)
    return found


def raises(event):
    raise ValueError(event.type)


async def ignores_time(event):
    await asyncio.sleep(5)


@pytest.mark.parametrize(
    ("implementation", "outcome", "changed"),
    [
        (lambda event: None, "ok", False),
        (lambda event: ToolCallResult(input={"path": "x"}), "ok", True),
        (lambda event: ToolCallResult(block=True, reason="no"), "vetoed", True),
        (raises, "raised", False),
        (lambda event: "no result", "answer", False),
        (ignores_time, "deadline", False),
    ],
)
async def test_an_observer_gets_how_each_call_ended(hooks, traces, implementation, outcome, changed):
    hooks.add("acts", "tool_call", implementation)

    try:
        await hooks.call(tools.tool_call, CALL, CTX)
    except HookRefused:
        assert outcome in ("raised", "answer", "deadline")

    assert [(each.hook, each.plugin, each.outcome, each.changed, each.key) for each in traces] == [
        ("tool_call", "acts", outcome, changed, "call-1")
    ]


async def test_a_cancelled_call_is_traced_and_counted(hooks, traces):
    started = asyncio.Event()

    async def waits(event):
        started.set()
        await asyncio.sleep(60)

    hooks.add("waits", "turn_start", waits)
    task = asyncio.create_task(hooks.notify(TurnStartEvent(), CTX))
    await started.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert [each.outcome for each in traces] == ["cancelled"]
    assert [(each.calls, each.failures) for each in hooks.counters()] == [(1, 0)]


@pytest.mark.parametrize("hook", ["turn_start", "tool_call"])
@pytest.mark.parametrize("swallows", [False, True])
async def test_a_call_that_an_abort_ends_is_traced_as_cancelled_and_no_failure(hooks, traces, hook, swallows):
    controller = AbortController()
    ctx = SimpleNamespace(signal=controller.signal)

    async def waits(event):
        asyncio.get_running_loop().call_soon(controller.abort)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if not swallows:
                raise

    controller.signal.on_abort(lambda: hooks.abort(controller.signal))
    hooks.add("waits", hook, waits)
    try:
        await (hooks.call(tools.tool_call, CALL, ctx) if hook == "tool_call" else hooks.notify(TurnStartEvent(), ctx))
    except HookRefused:
        assert hook == "tool_call"

    assert [(each.calls, each.failures) for each in hooks.counters()] == [(1, 0)]
    assert [each.outcome for each in traces] == ["ok" if swallows and hook == "turn_start" else "cancelled"]


async def test_traces_are_ordered_in_time_and_an_event_of_a_turn_has_no_key(hooks, traces):
    hooks.add("first", "turn_start", lambda event: None)
    hooks.add("second", "turn_start", lambda event: None)

    await hooks.notify(TurnStartEvent(), CTX)

    first, second = traces
    assert (first.plugin, second.plugin, first.key) == ("first", "second", None)
    assert 1.6e9 < first.started <= second.started


async def test_an_observer_that_raises_is_reported_and_removed_after_three_failures(hooks, failures, traces):
    hooks.observe("breaks", lambda trace: 1 / 0)
    hooks.add("acts", "turn_start", lambda event: None)

    for _ in range(5):
        await hooks.notify(TurnStartEvent(), CTX)

    assert len(traces) == 5
    assert [(each.plugin, each.hook, each.quarantined) for each in failures] == [
        ("breaks", "observe_hooks", False),
        ("breaks", "observe_hooks", False),
        ("breaks", "observe_hooks", True),
    ]


async def test_an_observer_that_is_slow_is_removed(hooks, failures, monkeypatch):
    monkeypatch.setattr(observers, "OBSERVING_SECONDS", 0.01)

    def hangs(trace):
        time.sleep(0.02)

    hooks.observe("hangs", hangs)
    hooks.add("acts", "turn_start", lambda event: None)

    for _ in range(4):
        await hooks.notify(TurnStartEvent(), CTX)

    assert [(each.plugin, each.quarantined) for each in failures] == [
        ("hangs", False),
        ("hangs", False),
        ("hangs", True),
    ]
    assert "an observer of hooks took longer than 0.01 s" in failures[0].message


async def test_what_exits_in_an_observer_is_contained(hooks, failures):
    hooks.observe("exits", lambda trace: sys.exit(3))
    hooks.add("acts", "turn_start", lambda event: None)

    await hooks.notify(TurnStartEvent(), CTX)

    assert [each.plugin for each in failures] == ["exits"]


async def test_hooks_that_an_observer_causes_are_not_observed(hooks):
    seen = []

    def appends(trace):
        seen.append(trace.hook)
        hooks.call_now(storing, SimpleNamespace(type="session_before_append", entries=()), CTX)

    from pi_hookspecs.specs.session import session_before_append as storing

    hooks.observe("appends", appends)
    hooks.add("acts", "turn_start", lambda event: None)
    hooks.add("acts", "session_before_append", lambda event: None)

    await hooks.notify(TurnStartEvent(), CTX)

    assert seen == ["turn_start"]


async def test_an_observer_can_be_removed(hooks):
    seen = []
    remove = hooks.observe("watches", seen.append)
    hooks.add("acts", "turn_start", lambda event: None)
    remove()

    await hooks.notify(TurnStartEvent(), CTX)

    assert seen == []


async def asynchronous(trace):
    """Do nothing."""


@pytest.mark.parametrize("observer", [asynchronous, None, 3])
def test_what_is_no_plain_function_is_refused(hooks, observer):
    with pytest.raises(TypeError, match="an observer is a plain function that takes one HookTrace"):
        hooks.observe("wrong", observer)


async def test_calls_failures_and_timeouts_are_counted_without_an_observer(hooks):
    hooks.add("fails", "turn_start", raises)
    hooks.add("slow", "turn_start", ignores_time)
    hooks.add("good", "turn_start", lambda event: None)

    await hooks.notify(TurnStartEvent(), CTX)
    await hooks.notify(TurnStartEvent(), CTX)

    found = {each.plugin: each for each in hooks.counters()}
    assert {name: (each.calls, each.failures, each.timeouts) for name, each in found.items()} == {
        "fails": (2, 2, 0),
        "slow": (2, 2, 2),
        "good": (2, 0, 0),
    }
    assert all(0 < each.longest_ms <= each.total_ms for each in found.values())
    assert found["slow"].total_ms > found["good"].total_ms


async def test_a_reload_keeps_the_counters_and_other_hooks_of_a_plugin_are_counted_apart(hooks):
    hooks.add("good", "turn_start", lambda event: None)
    hooks.add("good", "tool_call", lambda event: None)
    await hooks.notify(TurnStartEvent(), CTX)
    hooks.compile(afresh=True)
    await hooks.notify(TurnStartEvent(), CTX)

    assert [(each.hook, each.plugin, each.calls) for each in hooks.counters()] == [("turn_start", "good", 2)]


async def test_a_plugin_observes_the_hooks_of_all(session_of, script):
    from pi_hookspecs import hookimpl
    from pi_testing import text

    seen = []

    class Watches:
        @hookimpl
        def activate(self, pi):
            @pi.observe_hooks()
            def watch(trace):
                seen.append((trace.hook, trace.plugin, trace.key is not None))

    class Allows:
        @hookimpl
        def before_model_request(self, event):
            return BeforeModelRequestResult()

    session = session_of(Watches(), Allows())
    script.turn(text("Hello."))
    await session.prompt("hello")

    assert ("before_model_request", "plugin-1", True) in seen


async def test_an_async_observer_is_refused_by_name(session_of, recorder):
    from pi_hookspecs import hookimpl

    class Wrong:
        @hookimpl
        def activate(self, pi):
            pi.observe_hooks(asynchronous)

    session = session_of(Wrong())
    await session.start()

    assert "an observer is a plain function that takes one HookTrace" in recorder.of("extension_error")[0].error


def test_activations_of_before_and_after_reach_an_observer(hooks):
    traces = []
    hooks.activated("early", 1.7e9, 0.25, failed=False)

    hooks.observe("watches", traces.append)
    hooks.activated("late", 1.7e9 + 1, 0.5, failed=True)

    assert [(each.hook, each.plugin, each.milliseconds, each.outcome) for each in traces] == [
        ("activate", "early", 250.0, "ok"),
        ("activate", "late", 500.0, "raised"),
    ]


def test_an_observer_that_fails_at_past_activations_is_removed_after_three(hooks, failures):
    for number in range(5):
        hooks.activated(f"plugin-{number}", 1.7e9, 0.1, failed=False)

    hooks.observe("breaks", lambda trace: 1 / 0)

    assert [each.quarantined for each in failures] == [False, False, True]
