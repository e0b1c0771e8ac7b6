"""The agent: its state, queues, subscribers and guards."""

from __future__ import annotations

import asyncio

import pytest
from attrs import evolve

from pi_core import Agent, LoopCallbacks
from pi_hookspecs import (
    AgentBusy,
    AssistantMessage,
    ImageContent,
    NoModel,
    PiError,
    StreamOptions,
    TextContent,
    ToolResult,
    UserMessage,
)
from pi_testing.patience import PATIENCE

BUSY = "Agent is already processing a prompt. Use steer() or followUp() to queue messages, or wait for completion."


@pytest.fixture
def agent(llm):
    return Agent(stream=llm.stream, model=llm.model)


def texts(messages):
    return [message.text for message in messages]


# Prompts


async def test_a_text_becomes_a_user_message_with_its_images(agent, llm):
    llm.turn("Hello")
    await agent.prompt("hi", [ImageContent("AAAA", "image/png")])

    assert agent.state.messages[0].content == (TextContent("hi"), ImageContent("AAAA", "image/png"))
    assert texts(agent.state.messages) == ["hi", "Hello"]


async def test_a_message_and_several_messages_are_taken_as_they_are(agent, llm, user):
    llm.turn("one").turn("two")
    first, second = user("a"), UserMessage(content="b")
    await agent.prompt(first)
    await agent.prompt([second, user("c")])

    assert agent.state.messages[0] is first
    assert agent.state.messages[2] is second
    assert texts(agent.state.messages) == ["a", "one", "b", "c", "two"]


async def test_a_second_prompt_during_a_run_is_refused(agent, llm):
    refused = []

    async def again(event):
        if event.type == "turn_start":
            with pytest.raises(AgentBusy) as caught:
                await agent.prompt("again")
            refused.append(str(caught.value))

    agent.subscribe(again)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert refused == [BUSY]
    assert texts(agent.state.messages) == ["hi", "Hello"]


async def test_without_a_model_nothing_runs(llm):
    agent = Agent(stream=llm.stream)

    with pytest.raises(NoModel, match=r"^No model configured$"):
        await agent.prompt("hi")
    assert not agent.state.is_streaming
    assert agent.state.messages == []


async def test_the_thinking_level_is_part_of_the_request_unless_it_is_off(agent, llm):
    llm.turn("one").turn("two")
    await agent.prompt("a")
    agent.set_thinking_level("high")
    await agent.prompt("b")

    assert [options.reasoning for options in llm.options] == [None, "high"]


async def test_options_of_the_agent_are_those_of_its_requests(llm):
    agent = Agent(stream=llm.stream, model=llm.model, options=StreamOptions(session_id="s", temperature=0.5))
    llm.turn("one")
    await agent.prompt("a")

    assert llm.options[0].session_id == "s"
    assert llm.options[0].temperature == 0.5
    assert llm.options[0].signal is not None


# Continuing


async def test_there_must_be_something_to_continue_from(agent, llm):
    with pytest.raises(PiError, match=r"^No messages to continue from$"):
        await agent.continue_()
    llm.turn("Hello")
    await agent.prompt("hi")
    with pytest.raises(PiError, match=r"^Cannot continue from message role: assistant$"):
        await agent.continue_()


async def test_continue_during_a_run_is_refused(agent, llm):
    refused = []

    async def again(event):
        if event.type == "turn_start":
            with pytest.raises(AgentBusy) as caught:
                await agent.continue_()
            refused.append(str(caught.value))

    agent.subscribe(again)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert refused == ["Agent is already processing. Wait for completion before continuing."]


async def test_continue_answers_what_waits_in_the_transcript(agent, llm, log, user):
    agent.append_message(user("hi"))
    agent.subscribe(log)
    llm.turn("Hello")
    await agent.continue_()

    assert texts(agent.state.messages) == ["hi", "Hello"]
    assert "ms(user)" not in log.outline


async def test_continue_delivers_steering_first_one_per_turn(agent, llm, user):
    llm.turn("Hello").turn("s1").turn("s2").turn("f")
    await agent.prompt("hi")
    agent.follow_up(user("followed"))
    agent.steer(user("steered 1"))
    agent.steer(user("steered 2"))
    await agent.continue_()

    assert texts(agent.state.messages) == ["hi", "Hello", "steered 1", "s1", "steered 2", "s2", "followed", "f"]


async def test_continue_delivers_follow_ups_when_there_is_no_steering(agent, llm, user):
    llm.turn("Hello").turn("f")
    await agent.prompt("hi")
    agent.follow_up(user("followed"))
    await agent.continue_()

    assert texts(agent.state.messages)[2:] == ["followed", "f"]


async def test_running_on_leaves_a_failed_answer_out_of_the_context(agent, llm):
    async def fails(builder, options):
        yield builder.fail("overloaded")

    llm.plays(fails).turn("Hello")
    await agent.prompt("hi")
    await agent.run_on()

    assert texts(agent.state.messages) == ["hi", "Hello"]
    assert llm.request_roles() == ["user"]


# Queues


async def test_steering_while_idle_waits_for_the_next_prompt_and_joins_its_turn(agent, llm, log, user):
    agent.steer(user("and be quick"))
    agent.subscribe(log)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert texts(agent.state.messages) == ["hi", "and be quick", "Hello"]
    assert log.outline.count("turn_start") == 1


@pytest.mark.parametrize(("mode", "turns"), [("one-at-a-time", 3), ("all", 2)])
async def test_steering_modes(llm, log, user, mode, turns):
    agent = Agent(stream=llm.stream, model=llm.model, steering_mode=mode)
    queued = []

    def steer(event):
        if event.type == "turn_start" and not queued:
            queued.append(True)
            return
        if event.type == "message_update" and len(queued) == 1:
            queued.append(True)
            agent.steer(user("a"))
            agent.steer(user("b"))

    agent.subscribe(log)
    agent.subscribe(steer)
    llm.turn("0").turn("1").turn("2")
    await agent.prompt("hi")

    assert log.outline.count("turn_start") == turns
    assert [text for text in texts(agent.state.messages) if text in "ab"] == ["a", "b"]
    assert log.outline.count("agent_end") == 1


@pytest.mark.parametrize(("mode", "answers"), [("one-at-a-time", 3), ("all", 2)])
async def test_follow_up_modes(llm, user, mode, answers):
    agent = Agent(stream=llm.stream, model=llm.model, follow_up_mode=mode)
    agent.follow_up(user("a"))
    agent.follow_up(user("b"))
    llm.turn("0").turn("1").turn("2")
    await agent.prompt("hi")

    assert len(llm.contexts) == answers


async def test_steering_is_drained_before_follow_ups_whatever_was_queued_first(agent, llm, user):
    agent.follow_up(user("followed"))
    llm.turn("0").turn("1").turn("2")

    def steer(event):
        if event.type == "message_update" and len(llm.contexts) == 1 and not agent.peek_queued_messages()[0]:
            agent.steer(user("steered"))

    unsubscribe = agent.subscribe(steer)
    agent.subscribe(lambda event: unsubscribe() if event.type == "message_update" else None)
    await agent.prompt("hi")

    assert texts(agent.state.messages) == ["hi", "0", "steered", "1", "followed", "2"]


async def test_the_queues_can_be_looked_at_and_emptied(agent, user):
    agent.steer(user("s"))
    agent.follow_up(user("f"))

    assert agent.has_queued_messages()
    assert tuple(map(texts, agent.peek_queued_messages())) == (["s"], ["f"])
    assert texts(agent.clear_steering_queue()) == ["s"]
    assert texts(agent.clear_follow_up_queue()) == ["f"]
    assert not agent.has_queued_messages()

    agent.follow_up(user("f"))
    agent.steer(user("s"))
    assert texts(agent.clear_all_queues()) == ["s", "f"]


async def test_the_modes_are_one_at_a_time_and_can_be_set(agent):
    assert (agent.steering_mode, agent.follow_up_mode) == ("one-at-a-time", "one-at-a-time")
    agent.steering_mode = agent.follow_up_mode = "all"

    assert (agent.steering_mode, agent.follow_up_mode) == ("all", "all")


async def test_a_message_that_was_taken_but_not_delivered_waits_again(llm, tool, user):
    async def stop(context):
        return True

    agent = Agent(
        stream=llm.stream,
        model=llm.model,
        tools=[tool("t")],
        callbacks=LoopCallbacks(should_stop_after_turn=stop, tool_execution="sequential"),
    )
    agent.subscribe(lambda event: agent.steer(user("s")) if event.type == "tool_execution_end" else None)
    llm.turn(llm.call("t"))
    await agent.prompt("hi")

    assert texts(agent.peek_queued_messages()[0]) == ["s"]


async def test_a_follow_up_that_a_broken_run_had_taken_waits_again(agent, llm, user):
    def break_the_second_turn(event):
        if event.type == "turn_start" and event.turn_index == 1:
            raise ValueError("broken front end")

    agent.subscribe(break_the_second_turn)
    agent.follow_up(user("later"))
    llm.turn("one").turn("two")
    await agent.prompt("hi")
    assert texts(agent.peek_queued_messages()[1]) == ["later"]

    await agent.continue_()

    assert "later" in texts(agent.state.messages)


async def test_a_message_is_delivered_once(agent, llm, user):
    agent.steer(user("s"))
    llm.turn("one").turn("two")
    await agent.prompt("hi")
    await agent.prompt("again")

    assert texts(agent.state.messages).count("s") == 1


# State


async def test_the_state_of_a_new_agent(llm):
    state = Agent(stream=llm.stream).state

    assert (state.system_prompt, state.model, state.thinking_level) == ("", None, "off")
    assert (state.tools, state.messages) == ((), [])
    assert (state.is_streaming, state.streaming_message) == (False, None)
    assert (state.pending_tool_calls, state.error_message) == (frozenset(), None)


async def test_lists_are_copied_when_assigned(agent, tool, user):
    messages, tools = [user("a")], [tool("t")]
    agent.state.messages, agent.state.tools = messages, tools
    messages.clear()
    tools.clear()

    assert texts(agent.state.messages) == ["a"]
    assert [each.name for each in agent.state.tools] == ["t"]


async def test_the_mutators(agent, llm, tool, user):
    model = evolve(llm.model, id="other")
    agent.set_system_prompt("be kind")
    agent.set_model(model)
    agent.set_thinking_level("low")
    agent.set_tools([tool("t")])
    agent.replace_messages([user("a")])
    agent.append_message(user("b"))

    state = agent.state
    assert (state.system_prompt, state.model, state.thinking_level) == ("be kind", model, "low")
    assert [each.name for each in state.tools] == ["t"]
    assert texts(state.messages) == ["a", "b"]
    agent.clear_messages()
    assert agent.state.messages == []


async def test_the_state_follows_the_run(agent, llm, tool):
    seen = []

    def look(event):
        state = agent.state
        growing = state.streaming_message
        seen.append((event.type, state.is_streaming, growing.role if growing else None, set(state.pending_tool_calls)))

    agent.set_tools([tool("t")])
    agent.subscribe(look)
    llm.turn(llm.call("t")).turn("done")
    await agent.prompt("hi")

    assert all(streaming for _, streaming, _, _ in seen)
    assert ("message_start", True, "user", set()) in seen
    assert ("message_update", True, "assistant", set()) in seen
    assert ("message_end", True, None, set()) in seen
    assert ("tool_execution_start", True, None, {"c1"}) in seen
    assert ("tool_execution_end", True, None, set()) in seen
    assert not agent.state.is_streaming
    assert agent.state.streaming_message is None


async def test_the_growing_answer_can_be_read(agent, llm):
    seen = []

    def look(event):
        if event.type == "message_update":
            seen.append(agent.state.streaming_message.text)

    agent.subscribe(look)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert seen == ["", "Hello", "Hello"]


async def test_the_last_error_is_kept_until_the_next_run(agent, llm):
    async def fails(builder, options):
        yield builder.fail("overloaded")

    llm.plays(fails).turn("Hello")
    await agent.prompt("hi")
    assert agent.state.error_message == "overloaded"
    await agent.prompt("again")

    assert agent.state.error_message is None


async def test_tools_and_prompt_set_during_a_run_reach_the_next_request(agent, llm, tool):
    def change(event):
        if event.type == "tool_execution_end":
            agent.set_tools([tool("t"), tool("u")])
            agent.set_system_prompt("now with u")

    agent.set_tools([tool("t")])
    agent.subscribe(change)
    llm.turn(llm.call("t")).turn("done")
    await agent.prompt("hi")

    assert [[each.name for each in context.tools] for context in llm.contexts] == [["t"], ["t", "u"]]
    assert [context.system_prompt for context in llm.contexts] == ["", "now with u"]


async def test_a_message_appended_during_a_run_is_sent_with_the_next_request(agent, llm, tool, user):
    agent.set_tools([tool("t")])
    agent.subscribe(lambda event: agent.append_message(user("note")) if event.type == "turn_end" else None)
    llm.turn(llm.call("t")).turn("done")
    await agent.prompt("hi")

    assert llm.request_roles() == ["user", "assistant", "toolResult", "user"]
    assert [message.role for message in agent.state.messages] == [
        "user",
        "assistant",
        "toolResult",
        "user",
        "assistant",
        "user",
    ]


async def test_reset_forgets_the_conversation_and_keeps_the_rest(agent, llm, user):
    agent.set_system_prompt("be kind")
    llm.turn("Hello")
    await agent.prompt("hi")
    agent.steer(user("s"))
    agent.state.error_message = "old"
    agent.reset()

    assert agent.state.messages == []
    assert not agent.has_queued_messages()
    assert agent.state.error_message is None
    assert agent.state.system_prompt == "be kind"
    assert agent.state.model is llm.model


async def test_reset_during_a_run_is_refused(agent, llm):
    refused = []

    def reset(event):
        if event.type == "turn_start":
            with pytest.raises(AgentBusy) as caught:
                agent.reset()
            refused.append(str(caught.value))

    agent.subscribe(reset)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert refused == ["Agent is already processing. Wait for completion before resetting."]


async def test_the_signal_is_there_only_during_a_run(agent, llm):
    seen = []
    agent.subscribe(lambda event: seen.append(agent.signal))
    llm.turn("Hello")
    await agent.prompt("hi")

    assert len(set(map(id, seen))) == 1
    assert seen[0] is llm.options[0].signal
    assert agent.signal is None


# Listeners


async def test_listeners_are_awaited_before_the_next_event(agent, llm):
    order = []

    async def slow(event):
        order.append(f"slow begins {event.type}")
        await asyncio.sleep(0.001)
        order.append(f"slow ends {event.type}")

    agent.subscribe(slow)
    agent.subscribe(lambda event: order.append(f"quick {event.type}"))
    llm.turn()
    await agent.prompt("hi")

    steps = [order[place : place + 3] for place in range(0, len(order), 3)]
    assert all(len({step.split()[-1] for step in each}) == 1 for each in steps)
    assert all([step.rsplit(" ", 1)[0] for step in each] == ["slow begins", "slow ends", "quick"] for each in steps)


async def test_the_agent_is_idle_only_when_the_last_events_listeners_have_settled(agent, llm):
    order = []

    async def slow(event):
        if event.type == "agent_end":
            await asyncio.sleep(0.001)
            order.append(("listener", agent.state.is_streaming))

    async def wait():
        await agent.wait_for_idle()
        order.append(("idle", agent.state.is_streaming))

    agent.subscribe(slow)
    llm.turn("Hello")
    prompt = asyncio.create_task(agent.prompt("hi"))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(wait())
    await asyncio.gather(prompt, waiting)

    assert order == [("listener", True), ("idle", False)]


async def test_waiting_for_an_idle_agent_is_no_waiting(agent):
    await asyncio.wait_for(agent.wait_for_idle(), PATIENCE)


async def test_a_listener_may_take_the_signal(agent, llm):
    got = {}

    def required(event, abort):
        got["required"] = abort

    def named(event, signal=None):
        got["named"] = signal

    def bound(event, log="mine"):
        got["bound"] = log

    def star(*arguments):
        got["star"] = arguments[1]

    class Method:
        def listen(self, event, signal):
            got["method"] = signal

    for listener in (required, named, bound, star, Method().listen):
        agent.subscribe(listener)
    llm.turn("Hello")
    await agent.prompt("hi")

    signal = llm.options[0].signal
    assert got == {"required": signal, "named": signal, "bound": "mine", "star": signal, "method": signal}


async def test_a_builtin_can_listen(agent, llm):
    events = []
    agent.subscribe(events.append)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert events[-1].type == "agent_end"


async def test_unsubscribing_works_at_any_time_and_twice(agent, llm):
    received = []

    def once(event):
        received.append(event.type)
        unsubscribe()

    unsubscribe = agent.subscribe(once)
    after = []
    agent.subscribe(lambda event: after.append(event.type))
    llm.turn("Hello")
    await agent.prompt("hi")
    unsubscribe()

    assert received == ["agent_start"]
    assert after[:2] == ["agent_start", "turn_start"]


async def test_a_listener_subscribed_twice_is_called_twice_until_one_subscription_ends(agent, llm):
    received = []

    def listen(event, signal):
        received.append(event.type)

    first = agent.subscribe(listen)
    agent.subscribe(listen)
    first()
    llm.turn("Hello")
    await agent.prompt("hi")

    assert received.count("agent_start") == 1


@pytest.mark.parametrize(
    ("point", "role"),
    [("turn_start", None), ("message_start", "user"), ("message_end", "user"), ("message_end", "assistant")],
)
async def test_a_listener_that_raises_ends_the_run_as_an_error(agent, llm, log, point, role):
    def breaks(event):
        if event.type == point and (role is None or event.message.role == role):
            raise ValueError("broken listener")

    agent.subscribe(breaks)
    agent.subscribe(log)
    llm.turn("Hello")
    await agent.prompt("hi")

    failure = agent.state.messages[-1]
    assert (failure.stop_reason, failure.error_message) == ("error", "broken listener")
    assert failure.content == (TextContent(""),)
    assert log.outline[-4:] == ["ms(assistant)", "me(assistant)", "turn_end", "agent_end"]
    assert log.of("agent_end")[0].error == "broken listener"
    assert log.of("agent_end")[0].messages == tuple(agent.state.messages)
    assert not agent.state.is_streaming
    assert agent.state.error_message == "broken listener"


async def test_a_listener_that_raises_in_the_stream_keeps_the_text(agent, llm, log):
    def breaks(event):
        if event.type == "message_update" and event.assistant_message_event.type == "text_delta":
            raise ValueError("broken listener")

    agent.subscribe(log)
    agent.subscribe(breaks)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert agent.state.messages[-1].text == "Hello"
    assert agent.state.messages[-1].error_message == "broken listener"
    assert log.outline[-4:] == ["mu", "me(assistant)", "turn_end", "agent_end"]


async def test_a_listener_that_always_raises_cannot_keep_the_agent_from_idle(agent, llm, log):
    def breaks(event):
        raise ValueError("broken listener")

    agent.subscribe(breaks)
    agent.subscribe(log)
    llm.turn("Hello")
    await agent.prompt("hi")

    assert not agent.state.is_streaming
    assert log.outline[-1] == "agent_end"


async def test_what_a_listener_of_the_last_event_raises_reaches_the_caller(agent, llm, log):
    def breaks(event):
        if event.type == "agent_end":
            raise ValueError("broken listener")

    agent.subscribe(log)
    agent.subscribe(breaks)
    llm.turn("Hello")
    with pytest.raises(ValueError, match="broken listener"):
        await agent.prompt("hi")

    assert log.outline.count("agent_end") == 1
    assert texts(agent.state.messages) == ["hi", "Hello"]
    assert not agent.state.is_streaming


async def test_a_callback_that_raises_is_the_runs_last_message(llm, log):
    async def broken(message):
        if message.role == "assistant":
            raise ValueError("cannot finish")
        return message

    agent = Agent(stream=llm.stream, model=llm.model, callbacks=LoopCallbacks(finish_message=broken))
    agent.subscribe(log)
    llm.turn("Hello")
    await agent.prompt("hi")

    failure = agent.state.messages[-1]
    assert isinstance(failure, AssistantMessage)
    assert (failure.text, failure.stop_reason, failure.error_message) == ("Hello", "error", "cannot finish")
    assert log.outline[-5:] == ["ms(assistant)", "mu", "me(assistant)", "turn_end", "agent_end"]


async def test_the_next_prompt_works_after_a_failure(agent, llm):
    def breaks(event):
        if event.type == "turn_end":
            unsubscribe()
            raise ValueError("broken listener")

    unsubscribe = agent.subscribe(breaks)
    llm.turn("one").turn("two")
    await agent.prompt("a")
    await agent.prompt("b")

    assert agent.state.messages[-1].text == "two"


async def test_two_agents_share_nothing(llm, tool):
    async def meet(params, signal, update):
        await everybody.wait()
        return ToolResult.text("met")

    everybody = asyncio.Barrier(2)
    agents = [Agent(stream=llm.stream, model=llm.model, tools=[tool("t", meet)]) for _ in range(2)]
    llm.turn(llm.call("t")).turn(llm.call("t")).turn("done").turn("done")
    await asyncio.gather(*(agent.prompt(f"{number}") for number, agent in enumerate(agents)))

    assert [texts(agent.state.messages)[0] for agent in agents] == ["0", "1"]
    assert all(len(agent.state.messages) == 4 for agent in agents)
