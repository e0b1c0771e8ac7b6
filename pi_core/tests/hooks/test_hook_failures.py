"""What happens when an implementation raises or answers with something else than it may."""

from __future__ import annotations

import asyncio
import importlib
import signal
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen

from pi_core.hooks.dispatcher import HookDispatcher, HookRefused
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import (
    AgentBeforeSettleEvent,
    AgentBeforeSettleResult,
    AssistantMessage,
    BeforeAgentStartEvent,
    BeforeAgentStartResult,
    ChildEnvironmentEvent,
    ContextEvent,
    ContextResult,
    InputEvent,
    InputResult,
    MessageEndEvent,
    MessageEndResult,
    ToolCallEvent,
    ToolCallResult,
    ToolResultEvent,
    ToolResultResult,
    TurnEndEvent,
    TurnEndResult,
    TurnStartEvent,
    UserBashEvent,
    UserMessage,
    hookimpl,
)
from pi_hookspecs.samples import sample_event
from pi_hookspecs.specs import agent, all_hookspecs, request, tools
from pi_testing import for_each

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookFailure

CTX: Any = SimpleNamespace(signal=None)
CALL = ToolCallEvent(tool_call_id="1", tool_name="bash", input={"command": "ls"})
ANSWER = AssistantMessage(api="-", provider="-", model="-")


class Asked:
    """A dispatcher with handlers of plugins by name, all for one hook, and what it reported."""

    def __init__(self, hook: str, **functions: Any) -> None:
        self.failures: list[HookFailure] = []
        manager = PluginManager(lambda hook, message: pytest.fail(f"{hook}: {message}"))
        self.manager = manager
        self.hooks = HookDispatcher(manager, report=self.failures.append)
        for name, function in functions.items():
            self.hooks.add(name, hook, function)

    @property
    def failure(self) -> HookFailure:
        (failure,) = self.failures
        return failure


def raising(error: BaseException, *, is_async: bool = False) -> Any:
    def implementation() -> None:
        raise error

    async def async_implementation() -> None:
        await asyncio.sleep(0)
        raise error

    return async_implementation if is_async else implementation


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError

    __repr__ = __str__


@dataclass(frozen=True)
class Frozen(Exception):
    text: str


class Exits(Exception):
    def __str__(self) -> str:
        raise SystemExit

    __repr__ = __str__


class Nameless(AttributeError):
    @property
    def name(self) -> str:  # type: ignore[override]
        raise ValueError


ERRORS = [
    Nameless(),
    ValueError("bad luck"),
    SystemExit(3),
    Unspeakable(),
    Exits(),
    Frozen("x"),
    StopIteration(),
    GeneratorExit(),
    BaseException("base"),
]


# Raising


@for_each("is_async", [False, True])
@for_each("error", ERRORS)
async def test_whatever_a_plugin_raises_is_reported_and_the_next_is_asked(error, is_async):
    seen: list[Any] = []
    asked = Asked("turn_start", broken=raising(error, is_async=is_async), well=seen.append)

    await asked.hooks.notify(TurnStartEvent(), CTX)

    assert len(seen) == 1
    assert (asked.failure.plugin, asked.failure.hook, asked.failure.kind) == ("broken", "turn_start", "raised")


async def test_the_report_blames_plugin_hook_and_time_and_keeps_the_stack():
    async def slow_and_broken() -> None:
        await asyncio.sleep(0.02)
        raise KeyError("missing")

    asked = Asked("turn_start", broken=slow_and_broken)

    await asked.hooks.notify(TurnStartEvent(), CTX)

    failure = asked.failure
    assert failure.milliseconds >= 15
    assert str(failure).startswith("Plugin 'broken' failed in turn_start after ")
    assert f" ms: KeyError: 'missing' (in {__file__}, line " in str(failure)
    assert failure.stack is not None
    assert "slow_and_broken" in failure.stack
    assert failure.stack.splitlines()[1].startswith(f'  File "{__file__}"')  # pi's own frames do not come first


async def test_the_report_names_the_innermost_line_of_the_plugins_own_package(tmp_path, monkeypatch):
    (tmp_path / "acme_lib.py").write_text("def work(text):\n    return int(text)\n")
    package = tmp_path / "acme_plugin"
    package.mkdir()
    (package / "__init__.py").write_text("from acme_plugin.inner import hook\n")
    (package / "inner.py").write_text("import acme_lib\n\n\ndef hook(event):\n    acme_lib.work('x')\n")
    monkeypatch.syspath_prepend(tmp_path)
    hook = importlib.import_module("acme_plugin").hook
    asked = Asked("turn_start", acme=hook)

    await asked.hooks.notify(TurnStartEvent(), CTX)

    assert asked.failure.message.endswith(f" (in {package / 'inner.py'}, line 5)")
    assert asked.failure.stack is not None
    assert "acme_lib.py" in asked.failure.stack


def appends(event: Any) -> None:
    event.messages.append(ANSWER)


def sets_an_item(event: Any) -> None:
    event.messages[0] = ANSWER


def sets_a_field(event: Any) -> None:
    event.messages = ()


def sets_a_field_of_a_value(event: Any) -> None:
    event.messages[0].content = "clean"


@pytest.mark.parametrize("change", [appends, sets_an_item, sets_a_field, sets_a_field_of_a_value])
async def test_who_changes_an_event_in_place_reads_what_to_return_instead(change):
    asked = Asked("context", broken=change)

    await asked.hooks.call(request.context, ContextEvent(messages=(UserMessage(content="hi"),)), CTX)

    assert asked.failure.message.endswith(
        ". Events cannot be changed in place: return ContextResult(...) with the changes"
    )
    assert f"(in {__file__}, line {change.__code__.co_firstlineno + 1})" in asked.failure.message


@frozen
class Own:
    field: int = 0


def changes_its_own_value(event: Any) -> None:
    Own().field = 1  # type: ignore[misc]


def changes_its_own_tuple(event: Any) -> None:
    (1, 2).append(3)  # type: ignore[attr-defined]


@pytest.mark.parametrize("change", [changes_its_own_value, changes_its_own_tuple])
async def test_what_a_plugin_does_to_values_of_its_own_is_no_change_of_an_event(change):
    asked = Asked("context", broken=change)

    await asked.hooks.call(request.context, ContextEvent(messages=()), CTX)

    assert "in place" not in asked.failure.message


async def test_a_coroutine_that_is_closed_while_it_waits_is_closed_inside_and_nothing_is_reported():
    closed: list[bool] = []

    async def waits(event: Any) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    asked = Asked("turn_start", some=waits)
    call = asked.hooks.notify(TurnStartEvent(), CTX)
    call.send(None)

    call.close()

    assert closed == [True]
    assert asked.failures == []
    asked.hooks.close()


async def test_a_coroutine_that_ignores_being_closed_does_not_keep_its_caller_from_closing():
    async def stays(event: Any) -> None:
        while True:
            with suppress(GeneratorExit):
                await asyncio.sleep(60)

    asked = Asked("turn_start", some=stays)
    call = asked.hooks.notify(TurnStartEvent(), CTX)
    call.send(None)

    call.close()

    assert asked.failures == []
    asked.hooks.close()


@pytest.mark.parametrize("is_async", [False, True], ids=["def", "async def"])
async def test_ctrl_c_passes(is_async):
    async def is_interrupted_async(event: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    def is_interrupted(event: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    asked = Asked("turn_start", some=is_interrupted_async if is_async else is_interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            await asked.hooks.notify(TurnStartEvent(), CTX)
    finally:
        signal.signal(signal.SIGINT, before)

    assert asked.failures == []


@pytest.mark.parametrize("is_async", [False, True], ids=["def", "async def"])
async def test_a_keyboard_interrupt_that_a_plugin_raises_is_its_failure(is_async):
    asked = Asked("turn_start", broken=raising(KeyboardInterrupt(), is_async=is_async))

    await asked.hooks.notify(TurnStartEvent(), CTX)

    assert [failure.plugin for failure in asked.failures] == ["broken"]


async def test_a_cancellation_that_leaks_out_of_a_plugin_is_its_fault():
    async def awaits_what_it_cancelled() -> None:
        work = asyncio.create_task(asyncio.sleep(60))
        work.cancel()
        await work

    asked = Asked("turn_start", leaky=awaits_what_it_cancelled)

    await asked.hooks.notify(TurnStartEvent(), CTX)

    assert asked.failure.kind == "raised"
    assert "CancelledError" in asked.failure.message


# Wrong answers

PAIRS: dict[str, tuple[Any, Any]] = {
    "tool_call": (tools.tool_call, CALL),
    "before_model_request": (request.before_model_request, sample_event("before_model_request")),
    "user_bash": (tools.user_bash, UserBashEvent(command="ls", exclude_from_context=False, cwd="/")),
    "tool_result": (tools.tool_result, ToolResultEvent(tool_call_id="1", tool_name="ls", input={}, content=())),
    "context": (request.context, ContextEvent(messages=())),
    "message_end": (agent.message_end, MessageEndEvent(message=UserMessage(content="hi"))),
    "input": (agent.input, InputEvent(text="hi")),
    "before_agent_start": (agent.before_agent_start, BeforeAgentStartEvent(prompt="hi")),
    "turn_end": (agent.turn_end, TurnEndEvent(message=ANSWER)),
    "agent_before_settle": (agent.agent_before_settle, AgentBeforeSettleEvent(outcome="completed")),
}
STARTING = ChildEnvironmentEvent(env={"PATH": "/bin"}, purpose="exec", command="ls")
REFUSING = ("before_model_request", "tool_call", "user_bash", "child_environment", "session_before_append")


class Opaque:
    def __repr__(self) -> str:
        raise ValueError


@for_each("answer", [True, "no", {"block": True}, Opaque(), ["x" * 1000] * 1000])
@for_each("hook", PAIRS)
async def test_an_answer_of_a_wrong_type_is_a_failure(hook, answer):
    spec, event = PAIRS[hook]
    asked = Asked(hook, broken=lambda: answer)

    if hook in REFUSING:
        with pytest.raises(HookRefused):
            await asked.hooks.call(spec, event, CTX)
    else:
        assert await asked.hooks.call(spec, event, CTX) is None

    assert (asked.failure.plugin, asked.failure.hook, asked.failure.kind) == ("broken", hook, "answer")
    assert "which is neither None nor" in asked.failure.message
    assert f" (in {__file__}, line " in asked.failure.message
    assert len(asked.failure.message) < 400


@for_each(
    ("hook", "answer"),
    [
        ("tool_call", ToolCallResult(input=["ls"])),  # type: ignore[arg-type]
        ("tool_call", ToolCallResult(block=True, reason=7)),  # type: ignore[arg-type]
        ("tool_result", ToolResultResult(content=["text"])),  # type: ignore[list-item]
        ("context", ContextResult(messages=["text"])),  # type: ignore[list-item]
        ("message_end", MessageEndResult(message=ANSWER)),
        ("input", InputResult(text=7)),  # type: ignore[arg-type]
        ("before_agent_start", BeforeAgentStartResult(messages=["text"])),  # type: ignore[list-item]
        ("before_agent_start", BeforeAgentStartResult(system_prompt=7)),  # type: ignore[arg-type]
        ("turn_end", TurnEndResult(entries=["text"])),  # type: ignore[list-item]
        ("agent_before_settle", AgentBeforeSettleResult(entries=["text"])),  # type: ignore[list-item]
        ("context", ContextResult(messages=[Opaque()])),  # type: ignore[list-item]
        ("child_environment", {"A": 1}),
        ("child_environment", {"A": "\0"}),
        ("child_environment", {"A=B": "1"}),
        ("child_environment", {7: "1"}),
        ("child_environment", ["A=1"]),
    ],
)
async def test_an_answer_with_wrong_values_inside_is_a_failure(hook, answer):
    spec, event = {**PAIRS, "child_environment": (tools.child_environment, STARTING)}[hook]
    asked = Asked(hook, broken=lambda: answer)

    if hook in REFUSING:
        with pytest.raises(HookRefused):
            await asked.hooks.call(spec, event, CTX)
    else:
        assert await asked.hooks.call(spec, event, CTX) is None

    assert asked.failure.kind == "answer"


async def test_a_wrong_answer_is_blamed_with_its_time():
    async def slow() -> str:
        await asyncio.sleep(0.02)
        return "yes"

    asked = Asked("input", broken=slow)

    await asked.hooks.call(agent.input, InputEvent(text="hi"), CTX)

    assert asked.failure.milliseconds >= 15


# Failures that refuse


async def test_a_guard_that_crashes_does_not_open_the_gate():
    seen: list[Any] = []
    asked = Asked("tool_call", guard=raising(ValueError("x")), later=seen.append)

    with pytest.raises(HookRefused) as refused:
        await asked.hooks.call(tools.tool_call, CALL, CTX)

    assert str(refused.value) == (
        "Extension failed, blocking execution: plugin 'guard' failed in tool_call. Disable it with --disable guard"
    )
    assert seen == []
    assert asked.failure.kind == "raised"


async def test_a_refusal_that_came_before_the_crash_counts():
    asked = Asked("tool_call", wall=lambda: ToolCallResult(block=True, reason="no"), guard=raising(ValueError("x")))

    answer = await asked.hooks.call(tools.tool_call, CALL, CTX)

    assert answer is not None
    assert answer.reason == "no"
    assert asked.failures == []


def test_only_guards_refuse_by_failing():
    from pi_hookspecs import OnFailure, answers_of

    refusing = {
        name
        for name, spec in all_hookspecs().items()
        if (declared := answers_of(spec)) is not None and declared.on_failure is OnFailure.REFUSE
    }

    assert refusing == set(REFUSING)


# Quarantine


async def test_three_failures_in_a_row_end_the_asking_with_a_notice():
    asked = Asked("turn_start", broken=raising(ValueError("x")))

    for _ in range(5):
        await asked.hooks.notify(TurnStartEvent(), CTX)

    assert [failure.quarantined for failure in asked.failures] == [False, False, True]
    assert str(asked.failures[2]).endswith(
        "). It is no longer called in this session; disable it with --disable broken"
    )
    assert not asked.hooks.listens("turn_start")


async def test_three_wrong_answers_in_a_row_end_the_asking():
    asked = Asked("input", broken=lambda: "text")

    for _ in range(5):
        await asked.hooks.call(agent.input, InputEvent(text="hi"), CTX)

    assert [failure.quarantined for failure in asked.failures] == [False, False, True]


async def test_a_success_in_between_starts_the_count_anew():
    outcomes = iter([ValueError(), ValueError(), None, ValueError(), ValueError(), None, ValueError()])

    def moody() -> None:
        if (error := next(outcomes)) is not None:
            raise error

    asked = Asked("turn_start", moody=moody)

    for _ in range(7):
        await asked.hooks.notify(TurnStartEvent(), CTX)

    assert len(asked.failures) == 5
    assert not any(failure.quarantined for failure in asked.failures)
    assert asked.hooks.listens("turn_start")


async def test_quarantine_lasts_when_plugins_come_and_go():
    asked = Asked("turn_start", broken=raising(ValueError("x")))
    for _ in range(3):
        await asked.hooks.notify(TurnStartEvent(), CTX)

    asked.hooks.add("other", "turn_start", lambda event: None)
    asked.manager.register(SimpleNamespace(turn_start=hookimpl(lambda event: None)), "third")
    asked.hooks.compile()

    assert [each.plugin for each in asked.hooks.implementations("turn_start")] == ["third", "other"]


async def test_quarantine_takes_one_implementation_and_leaves_the_plugins_others():
    asked = Asked("turn_start", broken=raising(ValueError("x")))
    asked.hooks.add("broken", "turn_start", lambda event: None)

    for _ in range(3):
        await asked.hooks.notify(TurnStartEvent(), CTX)

    assert len(asked.hooks.implementations("turn_start")) == 1


async def test_a_guard_in_quarantine_is_not_asked_and_keeps_refusing():
    calls: list[int] = []

    def guard() -> None:
        calls.append(1)
        raise ValueError

    asked = Asked("tool_call", guard=guard)

    reasons = []
    for _ in range(5):
        with pytest.raises(HookRefused) as refused:
            await asked.hooks.call(tools.tool_call, CALL, CTX)
        reasons.append(str(refused.value))

    assert len(calls) == 3
    assert len(asked.failures) == 3
    assert "It refuses everything from now on without being called" in str(asked.failures[2])
    assert reasons[4] == (
        "Extension failed, blocking execution: plugin 'guard' is no longer called because it failed in tool_call."
        " Disable it with --disable guard"
    )


async def test_a_run_of_handlers_goes_on_when_one_of_them_is_taken_away_meanwhile():
    asked = Asked("turn_start")
    seen: list[str] = []
    remove: list[Any] = []

    def first(event: Any) -> None:
        seen.append("first")
        remove[0]()

    remove.append(asked.hooks.add("a", "turn_start", first))
    asked.hooks.add("b", "turn_start", lambda event: seen.append("second"))

    await asked.hooks.notify(TurnStartEvent(), CTX)
    await asked.hooks.notify(TurnStartEvent(), CTX)

    assert seen == ["first", "second", "second"]


def test_an_error_for_users_is_reported_without_the_name_of_its_class():
    from pi_core.agent.safe_text import summary_and_traceback

    class Unusable(Exception):
        arose_elsewhere = True

    assert summary_and_traceback(Unusable("Install Node.js"))[0] == "Install Node.js"
    assert summary_and_traceback(ValueError("seven"))[0].startswith("ValueError: seven")
