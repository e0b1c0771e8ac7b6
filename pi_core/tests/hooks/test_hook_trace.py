"""The trace of every hook call."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pi_core.hooks.dispatcher import HookDispatcher, HookRefused, Timeouts
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import ToolCallEvent, ToolCallResult, TurnStartEvent
from pi_hookspecs.specs import tools

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookTrace

CTX: Any = SimpleNamespace(signal=None)
CALL = ToolCallEvent(tool_call_id="1", tool_name="ls", input={})


@pytest.fixture
def traced() -> list[HookTrace]:
    return []


@pytest.fixture
def hooks(traced):
    manager = PluginManager(lambda hook, message: pytest.fail(f"{hook}: {message}"))
    dispatcher = HookDispatcher(
        manager, report=lambda failure: None, trace=traced.append, timeouts=Timeouts(default=0.1)
    )
    yield dispatcher
    dispatcher.close()


def summary(traced: list[HookTrace]) -> list[tuple[str, str, bool]]:
    return [(each.hook, each.plugin, each.changed) for each in traced]


async def test_each_call_is_logged_with_hook_plugin_and_whether_it_changed_something(hooks, traced):
    hooks.add("silent", "tool_call", lambda event: None)
    hooks.add("changes", "tool_call", lambda event: ToolCallResult(input={"path": "x"}))
    hooks.add("refuses", "tool_call", lambda event: ToolCallResult(block=True))
    hooks.add("not-asked", "tool_call", lambda event: None)

    await hooks.call(tools.tool_call, CALL, CTX)

    assert summary(traced) == [
        ("tool_call", "silent", False),
        ("tool_call", "changes", True),
        ("tool_call", "refuses", True),
    ]


async def test_the_time_of_a_call_is_reported_in_milliseconds(hooks, traced):
    hooks.add("slow", "turn_start", lambda event: asyncio.sleep(0.02))

    await hooks.notify(TurnStartEvent(), CTX)

    assert traced[0].milliseconds >= 15


async def test_what_a_listener_returns_changes_nothing(hooks, traced):
    hooks.add("chatty", "turn_start", lambda event: "something")

    await hooks.notify(TurnStartEvent(), CTX)

    assert summary(traced) == [("turn_start", "chatty", False)]


@pytest.mark.parametrize(
    "handler",
    [lambda event: 1 / 0, lambda event: "no result", lambda event: asyncio.sleep(60)],
    ids=["raises", "wrong answer", "too slow"],
)
async def test_failed_calls_are_reported_once_each(hooks, traced, handler):
    hooks.add("broken", "tool_call", handler)

    with pytest.raises(HookRefused):
        await hooks.call(tools.tool_call, CALL, CTX)

    assert summary(traced) == [("tool_call", "broken", False)]


async def test_nothing_is_reported_for_a_hook_without_implementations(hooks, traced):
    await hooks.notify(TurnStartEvent(), CTX)

    assert traced == []


async def test_the_trace_can_be_turned_on_and_off_while_hooks_run(hooks, traced):
    hooks.add("quiet", "turn_start", lambda event: None)

    hooks.trace = None
    await hooks.notify(TurnStartEvent(), CTX)
    hooks.trace = traced.append
    await hooks.notify(TurnStartEvent(), CTX)

    assert summary(traced) == [("turn_start", "quiet", False)]
