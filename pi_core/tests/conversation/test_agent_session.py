"""A session's prompt from text to settled, with plugins on every step."""

from __future__ import annotations

import asyncio
import time

import pytest
from attrs import evolve

from pi_core import PluginHost, Settings, create_agent_session
from pi_hookspecs import (
    AgentBeforeSettleResult,
    AgentBusy,
    BeforeAgentStartResult,
    Command,
    ContextResult,
    CustomMessage,
    ImageContent,
    InputResult,
    MessageEndResult,
    MissingKey,
    NewEntry,
    NoModel,
    PiContext,
    PiError,
    ProviderInfo,
    RetryDecision,
    TextContent,
    Tool,
    ToolCallResult,
    ToolContext,
    ToolResult,
    ToolResultResult,
    TurnEndResult,
    UserError,
    UserMessage,
    hookimpl,
    text_of,
)
from pi_testing import PNG, error, stall, text, tool_call

BUSY = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."

RUN_HOOKS = (
    "session_start session_shutdown input before_agent_start agent_start agent_end turn_start turn_end message_start"
    " message_end context before_provider_request after_provider_response tool_call tool_result tool_execution_start"
    " tool_execution_end agent_before_settle agent_settled"
).split()


class Plugin:
    """A plugin made of functions."""


def plugin(**hooks):
    made = Plugin()
    for name, function in hooks.items():
        setattr(made, name, hookimpl(function))
    return made


def echo(answer="done"):
    async def execute(call_id, params, signal, update, ctx):
        return answer(params, ctx) if callable(answer) else ToolResult.text(answer)

    return Tool(name="echo", description="Echo", parameters={"type": "object", "properties": {}}, execute=execute)


def roles(messages):
    return [message.role for message in messages]


# The way of a prompt


async def test_the_last_answer_is_returned(session_of, script):
    session = session_of()
    script.turn(text("Hello"))
    answer = await session.prompt("hi")

    assert answer.text == "Hello"
    assert session.last_answer() is answer
    assert roles(session.messages) == ["user", "assistant"]


async def test_hooks_run_in_the_order_of_the_contract(session_of, script, recorder):
    order = []

    def note(name):
        def hook(event):
            order.append(name)

        return hook

    session = session_of(plugin(**{name: note(name) for name in RUN_HOOKS}), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("done"))
    async with session:
        await session.prompt("go")

    request = ["context", "before_provider_request", "after_provider_response", "message_start", "message_end"]
    assert order == [
        "session_start",
        "input",
        "before_agent_start",
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        *request,
        "tool_execution_start",
        "tool_call",
        "tool_result",
        "tool_execution_end",
        "message_start",
        "message_end",
        "turn_end",
        "turn_start",
        *request,
        "turn_end",
        "agent_end",
        "agent_before_settle",
        "agent_settled",
        "session_shutdown",
    ]


async def test_subscribers_receive_the_agents_events_and_one_settled_at_the_end(session_of, script, recorder):
    session = session_of()
    script.turn(text("Hello"))
    await session.prompt("hi")

    assert recorder.types[:2] == ["session_start", "agent_start"]
    assert recorder.types[-2:] == ["agent_end", "agent_settled"]
    assert recorder.types.count("agent_settled") == 1
    assert not recorder.events[-1].aborted


async def test_a_subscriber_may_ask_for_types_and_for_the_signal(session_of, script):
    deltas, ends = [], []
    session = session_of()
    session.subscribe(lambda event: deltas.append(event.assistant_message_event.delta), "text_delta")
    unsubscribe = session.subscribe(lambda event, signal: ends.append((event, signal)), "turn_end", "agent_settled")
    script.turn(text("Hello", 2)).turn(text("again"))
    await session.prompt("hi")
    unsubscribe()
    await session.prompt("hi")

    assert deltas == ["He", "llo", "again"]
    assert [event.type for event, _ in ends] == ["turn_end", "agent_settled"]
    assert ends[0][1].aborted is False


async def test_every_message_is_stored_as_it_ends(session_of, script):
    session = session_of(tools=[echo()])
    script.turn(tool_call("echo")).turn(text("done"))
    await session.prompt("go")

    entries = tuple(session.session_manager.get_branch())
    assert [entry.type for entry in entries[:2]] == ["model_change", "thinking_level_change"]
    assert [entry.message.role for entry in entries[2:]] == ["system", "user", "assistant", "toolResult", "assistant"]
    assert [entry.parent_id for entry in entries] == [None, *(entry.id for entry in entries[:-1])]


async def test_messages_can_be_prompted_as_they_are(session_of, script):
    received = []
    session = session_of(plugin(input=lambda event: received.append(event.text)))
    script.turn(text("one")).turn(text("two"))
    await session.prompt(UserMessage(content="/not a command"))
    await session.prompt([UserMessage(content="a"), CustomMessage(custom_type="note", content="b")])

    assert not received
    assert roles(session.messages) == ["user", "assistant", "user", "custom", "assistant"]


async def test_the_first_prompt_starts_a_session_that_was_not_entered(session_of, script):
    started = []
    session = session_of(plugin(session_start=lambda event: started.append(event.reason)))
    script.turn(text("one")).turn(text("two"))
    await session.prompt("a")
    await session.prompt("b")

    assert started == ["startup"]


async def test_a_prompt_waits_until_every_plugin_is_ready(session_of, script):
    order = []

    async def get_ready(event):
        await asyncio.sleep(0.001)
        order.append("ready")

    session = session_of(plugin(session_start=get_ready, input=lambda event: order.append(event.text)))
    script.turn(text("1"))
    await asyncio.gather(session.prompt("a"), session.prompt("b"), return_exceptions=True)

    assert order == ["ready", "a", "b"]


async def test_a_session_that_has_ended_takes_no_prompt(session_of):
    session = session_of()
    async with session:
        pass
    with pytest.raises(PiError, match="This session has ended"):
        await session.prompt("hi")


async def test_ending_twice_emits_once(session_of):
    ended = []
    session = session_of(plugin(session_shutdown=lambda event: ended.append(event.reason)))
    await session.start()
    await session.dispose()
    await session.dispose()

    assert ended == ["quit"]


# Input


async def test_input_may_be_changed_by_one_plugin_after_another(session_of, script):
    session = session_of(
        plugin(input=lambda event: InputResult(text=event.text + " b")),
        plugin(input=lambda event: InputResult(text=event.text + " c", images=[ImageContent(PNG, "image/png")])),
    )
    script.turn(text("ok"))
    await session.prompt("a")

    assert session.messages[0].content == (TextContent("a b c"), ImageContent(PNG, "image/png"))


async def test_input_that_a_plugin_dealt_with_asks_no_model(session_of, script, recorder):
    session = session_of(plugin(input=lambda event: InputResult(handled=True)))

    assert await session.prompt("ping") is None
    assert not script.requests
    assert recorder.types == ["session_start"]


async def test_input_says_where_it_comes_from(session_of, script):
    received = []
    session = session_of(plugin(input=lambda event: received.append((event.source, event.streaming_behavior))))
    script.turn(text("ok"))
    await session.prompt("a", source="rpc", streaming_behavior="steer")

    assert received == [("rpc", "steer")]


# Commands


async def test_a_command_runs_instead_of_a_prompt(session_of, script):
    ran = []

    async def todo(args, ctx):
        ran.append((args, ctx.cwd))

    commands = [Command(name="todo", handler=todo), Command(name="plain", handler=lambda args, ctx: ran.append(args))]
    session = session_of(plugin(register_commands=lambda: commands))
    assert await session.prompt("/todo  buy milk ") is None
    assert await session.prompt("/plain") is None

    assert ran == [("buy milk", session.cwd), ""]
    assert not script.requests


async def test_what_is_not_a_command_is_sent_to_the_model(session_of, script):
    session = session_of(plugin(register_commands=lambda: [Command(name="todo", handler=print)]))
    script.turn(text("ok")).turn(text("ok")).turn(text("ok"))
    await session.prompt("/usr/bin/env: what is it?")
    await session.prompt("/")
    await session.prompt("/todo", expand_prompt_templates=False)

    assert [message.text for message in session.messages if message.role == "user"] == [
        "/usr/bin/env: what is it?",
        "/",
        "/todo",
    ]


@pytest.mark.parametrize("trouble", [ValueError("no list"), SystemExit(3)])
async def test_a_command_that_raises_is_reported_and_nothing_else_happens(session_of, recorder, trouble):
    async def broken(args, ctx):
        raise trouble

    session = session_of(plugin(register_commands=lambda: [Command(name="todo", handler=broken)]))
    assert await session.prompt("/todo") is None

    failure = recorder.of("extension_error")[0]
    assert (failure.extension_path, failure.event) == ("plugin-0", "command")
    assert "/todo" in failure.error
    assert str(trouble) in failure.error


# Before the run


async def test_plugins_add_messages_and_change_the_prompt_of_one_run(session_of, script):
    def first(event):
        note = CustomMessage(custom_type="note", content="remember the milk")
        return BeforeAgentStartResult(messages=[note], system_prompt=event.system_prompt + "\nBe kind.")

    def second(event):
        if event.prompt == "one":
            return BeforeAgentStartResult(system_prompt=event.system_prompt + "\nBe brief.")
        return None

    session = session_of(plugin(before_agent_start=first), plugin(before_agent_start=second))
    script.turn(text("1")).turn(text("2"))
    await session.prompt("one")
    await session.prompt("two")

    assert roles(session.messages) == ["user", "custom", "assistant"] * 2
    assert [message.text for message in script.requests[0].messages] == ["one", "remember the milk"]
    assert script.requests[0].system_prompt.endswith("\nBe kind.\nBe brief.")
    assert script.requests[1].system_prompt.endswith("\nBe kind.")


async def test_without_a_model_a_prompt_says_what_to_do(session_of):
    session = session_of()
    session.agent.state.model = None

    with pytest.raises(NoModel, match="--model PROVIDER/ID"):
        await session.prompt("hi")
    assert session.messages == []


async def test_without_a_key_a_prompt_says_which_is_missing(session_of, script):
    locked = ProviderInfo(id="locked", name="Locked", api="scripted", key_variables=("LOCKED_API_KEY",))
    session = session_of(
        plugin(register_models=lambda: [locked]), model=evolve(script.model, provider="locked"), environ={}
    )

    with pytest.raises(MissingKey, match=r"No API key found for locked. Set LOCKED_API_KEY."):
        await session.prompt("hi")
    assert not script.requests
    assert not session.is_streaming


async def test_the_key_goes_with_the_request(session_of, script):
    locked = ProviderInfo(id="locked", name="Locked", api="scripted", key_variables=("LOCKED_API_KEY",))
    session = session_of(
        plugin(register_models=lambda: [locked]),
        model=evolve(script.model, provider="locked"),
        environ={"LOCKED_API_KEY": "secret"},
    )
    script.turn(text("ok"))
    await session.prompt("hi")

    assert script.requests[0].options.api_key == "secret"
    assert "secret" not in repr(script.requests[0].options)


async def test_an_api_without_a_provider_is_a_failed_answer(session_of, script):
    session = session_of(model=evolve(script.model, api="morse"))
    answer = await session.prompt("hi")

    assert answer.stop_reason == "error"
    assert "morse" in answer.error_message


# Requests


async def test_the_context_hook_changes_one_request_and_not_the_transcript(session_of, script):
    def only_last(event):
        return ContextResult(messages=event.messages[-1:])

    session = session_of(plugin(context=only_last))
    script.turn(text("1")).turn(text("2"))
    await session.prompt("one")
    await session.prompt("two")

    assert [message.text for message in script.requests[1].messages] == ["two"]
    assert len(session.messages) == 4


async def test_a_context_hook_that_damages_what_it_got_does_not_reach_the_transcript(session_of, script):
    def damage(event):
        for message in event.messages:
            if message.role == "assistant":
                for call in message.tool_calls:
                    call.arguments.clear()
            if message.role == "toolResult":
                message.details.clear()

    tool = echo(lambda params, ctx: ToolResult.text("x", details={"kept": True}))
    session = session_of(plugin(context=damage), tools=[tool])
    script.turn(tool_call("echo", n=1)).turn(text("done"))
    await session.prompt("go")

    assert session.messages[1].tool_calls[0].arguments == {"n": 1}
    assert session.messages[2].details == {"kept": True}


async def test_damage_done_in_one_request_is_not_seen_in_the_next(session_of, script):
    seen = []

    def damage(event):
        arguments = [call.arguments for message in event.messages for call in getattr(message, "tool_calls", ())]
        seen.append([dict(each) for each in arguments])
        for each in arguments:
            each.clear()

    session = session_of(plugin(context=damage), tools=[echo()])
    script.turn(tool_call("echo", n=1)).turn(tool_call("echo", n=2)).turn(text("done"))
    await session.prompt("go")

    assert seen == [[], [{"n": 1}], [{"n": 1}, {"n": 2}]]


async def test_details_that_cannot_be_copied_do_no_harm(session_of, script):
    tool = echo(lambda params, ctx: ToolResult.text("x", details={"lock": asyncio.Lock(), "gen": (n for n in ())}))
    session = session_of(plugin(context=lambda event: None, tool_result=lambda event: None), tools=[tool])
    script.turn(tool_call("echo")).turn(text("done"))

    assert (await session.prompt("go")).text == "done"


async def test_the_payload_may_be_replaced(session_of, script):
    session = session_of(
        plugin(before_provider_request=lambda event: {**event.payload, "service_tier": "flex"}),
        plugin(before_provider_request=lambda event: {**event.payload, "seen": event.payload["service_tier"]}),
    )
    script.turn(text("ok"))
    await session.prompt("hi")

    assert script.requests[0].payload["service_tier"] == "flex"
    assert script.requests[0].payload["seen"] == "flex"


async def test_the_status_of_the_response_is_reported(session_of, script):
    received = []
    session = session_of(plugin(after_provider_response=lambda event: received.append(event.status)))
    script.turn(text("ok"))
    await session.prompt("hi")

    assert received == [200]


# Messages and turns


async def test_a_message_may_be_replaced_before_it_is_stored(session_of, script, recorder):
    def shout(event):
        if event.message.role == "assistant":
            return MessageEndResult(message=evolve(event.message, content=(TextContent(event.message.text.upper()),)))
        return None

    session = session_of(plugin(message_end=shout))
    script.turn(text("hello"))
    answer = await session.prompt("hi")

    assert answer.text == "HELLO"
    assert session.session_manager.get_branch()[-1].message.text == "HELLO"
    assert recorder.of("message_end")[-1].message.text == "HELLO"


async def test_a_message_of_another_role_is_refused_and_reported(session_of, script, recorder):
    session = session_of(plugin(message_end=lambda event: MessageEndResult(message=UserMessage(content="mine"))))
    script.turn(text("hello"))
    answer = await session.prompt("hi")

    assert answer.text == "hello"
    assert "returned a message of role 'user'" in recorder.of("extension_error")[0].error


async def test_the_end_of_a_turn_may_add_entries_and_cause_no_request_by_that(session_of, script):
    def remember(event):
        count = NewEntry(custom_type="count", data={"turn": event.turn_index})
        return TurnEndResult(entries=[count, NewEntry(custom_type="note", content="n")])

    session = session_of(plugin(turn_end=remember))
    script.turn(text("1")).turn(text("2"))
    await session.prompt("one")
    await session.prompt("two")

    assert len(script.requests) == 2
    assert [entry.type for entry in session.session_manager.get_branch(records=False)][2:] == [
        "message",
        "message",
        "custom",
        "custom_message",
    ] * 2
    assert [message.text for message in script.requests[1].messages] == ["one", "1", "n", "two"]


async def test_an_entry_added_between_turns_is_in_the_next_request(session_of, script, recorder):
    def remember(event):
        return TurnEndResult(entries=[NewEntry(custom_type="note", content="n")]) if event.tool_results else None

    session = session_of(plugin(turn_end=remember), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("done"))
    await session.prompt("go")

    assert roles(script.requests[1].messages) == ["user", "assistant", "toolResult", "user"]
    assert roles(session.messages) == ["user", "assistant", "toolResult", "custom", "assistant"]
    assert "ms(custom)" in recorder.outline()


async def test_the_end_of_a_turn_may_ask_for_one_more_request(session_of, script):
    session = session_of(plugin(turn_end=lambda event: TurnEndResult(continue_=event.turn_index == 0)))
    script.turn(text("1")).turn(text("2"))
    answer = await session.prompt("go")

    assert answer.text == "2"
    assert len(script.requests) == 2


async def test_turn_end_hooks_see_the_turns_messages_in_the_session(session_of, script):
    seen = []
    session = session_of(plugin(turn_end=lambda event, ctx: seen.append(len(ctx.session.branch()))), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("done"))
    await session.prompt("go")

    assert seen == [5, 6]  # model and thinking level are the first two


# Settling


async def test_the_boundary_before_settling_may_run_on(session_of, script, recorder):
    outcomes = []

    def once_more(event):
        outcomes.append((event.outcome, len(event.messages), len(event.entries)))
        if len(outcomes) == 1:
            note = NewEntry(custom_type="note", content="check again")
            return AgentBeforeSettleResult(entries=[note], continue_=True)
        return None

    session = session_of(plugin(agent_before_settle=once_more))
    script.turn(text("1")).turn(text("2"))
    answer = await session.prompt("go")

    assert answer.text == "2"
    assert outcomes == [("completed", 2, 4), ("completed", 4, 6)]
    assert [message.text for message in script.requests[1].messages] == ["go", "1", "check again"]
    assert recorder.types.count("agent_start") == 2
    assert recorder.types.count("agent_settled") == 1


async def test_an_aborted_answer_is_not_retried_whatever_the_policy_says(session_of, script, recorder):
    class Always:
        def decide(self, message, attempt, ctx):
            return RetryDecision(attempt=attempt, max_attempts=9, delay_ms=0)

    session = session_of(plugin(register_services=lambda: [Always()]))
    session.subscribe(recorder)
    script.turn(text("half"), stall())
    prompt = asyncio.create_task(session.prompt("go"))
    await script.stalled()

    await session.abort()
    answer = await prompt

    assert answer.stop_reason == "aborted"
    assert "auto_retry_start" not in recorder.types


async def test_a_failed_answer_leaves_the_context_and_stays_in_the_session(session_of, script):
    retried = []

    def retry(event):
        if event.outcome == "error":
            retried.append(event.outcome)
            return AgentBeforeSettleResult(continue_=True)
        return None

    session = session_of(plugin(agent_before_settle=retry))
    script.turn(error("overloaded")).turn(text("ok"))
    answer = await session.prompt("go")

    assert answer.text == "ok"
    assert retried == ["error"]
    assert roles(script.requests[1].messages) == ["user"]
    branch = session.session_manager.get_branch(records=False)
    assert [entry.message.role for entry in branch if entry.type == "message"] == ["user", "assistant", "assistant"]
    assert [entry.replacement for entry in branch if entry.type == "context_edit"] == [None]


async def test_what_was_queued_too_late_for_the_run_is_answered_before_the_prompt_settles(session_of, script, recorder):
    def late(event):
        if event.type == "agent_end" and len(script.requests) == 1:
            session.follow_up("and then?")

    session = session_of()
    session.subscribe(late)
    script.turn(text("1")).turn(text("2"))
    answer = await session.prompt("go")

    assert answer.text == "2"
    assert recorder.types.count("agent_settled") == 1


async def test_a_prompt_at_the_boundary_is_queued_like_one_in_the_run(session_of, script, recorder):
    async def boundary(event):
        if len(script.requests) == 1:
            with pytest.raises(AgentBusy):
                await session.prompt("now?")
            assert await session.prompt("after this", streaming_behavior="followUp") is None

    session = session_of(plugin(agent_before_settle=boundary))
    script.turn(text("1")).turn(text("2"))
    await session.prompt("go")

    assert [message.text for message in session.messages] == ["go", "1", "after this", "2"]
    assert not recorder.of("extension_error")


async def test_the_next_prompt_may_begin_on_the_settled_event(session_of, script, recorder):
    async def again(event):
        if event.type == "agent_settled" and len(script.requests) == 1:
            await session.prompt("again")

    session = session_of()
    session.subscribe(again)
    script.turn(text("1")).turn(text("2"))
    await session.prompt("go")

    assert [message.text for message in session.messages] == ["go", "1", "again", "2"]
    assert not session.is_streaming


async def test_a_prompt_that_starts_on_the_settled_event_keeps_its_abort(session_of, script):
    following = []

    def begin(event):
        if len(script.requests) == 1:
            following.append(asyncio.create_task(session.prompt("again")))

    async def until_it_is_answered(event):
        if len(script.requests) == 1:
            await script.stalled()

    session = session_of()
    session.subscribe(begin, "agent_settled")
    session.subscribe(until_it_is_answered, "agent_settled")
    script.turn(text("1")).turn(text("2"), stall())
    await session.prompt("go")

    assert session.runtime.gate.signal is not None
    await session.abort("enough")
    assert (await following[0]).stop_reason == "aborted"


async def test_settled_is_emitted_even_when_a_subscriber_failed_at_the_end(session_of, script, recorder):
    def breaks(event):
        if event.type == "agent_end":
            raise ValueError("broken front end")

    session = session_of()
    session.subscribe(breaks)
    script.turn(text("1"))
    with pytest.raises(ValueError, match="broken front end"):
        await session.prompt("go")

    assert recorder.types[-1] == "agent_settled"
    assert not session.is_streaming


async def test_waiting_for_idle_is_waiting_for_settled(session_of, script, recorder):
    session = session_of()
    script.turn(text("1"))
    prompt = asyncio.create_task(session.prompt("go"))
    await asyncio.sleep(0)
    await session.wait_for_idle()

    assert recorder.types[-1] == "agent_settled"
    await prompt


# Queueing


async def test_a_prompt_during_a_run_must_say_how_to_queue(session_of, script):
    messages = []

    async def again(event):
        if event.type == "turn_start" and not messages:
            with pytest.raises(AgentBusy) as caught:
                await session.prompt("now")
            messages.append(str(caught.value))

    session = session_of()
    session.subscribe(again)
    script.turn(text("1"))
    await session.prompt("go")

    assert messages == [BUSY]


@pytest.mark.parametrize(
    ("behavior", "conversation"),
    [("steer", ["go", "", "done", "now", "2"]), ("followUp", ["go", "", "done", "2", "now", "3"])],
)
async def test_a_queued_prompt_is_delivered_in_its_place(session_of, script, behavior, conversation):
    async def again(event):
        if event.type == "tool_execution_start":
            assert await session.prompt("now", streaming_behavior=behavior) is None

    session = session_of(tools=[echo()])
    session.subscribe(again)
    script.turn(tool_call("echo")).turn(text("2")).turn(text("3"))
    await session.prompt("go")

    assert [message.text for message in session.messages] == conversation


async def test_two_prompts_at_once_do_not_run_into_each_other(session_of, script):
    async def slow(event):
        await asyncio.sleep(0.001)

    session = session_of(plugin(before_agent_start=slow))
    script.turn(text("1"))
    first, second = await asyncio.gather(session.prompt("a"), session.prompt("b"), return_exceptions=True)

    assert first.text == "1"
    assert isinstance(second, AgentBusy)
    assert str(second) == BUSY


async def test_steering_and_follow_ups_take_text_and_images(session_of, script):
    session = session_of()
    image = ImageContent(PNG, "image/png")
    session.steer("s", [image])
    session.follow_up("f")
    assert session.has_queued_messages()
    script.turn(text("1")).turn(text("2"))
    await session.prompt("go")

    assert [message.text for message in session.messages] == ["go", "s", "1", "f", "2"]
    assert session.messages[1].content[1] is image


@pytest.mark.parametrize("blocks", [True, False])
async def test_images_are_not_sent_if_the_user_disables_them(session_of, script, blocks):
    session = session_of(settings={"images": {"blockImages": blocks}})
    image = ImageContent(PNG, "image/png")
    script.turn(text("1"))
    await session.prompt("go", images=[image, image])
    sent = script.requests[0].context.messages[0]

    assert session.messages[0].content == (TextContent("go"), image, image)
    assert [block.type for block in sent.content] == (["text", "text"] if blocks else ["text", "image", "image"])
    assert ("images.blockImages" in sent.text) is blocks


async def test_modes_come_from_the_settings(session_of, script):
    session = session_of(settings={"steeringMode": "all", "followUpMode": "all", "toolExecution": "sequential"})

    assert (session.agent.steering_mode, session.agent.follow_up_mode) == ("all", "all")
    assert session.agent.callbacks.tool_execution == "sequential"
    assert session.agent.callbacks.skips_on_steering


async def test_the_session_passes_on_to_its_agent(session_of, script):
    session = session_of()
    script.turn(text("1")).turn(text("2"))
    await session.prompt("a")
    session.agent.append_message(UserMessage(content="b"))
    answer = await session.continue_()

    assert answer.text == "2"
    assert session.state is session.agent.state
    assert session.signal is None
    session.follow_up("f")
    assert [message.text for message in session.clear_all_queues()] == ["f"]
    session.reset()
    assert session.messages == []


# Tools


async def test_a_refusal_and_its_reason_reach_the_model(session_of, script):
    def guard(event):
        return ToolCallResult(block=True, reason=f"No {event.tool_name} here.")

    session = session_of(plugin(tool_call=guard), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("ok"))
    await session.prompt("go")

    result = script.requests[1].tool_results[0]
    assert (result.text, result.is_error) == ("No echo here.", True)


async def test_a_guard_that_crashes_keeps_the_gate_shut(session_of, script, recorder):
    def guard(event):
        raise KeyError("rules")

    session = session_of(plugin(tool_call=guard), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("ok"))
    await session.prompt("go")

    result = script.requests[1].tool_results[0]
    assert result.is_error
    assert result.text.startswith("Extension failed, blocking execution: plugin 'plugin-0'")
    failure = recorder.of("extension_error")[0]
    assert (failure.extension_path, failure.event) == ("plugin-0", "tool_call")
    assert "KeyError" in failure.error


async def test_arguments_may_be_changed_in_place_and_by_answer(session_of, script):
    seen = []

    def in_place(event):
        event.input["a"] = 1

    def by_answer(event):
        return ToolCallResult(input={**event.input, "b": 2})

    def look(params, ctx):
        seen.append(params)
        return ToolResult.text("ok")

    plugins = [plugin(tool_call=in_place), plugin(tool_call=by_answer), plugin(tool_call=in_place)]
    session = session_of(*plugins, tools=[echo(look)])
    script.turn(tool_call("echo", n=0)).turn(text("ok"))
    await session.prompt("go")

    assert seen == [{"n": 0, "a": 1, "b": 2}]
    assert session.messages[1].tool_calls[0].arguments == {"n": 0}


async def test_a_result_may_be_changed_field_by_field(session_of, script):
    session = session_of(
        plugin(tool_result=lambda event: ToolResultResult(details={"by": 1})),
        plugin(tool_result=lambda event: ToolResultResult(is_error=True, content=[TextContent(str(event.details))])),
        tools=[echo()],
    )
    script.turn(tool_call("echo")).turn(text("ok"))
    await session.prompt("go")

    result = script.requests[1].tool_results[0]
    assert (result.text, result.is_error, result.details) == ("{'by': 1}", True, {"by": 1})


async def test_a_tool_gets_a_context_of_its_own(session_of, script):
    got = []

    def look(params, ctx):
        ctx.update("half")
        got.append((isinstance(ctx, ToolContext), ctx.call_id, ctx.cwd, ctx.signal.aborted, ctx.model, ctx.is_idle()))
        return ToolResult.text("ok")

    session = session_of(tools=[echo(look)])
    updates = []
    session.subscribe(updates.append, "tool_execution_update")
    script.turn(tool_call("echo", "c1")).turn(text("ok"))
    await session.prompt("go")

    assert got == [(True, "c1", session.cwd, False, script.model, False)]
    assert updates[0].partial_result.content[0].text == "half"


async def test_hooks_get_the_context_of_the_contract(session_of, script):
    got = []

    def look(event, ctx):
        got.append((isinstance(ctx, PiContext), ctx.mode, ctx.has_ui, ctx.thinking_level, ctx.signal.aborted))
        assert ctx.session.id == session.session_id
        assert ctx.context_usage().context_window == script.model.context_window

    session = session_of(plugin(turn_start=look))
    script.turn(text("ok"))
    await session.prompt("go")

    assert got == [(True, "print", False, "medium", False)]


async def test_processes_that_no_plugin_keeps_refuse_when_they_are_used(session_of):
    session = session_of()

    with pytest.raises(UserError, match="can run background processes"):
        session.ctx.processes.list()


# activate


async def test_activate_may_listen_and_stop_listening(session_of, script):
    received = []

    def activate(pi):
        @pi.on("turn_start")
        async def plain(event):
            received.append(event.type)

        def once(event, ctx):
            received.append("once")
            stop()

        stop = pi.on("agent_settled", once)

    session = session_of(plugin(activate=activate))
    script.turn(text("1")).turn(text("2"))
    await session.prompt("a")
    await session.prompt("b")

    assert received == ["turn_start", "once", "turn_start"]


async def test_a_tool_added_during_a_run_is_offered_from_the_next_request_on(session_of, script):
    def activate(pi):
        @pi.on("tool_execution_end")
        def add(event):
            pi.register_tool(evolve(echo(), name="second", prompt_snippet="The second tool"))

    session = session_of(plugin(activate=activate), tools=[echo()])
    script.turn(tool_call("echo")).turn(tool_call("second")).turn(text("ok")).turn(text("later"))
    await session.prompt("go")
    await session.prompt("again")

    assert [request.tools for request in script.requests[:2]] == [("echo",), ("second", "echo")]
    assert not script.requests[2].tool_results[0].is_error
    assert "- second: The second tool" in script.requests[3].system_prompt


async def test_a_tool_can_be_taken_away_again(session_of, script):
    taken = []

    def activate(pi):
        remove = pi.register_tool(echo())
        pi.on("agent_end", lambda event: taken.append(remove()))

    session = session_of(plugin(activate=activate))
    script.turn(text("1")).turn(text("2"))
    await session.prompt("a")
    await session.prompt("b")

    assert [request.tools for request in script.requests] == [("echo",), ()]


async def test_entries_survive_in_the_session_and_outside_the_models_context(session_of, script):
    def activate(pi):
        pi.on("agent_start", lambda event: pi.append_entry("todo", ["milk"]))

    session = session_of(plugin(activate=activate))
    script.turn(text("1"))
    await session.prompt("a")

    entry = session.session_manager.get_branch()[2]
    assert (entry.type, entry.custom_type, entry.data) == ("custom", "todo", ["milk"])
    assert roles(script.requests[0].messages) == ["user"]


@pytest.mark.parametrize("tool", ["echo", None, evolve(echo(), name="no good"), evolve(echo(), parameters={"a": 1})])
async def test_a_tool_that_could_not_be_used_is_refused_where_it_was_added(session_of, script, recorder, tool):
    session = session_of(plugin(activate=lambda pi: pi.register_tool(tool)))
    script.turn(text("1"))
    await session.prompt("a")

    failure = recorder.of("extension_error")[0]
    assert (failure.extension_path, failure.event) == ("plugin-0", "activate")
    assert script.requests[0].tools == ()


async def test_activate_that_fails_keeps_what_it_did_and_the_session_runs(session_of, script, recorder):
    received = []

    def activate(pi):
        pi.on("turn_start", lambda event: received.append(event.type))
        pi.on("no_such_event", print)

    session = session_of(plugin(activate=activate))
    script.turn(text("1"))
    await session.prompt("a")

    assert received == ["turn_start"]
    assert "no_such_event" in recorder.of("extension_error")[0].error


async def test_an_async_activate_is_reported(session_of, script, recorder):
    async def activate(pi):
        pass

    session = session_of(plugin(activate=activate))
    script.turn(text("1"))
    await session.prompt("a")

    assert "is async" in recorder.of("extension_error")[0].error


# Plugins that fail


@pytest.mark.parametrize("hook", [*RUN_HOOKS, "message_update", "tool_execution_update"])
@pytest.mark.parametrize("trouble", [ValueError("broken"), SystemExit(3)])
async def test_whatever_hook_fails_the_run_goes_on_and_ends(session_of, script, recorder, hook, trouble):
    def broken(event):
        raise trouble

    def talk(params, ctx):
        ctx.update("half")
        return ToolResult.text("all")

    session = session_of(plugin(**{hook: broken}), tools=[echo(talk)])
    script.turn(tool_call("echo")).turn(text("done"))
    async with session:
        answer = await session.prompt("go")

    assert answer.text == "done"
    assert recorder.types.count("agent_settled") == 1
    failures = recorder.of("extension_error")
    assert {(failure.extension_path, failure.event) for failure in failures} == {("plugin-0", hook)}
    assert all("plugin-0" in failure.error for failure in failures)


@pytest.mark.parametrize("hook", ["input", "before_agent_start", "context", "turn_end", "message_end", "tool_result"])
async def test_an_answer_of_a_wrong_type_is_reported_and_ignored(session_of, script, recorder, hook):
    session = session_of(plugin(**{hook: lambda event: "nonsense"}), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("done"))
    answer = await session.prompt("go")

    assert answer.text == "done"
    assert "'nonsense'" in recorder.of("extension_error")[0].error


def soon_given_up(hook):
    """Settings with a short deadline for this hook alone: a busy computer must not miss those of the registrations."""
    return {"hooks": {"specs": {hook: {"timeout": 0.05}}}}


@pytest.mark.parametrize("hook", ["input", "context", "turn_end", "agent_end", "tool_result"])
async def test_a_hook_that_waits_for_ever_is_ended_at_its_deadline(session_of, script, recorder, hook):
    async def hangs(event):
        await asyncio.Event().wait()

    session = session_of(plugin(**{hook: hangs}), settings=soon_given_up(hook), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("done"))
    answer = await session.prompt("go")

    assert answer.text == "done"
    assert recorder.of("extension_error")[0].event == hook


async def test_a_hook_that_blocks_the_loop_is_broken_off(session_of, script, recorder):
    def blocks(event):
        time.sleep(30)

    session = session_of(plugin(turn_start=blocks), settings={"hooks": {"blockTimeout": 1}})
    script.turn(text("done"))
    answer = await session.prompt("go")

    assert answer.text == "done"
    assert "blocked the event loop" in recorder.of("extension_error")[0].error


async def test_a_listener_of_failures_that_fails_itself_changes_nothing(session_of, script):
    def broken(event):
        raise ValueError("broken hook")

    async def listener(event):
        raise ValueError("broken listener")

    session = session_of(plugin(turn_start=broken))
    session.subscribe(listener, "extension_error")
    script.turn(text("done"))
    answer = await session.prompt("go")
    await session.dispose()

    assert answer.text == "done"


# Aborts


async def test_abort_returns_when_the_prompt_has_settled(session_of, script, recorder):
    session = session_of()
    script.turn(text("half"), stall())
    prompt = asyncio.create_task(session.prompt("go"))
    await script.stalled()
    session.follow_up("later")
    await session.abort()

    assert recorder.types[-1] == "agent_settled"
    assert recorder.events[-1].aborted
    assert not session.is_streaming
    answer = await prompt
    assert (answer.text, answer.stop_reason) == ("half", "aborted")
    assert session.has_queued_messages()


@pytest.mark.parametrize("hook", ["before_agent_start", "agent_start", "context", "tool_call", "turn_end", "agent_end"])
async def test_an_abort_ends_a_hook_that_waits(session_of, script, recorder, hook):
    waiting = asyncio.Event()

    async def waits(event):
        if not waiting.is_set():
            waiting.set()
            await asyncio.Event().wait()

    session = session_of(plugin(**{hook: waits}), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("done"))
    prompt = asyncio.create_task(session.prompt("go"))
    await waiting.wait()
    await session.abort("enough")
    await prompt

    assert recorder.types[-1] == "agent_settled"
    assert recorder.events[-1].aborted
    assert not recorder.of("extension_error")


async def _sends(session, how):
    if how == "prompt":
        await session.prompt("and now?", streaming_behavior="steer")
    else:
        await getattr(session, how)("and now?")


@pytest.mark.parametrize("how", ["prompt", "steer", "follow_up"])
async def test_what_is_sent_between_an_abort_and_the_end_of_its_tool_is_answered(session_of, script, how):
    begun, end = asyncio.Event(), asyncio.Event()

    async def cleans_up(call_id, args, signal, update, ctx):
        begun.set()
        await signal.wait()
        await end.wait()
        return ToolResult.text("cleaned up")

    session = session_of(
        tools=[Tool(name="slow", label="slow", description="slow", parameters={"type": "object"}, execute=cleans_up)]
    )
    script.turn(tool_call("slow")).turn(text("now this"))
    first = asyncio.create_task(session.prompt("go"))
    await begun.wait()
    session.request_abort()

    await _sends(session, how)
    end.set()
    await first
    await asyncio.sleep(0)
    await session.wait_for_idle()

    assert session.get_steering_messages() == session.get_follow_up_messages() == ()
    assert [text_of(each.content) for each in session.messages if each.role == "user"] == ["go", "and now?"]
    assert session.messages[-1].text == "now this"


async def test_an_abort_at_the_boundary_keeps_the_prompt_from_running_on(session_of, script, recorder):
    waiting = asyncio.Event()

    async def waits(event, ctx):
        waiting.set()
        await ctx.signal.wait()
        return AgentBeforeSettleResult(continue_=True)

    session = session_of(plugin(agent_before_settle=waits))
    script.turn(text("1"))
    prompt = asyncio.create_task(session.prompt("go"))
    await waiting.wait()
    await session.abort()
    await prompt

    assert len(script.requests) == 1
    assert recorder.events[-1].aborted


async def test_an_abort_before_the_run_makes_no_request_and_keeps_the_message(session_of, script):
    session = session_of(plugin(before_agent_start=lambda event, ctx: ctx.abort("changed my mind")))
    answer = await session.prompt("go")

    assert not script.requests
    assert answer.stop_reason == "aborted"
    assert roles(session.messages) == ["user", "assistant"]


@pytest.mark.parametrize("hook", ["turn_start", "context", "message_update", "tool_call", "tool_result", "turn_end"])
@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_a_hook_may_abort_the_run_itself(session_of, script, recorder, hook, kind):
    def plain(event, ctx):
        ctx.abort("said the plugin")

    async def coroutine(event, ctx):
        ctx.abort("said the plugin")
        await asyncio.sleep(0)

    session = session_of(plugin(**{hook: plain if kind == "plain" else coroutine}), tools=[echo()])
    script.turn(tool_call("echo")).turn(text("never"))
    answer = await session.prompt("go")

    assert answer.stop_reason == "aborted"
    assert recorder.types[-1] == "agent_settled"
    assert asyncio.current_task().cancelling() == 0


async def test_a_subscriber_may_abort_and_wait_from_inside_the_run(session_of, script, recorder):
    async def abort(event):
        if event.type == "turn_start":
            await session.abort()

    session = session_of()
    session.subscribe(abort)
    answer = await session.prompt("go")

    assert answer.stop_reason == "aborted"
    assert recorder.types[-1] == "agent_settled"


async def test_ending_a_session_that_runs_stops_the_run_first(session_of, script, recorder):
    reported = []
    hooks = {name: lambda event: reported.append(event.type) for name in ("session_shutdown", "agent_settled")}
    session = session_of(plugin(**hooks))
    script.turn(text("half"), stall())
    prompt = asyncio.create_task(session.prompt("go"))
    await script.stalled()
    await session.dispose()

    assert reported == ["agent_settled", "session_shutdown"]
    assert (await prompt).stop_reason == "aborted"


async def test_cancelling_a_prompt_settles_it(session_of, script, recorder):
    session = session_of()
    script.turn(text("half"), stall()).turn(text("fine"))
    prompt = asyncio.create_task(session.prompt("go"))
    await script.stalled()
    prompt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await prompt

    assert recorder.types[-2:] == ["agent_end", "agent_settled"]
    assert session.messages[-1].stop_reason == "aborted"
    assert (await session.prompt("again")).text == "fine"


# Several


async def test_several_sessions_in_one_process_share_nothing(session_of, script):
    reply = {"a": [], "b": []}

    def listener(name):
        def activate(pi):
            pi.on("turn_start", lambda event: reply[name].append(event.type))
            pi.append_entry(name)

        return plugin(activate=activate)

    first, second = session_of(listener("a"), tools=[echo()]), session_of(listener("b"))
    script.turn(text("1")).turn(text("2"))
    await first.prompt("one")
    await second.prompt("two")

    assert reply == {"a": ["turn_start"], "b": ["turn_start"]}
    assert [message.text for message in first.messages] == ["one", "1"]
    assert [message.text for message in second.messages] == ["two", "2"]
    assert first.session_id != second.session_id
    assert [request.tools for request in script.requests] == [("echo",), ()]


async def test_one_host_serves_several_sessions(pi_agent_dir, tmp_path, script):
    settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
    host = PluginHost(settings, installed=False)
    host.add(script, "script")
    sessions = [create_agent_session(cwd=tmp_path, settings=settings, host=host, model=script.model) for _ in range(2)]
    script.turn(text("1")).turn(text("2"))
    for number, session in enumerate(sessions):
        async with session:
            await session.prompt(str(number))

    assert [session.messages[0].text for session in sessions] == ["0", "1"]


async def test_the_usage_of_all_answers_is_added_up(session_of, script):
    from pi_testing import usage

    session = session_of()
    assert session.parts.usage.context_tokens() is None
    script.turn(text("1"), usage(input=10, output=2)).turn(text("2"), usage(input=20, output=3))
    await session.prompt("a")
    await session.prompt("b")

    assert (session.usage.input, session.usage.output, session.usage.total_tokens) == (30, 5, 35)
    assert session.parts.usage.context_tokens() == 23
    assert session.ctx.context_usage().percent == pytest.approx(100 * 23 / 128_000)
