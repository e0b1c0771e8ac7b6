"""Implementations that are called at most once in an interval."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pi_core.hooks.dispatcher import HookDispatcher
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import ToolCallEvent, ToolCallResult, TurnStartEvent
from pi_hookspecs.specs.tools import tool_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.hooks.reports import HookFailure

CTX: Any = SimpleNamespace(signal=None)
TURN = TurnStartEvent()
MINUTE = 60.0


class Asked:
    """A dispatcher with plugins that note when they are asked, and the failures that it has reported."""

    def __init__(self, **intervals: float) -> None:
        self.names: list[str] = []
        self.failures: list[HookFailure] = []
        self.hooks = HookDispatcher(PluginManager(lambda hook, message: None), report=self.failures.append)
        for name, interval in intervals.items():
            self.hooks.add(name, "turn_start", resting(interval, lambda name=name: self.names.append(name)))

    async def ask(self) -> None:
        await self.hooks.notify(TURN, CTX)


def resting(interval: float, do: Callable[[], Any]) -> Any:
    def implementation(event: Any) -> Any:
        del event
        return do()

    implementation.pi_interval = interval  # type: ignore[attr-defined]
    return implementation


async def test_while_it_rests_the_others_are_called():
    asked = Asked(rests=MINUTE, always=0)

    await asked.ask()
    await asked.ask()

    assert asked.names == ["rests", "always", "always"]


async def test_while_all_rest_the_hook_counts_as_not_implemented():
    asked = Asked(one=MINUTE, two=MINUTE)

    await asked.ask()

    assert not asked.hooks.listens("turn_start")
    assert [each.plugin for each in asked.hooks.implementations("turn_start")] == ["one", "two"]


async def test_afterwards_it_is_called_again_at_its_place():
    asked = Asked(rests=0.001, always=0)

    while asked.names.count("rests") < 2:
        await asked.ask()
        await asyncio.sleep(0)

    assert asked.names[-2:] == ["rests", "always"]
    asked.hooks.close()


async def test_a_call_may_change_how_long_it_rests(monkeypatch):
    loop = asyncio.get_running_loop()
    clock = [loop.time()]
    monkeypatch.setattr(loop, "time", lambda: clock[0])

    async def pass_time(seconds: float) -> None:
        clock[0] += seconds
        for _ in range(3):
            await asyncio.sleep(0)

    asked = Asked()

    async def implementation(event: Any) -> None:
        del event
        await pass_time(0.01)
        implementation.pi_interval = 0.4  # type: ignore[attr-defined]

    implementation.pi_interval = 0.1  # type: ignore[attr-defined]
    asked.hooks.add("slow", "turn_start", implementation)
    due = []
    for _ in range(2):
        await asked.ask()
        for seconds in (0.2, 0.25):
            await pass_time(seconds)
            due.append(asked.hooks.listens("turn_start"))
    asked.hooks.close()

    assert due == [False, True, False, True]


async def test_it_rests_on_when_another_handler_is_added():
    asked = Asked(rests=MINUTE)

    await asked.ask()
    asked.hooks.add("late", "turn_start", lambda: asked.names.append("late"))
    await asked.ask()

    assert asked.names == ["rests", "late"]


async def test_its_timer_ends_with_the_dispatcher():
    asked = Asked(rests=MINUTE)

    await asked.ask()
    asked.hooks.close()
    await asked.ask()

    assert asked.names == ["rests", "rests"]


async def test_failures_between_which_it_rests_end_in_quarantine():
    asked = Asked()
    asked.hooks.add("broken", "turn_start", resting(MINUTE, lambda: 1 / 0))

    for _ in range(4):
        await asked.ask()
        asked.hooks.close()

    assert [failure.quarantined for failure in asked.failures] == [False, False, True]
    assert not asked.hooks.listens("turn_start")


async def test_two_calls_at_the_same_time_ask_it_once():
    asked = Asked()

    async def wait() -> None:
        await asyncio.sleep(0)

    asked.hooks.add("slow", "turn_start", wait)
    asked.hooks.add("rests", "turn_start", resting(MINUTE, lambda: asked.names.append("rests")))

    await asyncio.gather(asked.ask(), asked.ask())

    assert asked.names == ["rests"]


async def test_a_hook_whose_answer_counts_is_asked_each_time():
    asked = Asked()
    asked.hooks.add("guard", "tool_call", resting(MINUTE, lambda: ToolCallResult(block=True, reason="no")))
    call = ToolCallEvent(tool_call_id="1", tool_name="bash", input={})

    for _ in range(2):
        answer = await asked.hooks.call(tool_call, call, CTX)
        assert answer is not None
        assert answer.block
