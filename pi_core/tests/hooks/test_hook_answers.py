"""How the answers of several implementations combine, over the specifications as they are."""

from __future__ import annotations

from inspect import iscoroutinefunction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
import pytest

import pi_hookspecs
from pi_core.hooks.dispatcher import HookDispatcher
from pi_core.host.plugin_manager import PluginManager
from pi_hookspecs import (
    AgentBeforeSettleEvent,
    AgentBeforeSettleResult,
    AssistantMessage,
    BashExecutionMessage,
    BeforeAgentStartEvent,
    BeforeAgentStartResult,
    BeforeProviderRequestEvent,
    Compaction,
    ContextEvent,
    ContextResult,
    CustomMessage,
    InputEvent,
    InputResult,
    MessageEndEvent,
    MessageEndResult,
    NewEntry,
    ResourcesDiscoverEvent,
    ResourcesDiscoverResult,
    Rule,
    SessionBeforeCompactEvent,
    SessionBeforeCompactResult,
    SessionBeforeForkEvent,
    SessionBeforeForkResult,
    SessionBeforeTreeEvent,
    SessionBeforeTreeResult,
    TextContent,
    ToolCallEvent,
    ToolCallResult,
    ToolResult,
    ToolResultEvent,
    ToolResultResult,
    TurnStartEvent,
    UnknownName,
    UserBashEvent,
    UserBashResult,
    UserMessage,
    answers_of,
    hookimpl,
)
from pi_hookspecs.specs import agent, all_hookspecs, request, session, tools
from pi_testing import for_each

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookFailure

EVENT_HOOKS = {name: spec for name, spec in all_hookspecs().items() if answers_of(spec) is not None}

CTX: Any = SimpleNamespace(signal=None)


def plugin(hook: str, function: Any, **options: Any) -> Any:
    """A plugin object that implements one hook with a function."""
    function.__name__ = hook
    return SimpleNamespace(**{hook: hookimpl(**options)(function)})


def plugin_that_answers(hook: str, *answers: Any, seen: list[Any] | None = None) -> Any:
    """A plugin that gives these answers, one per call, the last one for ever."""
    remaining = list(answers)

    async def implementation(event: Any) -> Any:
        if seen is not None:
            seen.append(event)
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    return plugin(hook, implementation)


class Asked:
    """A dispatcher over plugins, named a, b, c ... in load order, and what it reported."""

    def __init__(self, *plugins: Any) -> None:
        self.failures: list[HookFailure] = []
        manager = PluginManager(lambda hook, message: pytest.fail(f"{hook}: {message}"))
        for name, each in zip("abcdefgh", plugins, strict=False):
            manager.register(each, name)
        self.hooks = HookDispatcher(manager, report=self.failures.append)


def event_of(spec: Any) -> Any:
    """An event of the class that a specification names, its required fields filled with whatever."""
    event_class = getattr(pi_hookspecs, spec.__annotations__["event"])
    required = [field.name for field in attrs.fields(event_class) if field.default is attrs.NOTHING]
    return event_class(**dict.fromkeys(required, "-"))


# Every event hook


@for_each("name", EVENT_HOOKS)
@for_each("taken", [("event", "ctx"), ("event",), ("ctx",), (), ("ctx", "event")])
@for_each("is_async", [False, True])
async def test_an_implementation_may_be_sync_or_async_and_takes_what_it_names(name, taken, is_async):
    if is_async and not iscoroutinefunction(EVENT_HOOKS[name]):
        return  # called where nothing can be awaited
    got: list[dict[str, Any]] = []
    text = f"{'async ' if is_async else ''}def {name}({', '.join(taken)}): got.append(dict(locals()))"
    scope: dict[str, Any] = {"got": got}
    exec(text, scope)  # noqa: S102 - one function per signature, as a plugin's author writes it
    event = event_of(EVENT_HOOKS[name])
    asked = Asked(plugin(name, scope[name]))

    answer = await asked.hooks.call(EVENT_HOOKS[name], event, CTX)

    assert iscoroutinefunction(scope[name]) is is_async
    assert answer is None
    assert got == [{key: {"event": event, "ctx": CTX}[key] for key in taken}]
    assert asked.failures == []


@for_each("name", EVENT_HOOKS)
async def test_a_hook_without_implementations_has_no_answer(name):
    asked = Asked()

    assert not asked.hooks.listens(name)
    assert await asked.hooks.call(EVENT_HOOKS[name], event_of(EVENT_HOOKS[name]), CTX) is None


@for_each("name", EVENT_HOOKS)
def test_every_spec_declares_a_combination_that_is_dispatched(name):
    declared = answers_of(EVENT_HOOKS[name])

    assert declared is not None
    if declared.whole is None:
        result = getattr(pi_hookspecs, EVENT_HOOKS[name].__annotations__["return"].split(" ")[0])
        assert declared.fields
        assert set(declared.fields) <= {field.name for field in attrs.fields(result)}
    else:
        assert declared.whole in (Rule.NOTIFY, Rule.FIRST, Rule.PIPE)
        assert (declared.into is not None) is (declared.whole is Rule.PIPE)


async def test_an_awaitable_of_any_kind_is_awaited():
    class Later:
        def __await__(self):
            yield from ()
            return ToolCallResult(block=True, reason="later")

    asked = Asked()
    asked.hooks.add("late", "tool_call", Later)

    answer = await asked.hooks.call(tools.tool_call, ToolCallEvent(tool_call_id="1", tool_name="ls", input={}), CTX)

    assert answer is not None
    assert answer.reason == "later"


def test_an_unknown_event_name_is_reported_with_the_nearest():
    asked = Asked()

    with pytest.raises(UnknownName, match=r"Unknown event: tool_cal\. Did you mean tool_call"):
        asked.hooks.implementations("tool_cal")


# notify


async def test_notify_calls_every_plugin_and_ignores_answers():
    seen: list[Any] = []
    event = TurnStartEvent(turn_index=3)
    asked = Asked(*(plugin_that_answers("turn_start", answer, seen=seen) for answer in (17, "text", None)))

    await asked.hooks.notify(event, CTX)

    assert seen == [event, event, event]
    assert asked.failures == []


# collect


async def test_collect_joins_the_answers_in_order():
    asked = Asked(
        plugin_that_answers("resources_discover", ResourcesDiscoverResult(skill_paths=["x"], theme_paths=["t"])),
        plugin_that_answers("resources_discover", None),
        plugin_that_answers("resources_discover", ResourcesDiscoverResult(skill_paths=["y", "z"])),
    )

    answer = await asked.hooks.call(session.resources_discover, ResourcesDiscoverEvent(cwd="/"), CTX)

    assert answer == ResourcesDiscoverResult(skill_paths=("x", "y", "z"), theme_paths=("t",))


# first


async def test_first_takes_the_first_answer_and_asks_no_later_plugin():
    result = UserBashResult(result=BashExecutionMessage(command="ls", output="elsewhere"))
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("user_bash", None, seen=seen),
        plugin_that_answers("user_bash", result, seen=seen),
        plugin_that_answers("user_bash", UserBashResult(), seen=seen),
    )
    event = UserBashEvent(command="ls", exclude_from_context=False, cwd="/")

    answer = await asked.hooks.call(tools.user_bash, event, CTX)

    assert answer is result
    assert len(seen) == 2


async def test_first_per_field_keeps_false_as_an_answer():
    asked = Asked(
        plugin_that_answers("session_before_fork", SessionBeforeForkResult()),
        plugin_that_answers("session_before_fork", SessionBeforeForkResult(skip_conversation_restore=False)),
        plugin_that_answers("session_before_fork", SessionBeforeForkResult(skip_conversation_restore=True)),
    )

    answer = await asked.hooks.call(session.session_before_fork, SessionBeforeForkEvent(entry_id="1"), CTX)

    assert answer == SessionBeforeForkResult(skip_conversation_restore=False)


# pipe


async def test_pipe_gives_each_what_the_one_before_made_of_the_whole_answer():
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("before_provider_request", {"n": 1}, seen=seen),
        plugin_that_answers("before_provider_request", None, seen=seen),
        plugin_that_answers("before_provider_request", {"n": 2}, seen=seen),
    )

    answer = await asked.hooks.call(
        request.before_provider_request, BeforeProviderRequestEvent(payload={"n": 0}, model=None), CTX
    )

    assert answer == {"n": 2}
    assert [event.payload for event in seen] == [{"n": 0}, {"n": 1}, {"n": 1}]


async def test_pipe_takes_an_empty_answer_for_an_answer():
    asked = Asked(plugin_that_answers("before_provider_request", {}))

    answer = await asked.hooks.call(request.before_provider_request, BeforeProviderRequestEvent(payload={"n": 0}), CTX)

    assert answer == {}


async def test_messages_for_the_model_are_piped():
    first, second = UserMessage(content="one"), UserMessage(content="two")
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("context", ContextResult(messages=[second]), seen=seen),
        plugin_that_answers("context", ContextResult(), seen=seen),
    )

    answer = await asked.hooks.call(request.context, ContextEvent(messages=(first,)), CTX)

    assert answer == ContextResult(messages=(second,))
    assert [event.messages for event in seen] == [(first,), (second,)]


async def test_a_message_is_piped_and_keeps_its_role():
    message = UserMessage(content="one")
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("message_end", MessageEndResult(message=UserMessage(content="two"))),
        plugin_that_answers(
            "message_end", MessageEndResult(message=AssistantMessage(api="-", provider="-", model="-"))
        ),
        plugin_that_answers("message_end", None, seen=seen),
    )

    answer = await asked.hooks.call(agent.message_end, MessageEndEvent(message=message), CTX)

    assert answer is not None
    assert answer.message is not None
    assert answer.message.content == "two"
    assert seen[0].message is answer.message
    assert [(failure.plugin, failure.kind) for failure in asked.failures] == [("b", "answer")]


async def test_every_field_of_a_tool_result_is_piped_on_its_own():
    seen: list[Any] = []
    event = ToolResultEvent(
        tool_call_id="1", tool_name="ls", input={}, content=(TextContent("secret"),), details={"n": 1}
    )
    asked = Asked(
        plugin_that_answers("tool_result", ToolResultResult(content=[TextContent("***")])),
        plugin_that_answers("tool_result", ToolResultResult(is_error=True), seen=seen),
        plugin_that_answers("tool_result", ToolResultResult(is_error=False, details={"n": 2}), seen=seen),
    )

    answer = await asked.hooks.call(tools.tool_result, event, CTX)

    assert answer == ToolResultResult(content=(TextContent("***"),), is_error=False, details={"n": 2})
    assert [each.content for each in seen] == [(TextContent("***"),)] * 2
    assert [each.is_error for each in seen] == [False, True]
    assert event.content == (TextContent("secret"),)


# veto


async def test_veto_ends_the_asking_with_the_first_refusal():
    refusal = ToolCallResult(block=True, reason="not here", terminate=True)
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("tool_call", ToolCallResult(block=False)),
        plugin_that_answers("tool_call", refusal),
        plugin_that_answers("tool_call", ToolCallResult(block=True, reason="nor here"), seen=seen),
    )

    answer = await asked.hooks.call(tools.tool_call, ToolCallEvent(tool_call_id="1", tool_name="ls", input={}), CTX)

    assert answer is refusal
    assert seen == []


async def test_a_refusal_counts_more_than_a_result_that_was_given_before_it():
    asked = Asked(
        plugin_that_answers("tool_call", ToolCallResult(result=ToolResult.text("first"))),
        plugin_that_answers("tool_call", ToolCallResult(result=ToolResult.text("second"))),
    )
    refusal = ToolCallResult(block=True, reason="no")
    guarded = Asked(
        plugin_that_answers("tool_call", ToolCallResult(result=ToolResult.text("first"))),
        plugin_that_answers("tool_call", refusal),
    )
    event = ToolCallEvent(tool_call_id="1", tool_name="ls", input={})

    assert (await asked.hooks.call(tools.tool_call, event, CTX)).result == ToolResult.text("first")
    assert await guarded.hooks.call(tools.tool_call, event, CTX) is refusal


async def test_changed_arguments_reach_the_next_guard():
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("tool_call", ToolCallResult(input={"path": "/safe"})),
        plugin_that_answers("tool_call", None, seen=seen),
    )

    answer = await asked.hooks.call(
        tools.tool_call, ToolCallEvent(tool_call_id="1", tool_name="ls", input={"path": "/"}), CTX
    )

    assert answer == ToolCallResult(input={"path": "/safe"})
    assert seen[0].input == {"path": "/safe"}


async def test_a_cancel_wins_over_a_compaction_that_was_offered_before():
    compaction = Compaction(summary="s", first_kept_entry_id="1", tokens_before=1)
    offered = plugin_that_answers("session_before_compact", SessionBeforeCompactResult(compaction=compaction))
    cancels = plugin_that_answers("session_before_compact", SessionBeforeCompactResult(cancel=True))
    event = SessionBeforeCompactEvent(preparation=None)  # type: ignore[arg-type]

    alone = await Asked(offered).hooks.call(session.session_before_compact, event, CTX)
    both = await Asked(offered, cancels).hooks.call(session.session_before_compact, event, CTX)

    assert alone == SessionBeforeCompactResult(compaction=compaction)
    assert both == SessionBeforeCompactResult(cancel=True)


# several rules in one answer


async def test_input_is_piped_until_a_plugin_handles_it():
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("input", InputResult(text="hello")),
        plugin_that_answers("input", InputResult(handled=True), seen=seen),
        plugin_that_answers("input", InputResult(text="never"), seen=seen),
    )

    answer = await asked.hooks.call(agent.input, InputEvent(text="hi"), CTX)

    assert answer is not None
    assert answer.handled
    assert [event.text for event in seen] == ["hello"]


async def test_messages_are_collected_while_the_system_prompt_is_piped():
    one, two = (CustomMessage(custom_type="note", content=text) for text in ("one", "two"))
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers("before_agent_start", BeforeAgentStartResult(messages=[one], system_prompt="A")),
        plugin_that_answers("before_agent_start", BeforeAgentStartResult(messages=[two]), seen=seen),
    )

    answer = await asked.hooks.call(
        agent.before_agent_start, BeforeAgentStartEvent(prompt="hi", system_prompt="-"), CTX
    )

    assert answer == BeforeAgentStartResult(messages=(one, two), system_prompt="A")
    assert seen[0].system_prompt == "A"


async def test_entries_are_collected_and_the_first_request_to_continue_counts():
    entries = [NewEntry(custom_type=text) for text in "abc"]
    asked = Asked(
        plugin_that_answers("agent_before_settle", AgentBeforeSettleResult(entries=entries[:1])),
        plugin_that_answers("agent_before_settle", AgentBeforeSettleResult(continue_=False)),
        plugin_that_answers("agent_before_settle", AgentBeforeSettleResult(entries=entries[1:], continue_=True)),
    )

    answer = await asked.hooks.call(agent.agent_before_settle, AgentBeforeSettleEvent(outcome="completed"), CTX)

    assert answer == AgentBeforeSettleResult(entries=tuple(entries), continue_=False)


async def test_a_change_of_branch_mixes_first_and_pipe():
    seen: list[Any] = []
    asked = Asked(
        plugin_that_answers(
            "session_before_tree", SessionBeforeTreeResult(custom_instructions="short", label="x", summary="one")
        ),
        plugin_that_answers("session_before_tree", SessionBeforeTreeResult(label="y", summary="two"), seen=seen),
    )
    event = SessionBeforeTreeEvent(target_id="1", old_leaf_id="2", common_ancestor_id=None)

    answer = await asked.hooks.call(session.session_before_tree, event, CTX)

    assert answer == SessionBeforeTreeResult(custom_instructions="short", label="y", summary="one")
    assert (seen[0].custom_instructions, seen[0].label) == ("short", "x")


# handlers that a plugin adds at run time


@for_each(
    "handler",
    [
        lambda event, ctx: got([event, ctx]),
        lambda ctx, event: got([event, ctx]),
        lambda e, c: got([e, c]),
        lambda *both: got([*both]),
        lambda event, ctx, again=False: got([event, ctx]),
    ],
)
async def test_a_handler_gets_event_and_ctx_by_name_or_position(handler):
    asked = Asked()
    event = ToolCallEvent(tool_call_id="1", tool_name="ls", input={})

    asked.hooks.add("late", "tool_call", handler)
    answer = await asked.hooks.call(tools.tool_call, event, CTX)

    assert answer == ToolCallResult(input={"seen": [event, CTX]})
    assert asked.failures == []


def got(arguments: list[Any]) -> ToolCallResult:
    return ToolCallResult(input={"seen": arguments})


async def test_a_handler_is_taken_away_once_and_for_all():
    asked = Asked()
    seen: list[Any] = []

    remove = asked.hooks.add("late", "turn_start", seen.append)
    await asked.hooks.notify(TurnStartEvent(), CTX)
    remove()
    remove()
    await asked.hooks.notify(TurnStartEvent(), CTX)

    assert len(seen) == 1
    assert not asked.hooks.listens("turn_start")


@pytest.mark.parametrize("handler", [lambda a, b, c: None, lambda *, event: None, "text"], ids=["3", "keyword", "str"])
def test_a_handler_that_cannot_be_called_is_refused_where_it_was_written(handler):
    asked = Asked()

    with pytest.raises(TypeError):
        asked.hooks.add("late", "turn_start", handler)

    assert not asked.hooks.listens("turn_start")


def test_a_handler_for_an_unknown_event_is_refused_with_the_nearest_name():
    asked = Asked()

    with pytest.raises(UnknownName, match="turn_start"):
        asked.hooks.add("late", "turn_strat", lambda event: None)
