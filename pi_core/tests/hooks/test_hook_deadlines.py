"""Implementations that take too long: they wait, they block, they are aborted, or the user takes his time."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pi_core.hooks.dispatcher import HookDispatcher, HookRefused, Timeouts
from pi_core.hooks.running_call import MOST_EXCUSED, current_call
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import (
    AbortController,
    AgentEndEvent,
    SessionStartEvent,
    ToolCallEvent,
    ToolCallResult,
    TurnEndEvent,
    TurnEndResult,
    TurnStartEvent,
    hookimpl,
)
from pi_hookspecs.specs import agent, tools
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookFailure

CTX: Any = SimpleNamespace(signal=None)
CALL = ToolCallEvent(tool_call_id="1", tool_name="bash", input={})
SOON = 0.1
"""A deadline in seconds."""
FOR_EVER = 60.0


class Asked:
    """A dispatcher with handlers of plugins by name, all for one hook, and what it reported."""

    def __init__(self, hook: str = "turn_start", deadline: float = SOON, **functions: Any) -> None:
        self.failures: list[HookFailure] = []
        manager = PluginManager(lambda hook, message: pytest.fail(f"{hook}: {message}"))
        self.hooks = HookDispatcher(manager, report=self.failures.append, timeouts=Timeouts(default=deadline))
        for name, function in functions.items():
            self.hooks.add(name, hook, function)

    async def notify(self, event: Any, ctx: Any = CTX) -> None:
        """Tell a hook; a test that fails must not hang for ever."""
        async with asyncio.timeout(PATIENCE):
            await self.hooks.notify(event, ctx)

    async def call(self, spec: Any, event: Any, ctx: Any = CTX) -> Any:
        """Ask a hook, as ``notify`` does."""
        async with asyncio.timeout(PATIENCE):
            return await self.hooks.call(spec, event, ctx)

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(failure.plugin, failure.kind) for failure in self.failures]


async def idle(asked: Asked) -> None:
    """Let the watchdog see that nothing runs any more."""
    asked.hooks.close()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def hang(event: Any) -> None:
    await asyncio.sleep(FOR_EVER)


# Waiting for too long


@pytest.mark.parametrize("ends_first", [True, False], ids=["its answer is there first", "the timer is there first"])
async def test_time_in_which_another_plugin_held_up_the_event_loop_does_not_count(ends_first):
    released = asyncio.Event()

    async def waits(event: Any) -> None:
        await released.wait()
        if not ends_first:
            await asyncio.sleep(0.01)

    asked = Asked(innocent=waits)
    call = asyncio.create_task(asked.notify(TurnStartEvent()))
    await asyncio.sleep(0)

    time.sleep(5 * SOON)  # noqa: ASYNC251 - as a plugin does
    released.set()
    await call

    assert asked.failures == []


async def test_a_call_that_holds_up_the_event_loop_again_and_again_meets_its_deadline():
    async def blocks(event: Any) -> None:
        current_call.get().started -= 2 * MOST_EXCUSED
        current_call.get().excuse(2 * MOST_EXCUSED)
        await asyncio.sleep(FOR_EVER)

    asked = Asked(guilty=blocks)

    await asked.notify(TurnStartEvent())

    assert asked.kinds == [("guilty", "deadline")]


async def test_the_user_learns_which_call_is_waited_for_and_may_skip_it():
    asked = Asked(deadline=60, slow=hang)
    asked.hooks._watchdog.waiting_seconds = SOON
    asked.hooks._watchdog.shortest = SOON
    shown: list[Any] = []
    asked.hooks.on_waiting(shown.append)
    call = asyncio.create_task(asked.notify(TurnStartEvent()))
    while not shown:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.01)

    skipped = asked.hooks.skip_waiting()
    await call
    while shown[-1]:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.01)

    assert skipped
    assert shown == [[("slow", "turn_start")], []]
    assert asked.failures == []
    assert not asked.hooks.skip_waiting()
    await idle(asked)


async def test_a_guard_that_is_skipped_refuses():
    asked = Asked("tool_call", deadline=60, slow=hang)
    asked.hooks._watchdog.waiting_seconds = asked.hooks._watchdog.shortest = SOON
    call = asyncio.create_task(asked.call(tools.tool_call, CALL))
    while not asked.hooks.skip_waiting():  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.01)

    with pytest.raises(HookRefused):
        await call
    await idle(asked)


async def test_a_call_that_is_not_waited_for_long_is_not_named_and_not_skipped():
    asked = Asked(deadline=60, slow=lambda event: asyncio.sleep(5 * SOON))
    asked.hooks._watchdog.waiting_seconds, asked.hooks._watchdog.shortest = 60, SOON
    asked.hooks.on_waiting(lambda calls: pytest.fail(f"named {calls}"))
    call = asyncio.create_task(asked.notify(TurnStartEvent()))
    await asyncio.sleep(3 * SOON)

    assert not asked.hooks.skip_waiting()
    await call
    await idle(asked)


async def test_a_coroutine_that_hangs_is_cancelled_at_its_deadline_and_the_next_is_asked():
    seen: list[Any] = []
    asked = Asked(slow=hang, quick=seen.append)

    await asked.notify(TurnStartEvent())

    assert asked.kinds == [("slow", "deadline")]
    assert asked.failures[0].message == "no answer within 0.1 s"
    assert asked.failures[0].milliseconds >= 100
    assert len(seen) == 1
    await idle(asked)


async def test_a_guard_that_hangs_refuses():
    asked = Asked("tool_call", slow=hang)

    with pytest.raises(HookRefused, match="plugin 'slow' failed in tool_call"):
        await asked.call(tools.tool_call, CALL)

    assert asked.kinds == [("slow", "deadline")]
    await idle(asked)


def test_the_most_specific_setting_counts():
    timeouts = Timeouts(default=5.0, plugins={"slow": 7.0}, hooks={"tool_call": 6.0})

    assert timeouts.of("any", "turn_start", 30.0) == 5.0
    assert timeouts.of("any", "tool_call", 30.0) == 6.0
    assert timeouts.of("slow", "tool_call", 30.0) == 7.0
    assert Timeouts().of("any", "turn_start", 30.0) == 30.0


def test_without_settings_the_spec_decides():
    manager = PluginManager(lambda hook, message: None)
    both = SimpleNamespace(
        tool_call=hookimpl(specname="tool_call")(lambda: None), input=hookimpl(specname="input")(lambda: None)
    )
    manager.register(both, "a")
    hooks = HookDispatcher(manager, report=lambda failure: None)

    assert hooks.implementations("tool_call")[0].deadline == 30.0
    assert hooks.implementations("input")[0].deadline == 600.0


async def test_an_implementation_that_swallows_one_cancellation_is_cancelled_again():
    swallowed = []

    async def stubborn(event: Any) -> None:
        try:
            await asyncio.sleep(FOR_EVER)
        except asyncio.CancelledError:
            swallowed.append(True)
        await asyncio.sleep(FOR_EVER)

    asked = Asked(stubborn=stubborn)

    await asked.notify(TurnStartEvent())

    assert len(swallowed) == 1
    assert asked.kinds == [("stubborn", "ignored"), ("stubborn", "deadline")]
    assert str(asked.failures[0]).startswith("Plugin 'stubborn', turn_start: it was cancelled but is still running")
    assert not asked.failures[1].quarantined
    await idle(asked)


async def swallow_for_ever(event: Any) -> None:
    while True:
        try:
            await asyncio.sleep(FOR_EVER)
        except BaseException:  # noqa: BLE001, S112 - as plugins do it
            continue


async def test_an_implementation_that_swallows_every_cancellation_is_left_and_the_next_is_asked():
    seen: list[Any] = []
    asked = Asked(stubborn=swallow_for_ever, quick=seen.append)

    await asked.notify(TurnStartEvent())
    await asked.notify(TurnStartEvent())

    assert asked.kinds == [("stubborn", "ignored"), ("stubborn", "deadline")]
    assert "it ignored every cancellation" in str(asked.failures[1])
    assert asked.failures[1].quarantined
    assert len(seen) == 2
    await idle(asked)


async def test_a_guard_that_swallows_every_cancellation_refuses():
    asked = Asked("tool_call", stubborn=swallow_for_ever)

    with pytest.raises(HookRefused, match="plugin 'stubborn' is no longer called because it failed in tool_call"):
        await asked.call(tools.tool_call, CALL)

    await idle(asked)


async def test_what_an_abandoned_implementation_has_asked_itself_is_abandoned_too():
    async def outer() -> None:
        while True:
            try:
                await asked.notify(SessionStartEvent())
            except BaseException:  # noqa: BLE001, S112 - as above
                continue

    asked = Asked("agent_end", outer=outer)
    asked.hooks._timeouts = Timeouts(plugins={"inner": 30})
    asked.hooks.add("inner", "session_start", swallow_for_ever)

    await asked.notify(AgentEndEvent(messages=()))
    await asyncio.sleep(4 * SOON)  # several ticks, none of which may cancel this task

    assert asked.kinds[-1] == ("outer", "deadline")
    assert signal_is_given_back()
    await idle(asked)


async def test_the_timeouts_of_an_abandoned_implementation_do_not_end_what_goes_on():
    timeouts: list[asyncio.Timeout] = []

    async def patient(event: Any) -> None:
        while True:
            try:
                async with asyncio.timeout(FOR_EVER) as timeout, asyncio.timeout(FOR_EVER) as inner:
                    timeouts[:] = timeout, inner
                    await swallow_once()
            except BaseException:  # noqa: BLE001, S112 - as above
                continue

    async def swallow_once() -> None:
        with suppress(asyncio.CancelledError):
            async with asyncio.timeout(FOR_EVER) as timeout:
                timeouts.append(timeout)
                await asyncio.sleep(FOR_EVER)

    asked = Asked(patient=patient)

    async with asyncio.timeout(FOR_EVER) as around:
        await asked.notify(TurnStartEvent())

        assert [each.when() for each in timeouts] == [None, None, None]
        assert around.when() is not None
    assert asked.kinds == [("patient", "ignored"), ("patient", "deadline")]
    await idle(asked)


def signal_is_given_back() -> bool:
    return not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


async def test_a_future_that_a_plain_implementation_returns_has_a_deadline_too():
    asked = Asked(slow=lambda event: asyncio.get_running_loop().create_future())

    await asked.notify(TurnStartEvent())

    assert asked.kinds == [("slow", "deadline")]
    await idle(asked)


async def test_what_a_coroutine_catches_and_raises_itself_arrives_as_it_is():
    async def translates(event: Any) -> None:
        try:
            await asyncio.sleep(FOR_EVER)
        except asyncio.CancelledError:
            raise KeyError("mine") from None

    asked = Asked(deadline=30, some=translates)
    task = asyncio.create_task(asked.notify(TurnStartEvent()))
    await asyncio.sleep(0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert asked.failures[0].message.startswith("KeyError: 'mine'")
    await idle(asked)


@pytest.mark.parametrize("ending", ["answers", "raises"])
async def test_what_comes_after_a_swallowed_cancellation_does_not_count(ending):
    async def late(event: Any) -> TurnEndResult:
        try:
            await asyncio.sleep(FOR_EVER)
        except asyncio.CancelledError:
            if ending == "raises":
                raise ValueError from None
        return TurnEndResult(continue_=True)

    asked = Asked("turn_end", late=late)

    answer = await asked.call(agent.turn_end, TurnEndEvent(message=None))  # type: ignore[arg-type]

    assert answer is None
    assert asked.kinds == [("late", "deadline")]
    await idle(asked)


async def test_three_overruns_end_the_asking():
    asked = Asked(deadline=0.05, slow=hang)

    for _ in range(4):
        await asked.notify(TurnStartEvent())

    assert [failure.quarantined for failure in asked.failures] == [False, False, True]
    await idle(asked)


async def test_time_limits_of_the_program_work_around_an_overrun():
    asked = Asked(slow=hang)

    async def work() -> None:
        async with asyncio.timeout(None) as limit:
            await asked.notify(TurnStartEvent())
            limit.reschedule(0)
            await asyncio.sleep(FOR_EVER)

    with pytest.raises(TimeoutError):
        await work()

    assert asked.kinds == [("slow", "deadline")]
    await idle(asked)


async def test_concurrent_calls_have_their_own_deadlines():
    async def by_number(event: TurnStartEvent) -> None:
        await asyncio.sleep(FOR_EVER if event.turn_index % 2 else 0)

    asked = Asked(some=by_number)

    await asyncio.gather(*(asked.notify(TurnStartEvent(turn_index=number)) for number in range(4)))

    assert asked.kinds == [("some", "deadline")] * 2
    await idle(asked)


# Somebody else cancels


async def test_an_outer_cancellation_passes_untouched():
    asked = Asked(deadline=30, slow=hang)
    task = asyncio.create_task(asked.notify(TurnStartEvent()))
    await asyncio.sleep(0)

    task.cancel("from outside")
    with pytest.raises(asyncio.CancelledError, match="from outside"):
        await task

    assert asked.failures == []
    await idle(asked)


async def test_an_outer_cancellation_that_coincides_with_the_deadline_passes():
    async def slow(event: Any) -> None:
        try:
            await asyncio.sleep(FOR_EVER)
        finally:
            task.cancel()

    asked = Asked(slow=slow)
    task = asyncio.create_task(asked.notify(TurnStartEvent()))

    with pytest.raises(asyncio.CancelledError):
        await task

    assert task.cancelled()
    assert task.cancelling() == 1
    await idle(asked)


async def test_an_outer_cancellation_cannot_be_swallowed_by_a_plugin():
    reached: list[int] = []

    async def swallows(event: Any) -> None:
        try:
            await asyncio.sleep(FOR_EVER)
        except asyncio.CancelledError:
            reached.append(1)

    asked = Asked(deadline=30, greedy=swallows, next=reached.append)
    task = asyncio.create_task(asked.notify(TurnStartEvent()))
    await asyncio.sleep(0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert reached == [1]
    await idle(asked)


async def test_a_task_that_cleans_up_after_its_cancellation_still_has_deadlines():
    asked = Asked("agent_end", slow=hang)
    cleaned: list[bool] = []

    async def run() -> None:
        try:
            await asyncio.sleep(FOR_EVER)
        finally:
            await asked.notify(AgentEndEvent(messages=()))
            cleaned.append(True)

    task = asyncio.create_task(run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert cleaned == [True]
    assert asked.kinds == [("slow", "deadline")]
    await idle(asked)


# Hooks inside hooks


async def test_a_call_inside_a_call_is_cancelled_on_its_own():
    asked = Asked("agent_end", deadline=30, outer=lambda: asked.notify(SessionStartEvent()))
    asked.hooks._timeouts = Timeouts(plugins={"inner": SOON})
    asked.hooks.add("inner", "session_start", hang)

    await asked.notify(AgentEndEvent(messages=()))

    assert asked.kinds == [("inner", "deadline")]
    await idle(asked)


async def test_the_outer_deadline_ends_an_inner_call_that_may_take_longer():
    asked = Asked("agent_end", outer=lambda: asked.notify(SessionStartEvent()))
    asked.hooks._timeouts = Timeouts(plugins={"inner": 30})
    asked.hooks.add("inner", "session_start", hang)

    await asked.notify(AgentEndEvent(messages=()))

    assert asked.kinds == [("outer", "deadline")]
    await idle(asked)


async def test_both_deadlines_at_once_blame_the_outer_call_and_leave_no_cancellation():
    asked = Asked("agent_end", outer=lambda: asked.notify(SessionStartEvent()))
    asked.hooks.add("inner", "session_start", hang)

    await asked.notify(AgentEndEvent(messages=()))

    assert ("outer", "deadline") in asked.kinds
    await idle(asked)


# Aborting


def context() -> tuple[Any, AbortController]:
    controller = AbortController()
    return SimpleNamespace(signal=controller.signal), controller


async def test_an_abort_ends_running_calls_at_once_and_is_no_fault():
    ctx, controller = context()
    asked = Asked(deadline=30, slow=hang)
    controller.signal.on_abort(lambda: asked.hooks.abort(controller.signal))
    asyncio.get_running_loop().call_soon(controller.abort)

    await asked.notify(TurnStartEvent(), ctx)

    assert asked.failures == []
    assert asked.hooks.implementations("turn_start")[0].failures == 0
    await idle(asked)


async def test_an_aborted_guard_refuses_with_the_reason_of_the_abort():
    ctx, controller = context()
    asked = Asked("tool_call", deadline=30, slow=hang)
    controller.signal.on_abort(lambda: asked.hooks.abort(controller.signal))
    asyncio.get_running_loop().call_soon(controller.abort, "The user pressed escape")

    with pytest.raises(HookRefused, match="The user pressed escape"):
        await asked.call(tools.tool_call, CALL, ctx)

    assert asked.failures == []
    await idle(asked)


async def test_an_abort_ends_a_call_that_swallows_every_cancellation():
    ctx, controller = context()
    asked = Asked(deadline=30, stubborn=swallow_for_ever)
    asked.hooks._watchdog.shortest = SOON  # quick ticks
    controller.signal.on_abort(lambda: asked.hooks.abort(controller.signal))
    asyncio.get_running_loop().call_soon(controller.abort)

    await asked.notify(TurnStartEvent(), ctx)

    assert asked.kinds == [("stubborn", "ignored"), ("stubborn", "deadline")]
    assert asked.failures[1].quarantined
    await idle(asked)


async def test_an_abort_ends_a_call_that_opens_dialogs_again_and_again():
    async def asks(event: Any) -> None:
        while True:
            try:
                with asked.hooks.deadline_paused():
                    await asyncio.sleep(FOR_EVER)
            except BaseException:  # noqa: BLE001, S112 - as above
                continue

    ctx, controller = context()
    asked = Asked(deadline=30, stubborn=asks)
    asked.hooks._watchdog.shortest = SOON
    controller.signal.on_abort(lambda: asked.hooks.abort(controller.signal))
    asyncio.get_running_loop().call_soon(controller.abort)

    await asked.notify(TurnStartEvent(), ctx)

    assert asked.kinds == [("stubborn", "ignored"), ("stubborn", "deadline")]
    await idle(asked)


async def test_a_call_that_swallows_a_cancellation_from_outside_is_left_long_before_its_deadline():
    reached: list[int] = []
    asked = Asked(deadline=30, stubborn=swallow_for_ever, next=reached.append)
    asked.hooks._watchdog.shortest = SOON
    task = asyncio.create_task(asked.notify(TurnStartEvent()))
    await asyncio.sleep(0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert reached == []
    assert asked.kinds[-1] == ("stubborn", "deadline")
    await idle(asked)


@pytest.mark.parametrize("answers", [True, False], ids=["answers", "allows by silence"])
async def test_a_guard_that_was_aborted_and_answers_all_the_same_is_not_believed(answers):
    async def guard(event: Any) -> ToolCallResult | None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(FOR_EVER)
        return ToolCallResult(block=False) if answers else None

    ctx, controller = context()
    asked = Asked("tool_call", deadline=30, guard=guard)
    controller.signal.on_abort(lambda: asked.hooks.abort(controller.signal))
    asyncio.get_running_loop().call_soon(controller.abort, "The user pressed escape")

    with pytest.raises(HookRefused, match="The user pressed escape"):
        await asked.call(tools.tool_call, CALL, ctx)

    assert asked.failures == []
    await idle(asked)


async def test_an_abort_leaves_the_calls_of_other_runs_alone():
    (ctx, controller), (other, _) = context(), context()
    done: list[bool] = []

    async def short(event: Any) -> None:
        await asyncio.sleep(0.05)
        done.append(True)

    asked = Asked(deadline=30, short=short)
    asyncio.get_running_loop().call_later(0.01, asked.hooks.abort, controller.signal)

    await asyncio.gather(asked.notify(TurnStartEvent(), ctx), asked.notify(TurnStartEvent(), other))

    assert done == [True]
    await idle(asked)


@pytest.mark.parametrize("is_async", [False, True], ids=["def", "async def"])
async def test_a_plugin_that_aborts_its_own_run_may_still_answer(is_async):
    ctx, controller = context()

    def stop(event: Any) -> TurnEndResult:
        controller.abort()
        return TurnEndResult(continue_=False)

    async def async_stop(event: Any) -> TurnEndResult:
        return stop(event)

    asked = Asked("turn_end", deadline=30, stopper=async_stop if is_async else stop)
    controller.signal.on_abort(lambda: asked.hooks.abort(controller.signal))

    answer = await asked.call(agent.turn_end, TurnEndEvent(message=None), ctx)  # type: ignore[arg-type]
    await asyncio.sleep(0)  # nothing of the abort is left in the task

    assert answer == TurnEndResult(continue_=False)
    assert asked.failures == []
    await idle(asked)


async def test_an_abort_inside_nested_calls_ends_them_all():
    ctx, controller = context()
    asked = Asked("agent_end", deadline=30, outer=lambda: asked.notify(SessionStartEvent(), ctx))
    asked.hooks.add("inner", "session_start", hang)
    controller.signal.on_abort(lambda: asked.hooks.abort(controller.signal))
    asyncio.get_running_loop().call_later(0.05, controller.abort)

    await asked.notify(AgentEndEvent(messages=()), ctx)

    assert asked.failures == []
    await idle(asked)


# The user takes his time


async def test_the_clock_is_paused_while_a_dialog_is_open():
    async def asks(event: Any) -> None:
        with asked.hooks.deadline_paused():
            await asyncio.sleep(4 * SOON)

    asked = Asked(polite=asks)

    await asked.notify(TurnStartEvent())

    assert asked.failures == []
    await idle(asked)


async def test_the_clock_goes_on_when_the_dialog_is_closed():
    async def asks(event: Any) -> None:
        with asked.hooks.deadline_paused(), asked.hooks.deadline_paused():
            await asyncio.sleep(3 * SOON)
        await asyncio.sleep(FOR_EVER)

    asked = Asked(slow=asks)

    started = time.perf_counter()
    await asked.notify(TurnStartEvent())
    taken = (time.perf_counter() - started) * 1000

    assert asked.kinds == [("slow", "deadline")]
    assert 1000 * SOON <= asked.failures[0].milliseconds <= taken - 3000 * SOON + 1  # the dialog's time left out
    await idle(asked)


@pytest.mark.parametrize("in_task", [False, True], ids=["same task", "task of its own"])
async def test_a_dialog_stops_the_clocks_of_the_calls_around_it_too(in_task):
    async def outer() -> None:
        inner = asked.notify(SessionStartEvent())
        await (asyncio.create_task(inner) if in_task else inner)

    async def asks(event: Any) -> None:
        with asked.hooks.deadline_paused():
            await asyncio.sleep(4 * SOON)

    asked = Asked("agent_end", outer=outer)
    asked.hooks.add("inner", "session_start", asks)

    await asked.notify(AgentEndEvent(messages=()))

    assert asked.failures == []
    await idle(asked)


async def test_outside_of_a_hook_there_is_no_clock_to_stop():
    asked = Asked()

    with asked.hooks.deadline_paused():
        await asyncio.sleep(0)

    assert asked.failures == []


def test_a_second_loop_has_deadlines_too():
    asked = Asked(slow=hang)
    asked.hooks.add("quick", "agent_end", lambda event: None)

    asyncio.run(asked.notify(AgentEndEvent(messages=())))
    asyncio.run(asked.notify(TurnStartEvent()))
    asked.hooks.close()

    assert asked.kinds == [("slow", "deadline")]


async def test_what_begins_after_an_abort_gets_the_grace_and_no_blame(monkeypatch):
    monkeypatch.setattr("pi_core.hooks.running_call.ABORT_GRACE", SOON)
    controller = AbortController()
    controller.abort()
    asked = Asked(deadline=30, slow=hang)
    asked.hooks._watchdog.shortest = SOON

    await asked.notify(TurnStartEvent(), SimpleNamespace(signal=controller.signal))

    assert asked.failures == []
    await idle(asked)


def test_hooks_that_the_end_of_the_process_waits_for_have_seconds():
    assert Timeouts().of("any", "session_shutdown", 600) == 5.0
    assert Timeouts(shutdown=7).of("any", "session_shutdown", 600) == 7
    assert Timeouts(hooks={"session_shutdown": 60}).of("any", "session_shutdown", 600) == 60
