"""An abort ends a run at any point, in good order, and nothing is left running."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress

import pytest

from pi_core import Agent, LoopCallbacks
from pi_hookspecs import AbortController, ToolResult


@pytest.fixture
def controller():
    return AbortController()


def soon(controller):
    asyncio.get_running_loop().call_soon(controller.abort)


# Before and in the request


async def test_before_the_run_no_request_is_made(llm, run, controller):
    controller.abort()
    ran = await run("hi", signal=controller.signal)

    assert not llm.contexts
    assert ran.outline[2:] == ["ms(user)", "me(user)", "ms(assistant)", "me(assistant)", "turn_end", "agent_end"]
    assert ran.answers[0].stop_reason == "aborted"
    assert ran.answers[0].error_message == "Request was aborted"
    assert ran.log.of("agent_end")[0].error is None


@pytest.mark.parametrize("callback", ["transform_context", "get_api_key"])
async def test_while_the_request_is_made_ready(llm, run, controller, callback, short_grace):
    async def hangs(*_):
        soon(controller)
        await asyncio.Event().wait()

    ran = await run("hi", signal=controller.signal, **{callback: hangs})

    assert not llm.contexts
    assert ran.answers[0].stop_reason == "aborted"


async def test_a_provider_that_looks_at_the_signal_ends_by_itself(llm, run, controller):
    async def cooperates(builder, options):
        yield builder.start()
        yield builder.text_start()
        yield builder.text(0, "half")
        soon(controller)
        await options.signal.wait()
        yield builder.abort()

    llm.plays(cooperates)
    ran = await run("hi", signal=controller.signal)

    assert ran.answers[0].text == "half"
    assert ran.answers[0].stop_reason == "aborted"


async def test_a_provider_that_waits_for_ever_is_cancelled_after_a_grace(llm, run, controller, short_grace):
    ended = []

    async def hangs(builder, options):
        try:
            yield builder.start()
            yield builder.text_start()
            yield builder.text(0, "half")
            soon(controller)
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    llm.plays(hangs)
    ran = await run("hi", signal=controller.signal)

    assert ran.answers[0].text == "half"
    assert ran.answers[0].stop_reason == "aborted"
    assert ran.answers[0].error_message == "Request was aborted"
    assert ended


async def test_a_provider_that_swallows_cancellation_is_cancelled_again(llm, run, controller, short_grace):
    async def swallows(builder, options):
        yield builder.start()
        soon(controller)
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        yield builder.done()

    llm.plays(swallows)
    ran = await run("hi", signal=controller.signal)

    assert ran.answers[0].stop_reason == "aborted"


async def test_a_provider_that_never_suspends_is_left_when_the_grace_is_over(llm, controller, short_grace):
    async def babbles(builder, options):
        yield builder.start()
        yield builder.text_start()
        for step in range(10_000_000):
            if step == 3:
                agent.abort()
            yield builder.text(0, "x")

    agent = Agent(stream=llm.stream, model=llm.model)
    llm.plays(babbles)
    await agent.prompt("hi")

    answer = agent.state.messages[-1]
    assert answer.stop_reason == "aborted"
    assert 0 < len(answer.text) < 10_000_000


@pytest.mark.parametrize("ending", ["done", "fail"])
async def test_an_abort_outweighs_the_providers_stop_reason(llm, run, tool, controller, ending):
    async def late(builder, options):
        yield builder.start()
        builder.tool_call_start("c", "t")
        builder.tool_call_end(0)
        controller.abort()
        yield builder.done() if ending == "done" else builder.fail("connection closed")

    llm.plays(late)
    ran = await run("hi", tools=[tool("t")], signal=controller.signal)

    assert ran.answers[-1].stop_reason == "aborted"
    assert ran.answers[-1].error_message == "Request was aborted"
    assert not ran.results


async def test_half_a_tool_call_is_not_kept_and_never_run(llm, run, tool, controller, short_grace):
    async def hangs(builder, options):
        yield builder.start()
        yield builder.text_start()
        yield builder.text(0, "let me")
        yield builder.tool_call_start("c", "t")
        yield builder.tool_call(1, '{"a":')
        soon(controller)
        await asyncio.Event().wait()

    llm.plays(hangs)
    ran = await run("hi", tools=[tool("t")], signal=controller.signal)

    assert ran.answers[0].tool_calls == ()
    assert ran.answers[0].text == "let me"
    assert not ran.results


# Around tools


async def test_between_answer_and_tools_no_call_is_prepared_and_each_has_a_result(llm, tool):
    asked = []

    async def ask(question, signal):
        asked.append(question)

    def abort(event):
        if event.type == "message_end" and event.message.role == "assistant":
            agent.abort()

    agent = Agent(stream=llm.stream, model=llm.model, tools=[tool("t")], callbacks=LoopCallbacks(before_tool_call=ask))
    agent.subscribe(abort)
    llm.turn(llm.call("t"), llm.call("t"))
    await agent.prompt("go")

    roles = [message.role for message in agent.state.messages]
    assert roles == ["user", "assistant", "toolResult", "toolResult", "assistant"]
    assert asked == []
    assert agent.state.messages[-1].stop_reason == "aborted"
    assert len(llm.contexts) == 1


async def test_prepared_calls_end_unrun_and_so_do_the_others(llm, run, tool, controller):
    ran_tools = []

    async def execute(params, signal, update):
        ran_tools.append(params)
        return ToolResult.text("x")

    async def before(question, signal):
        if question.tool_call.id == "c2":
            controller.abort()

    llm.turn(llm.call("t"), llm.call("t"), llm.call("t"))
    ran = await run("go", tools=[tool("t", execute)], signal=controller.signal, before_tool_call=before)

    assert not ran_tools
    assert [(result.tool_call_id, result.text) for result in ran.results] == [
        ("c1", "Operation aborted"),
        ("c2", "Operation aborted"),
        ("c3", "Operation aborted"),
    ]
    assert all(result.is_error for result in ran.results)


async def test_between_sequential_tools_the_rest_is_not_started(llm, run, tool, controller):
    async def aborts(params, signal, update):
        controller.abort()
        return ToolResult.text("finished all the same")

    llm.turn(llm.call("t"), llm.call("t"))
    ran = await run("go", tools=[tool("t", aborts)], signal=controller.signal, tool_execution="sequential")

    assert [result.text for result in ran.results] == ["finished all the same", "Operation aborted"]
    assert ran.answers[-1].stop_reason == "aborted"


async def test_a_tool_that_waits_for_ever_is_cancelled_after_a_grace(llm, run, tool, controller, short_grace):
    ended = []

    async def hangs(params, signal, update):
        soon(controller)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    llm.turn(llm.call("t"))
    ran = await run("go", tools=[tool("t", hangs)], signal=controller.signal)

    assert ran.results[0].text == "Operation aborted"
    assert ran.results[0].is_error
    assert ended


async def test_a_tool_that_ignores_abort_and_cancellation_is_left_behind(llm, run, tool, controller, short_grace):
    free = asyncio.Event()

    async def stubborn(params, signal, update):
        soon(controller)
        while not free.is_set():
            with suppress(asyncio.CancelledError):
                await free.wait()
        update(ToolResult.text("still here"))
        return ToolResult.text("too late")

    llm.turn(llm.call("t"))
    ran = await run("go", tools=[tool("t", stubborn)], signal=controller.signal)
    free.set()
    await asyncio.sleep(0.01)

    assert ran.results[0].text == "Operation aborted"
    assert ran.outline[-1] == "agent_end"
    assert not ran.log.of("tool_execution_update")


async def test_a_tool_in_a_thread_sees_the_signal(llm, run, tool, controller):
    def work(signal):
        while not signal.aborted:
            time.sleep(0.001)
        return threading.current_thread() is not threading.main_thread()

    async def execute(params, signal, update):
        soon(controller)
        return ToolResult.text(str(await asyncio.to_thread(work, signal)))

    llm.turn(llm.call("t"))
    ran = await run("go", tools=[tool("t", execute)], signal=controller.signal)

    assert ran.results[0].text == "True"


async def test_a_result_given_during_the_grace_counts(llm, run, tool, controller):
    async def tidies(params, signal, update):
        soon(controller)
        await signal.wait()
        await asyncio.sleep(0.01)
        return ToolResult.text("put away", details={"tidy": True})

    llm.turn(llm.call("t"))
    ran = await run("go", tools=[tool("t", tidies)], signal=controller.signal)

    assert ran.results[0].text == "put away"
    assert not ran.results[0].is_error


# At any event


@pytest.mark.parametrize(
    ("point", "steering_left"),
    [
        ("agent_start", ["steered"]),
        ("turn_start", ["steered"]),
        ("message_start", ["steered"]),
        ("message_update", []),
        ("tool_execution_start", []),
        ("turn_end", []),
    ],
)
async def test_an_abort_at_any_event_ends_the_run_and_keeps_what_is_queued(llm, tool, user, point, steering_left):
    agent = Agent(stream=llm.stream, model=llm.model, tools=[tool("t")])

    def abort(event):
        if event.type == point:
            agent.abort()

    agent.subscribe(abort)
    agent.steer(user("steered"))
    agent.follow_up(user("followed"))
    llm.turn(llm.call("t")).turn("never asked")
    await agent.prompt("go")

    assert not agent.state.is_streaming
    assert agent.state.messages[-1].stop_reason == "aborted"
    assert len(llm.contexts) <= 1
    steering, follow_ups = agent.peek_queued_messages()
    assert [message.text for message in steering] == steering_left
    assert [message.text for message in follow_ups] == ["followed"]


async def test_the_next_run_has_a_signal_of_its_own(llm):
    agent = Agent(stream=llm.stream, model=llm.model)
    signals = []

    def watch(event, signal):
        if event.type == "turn_start":
            signals.append(signal)
            if len(signals) == 1:
                agent.abort("first")

    agent.subscribe(watch)
    llm.turn("second")
    await agent.prompt("one")
    await agent.prompt("two")

    assert agent.state.messages[1].stop_reason == "aborted"
    assert agent.state.messages[3].text == "second"
    assert signals[0].reason == "first"
    assert not signals[1].aborted


async def test_an_abort_while_idle_does_nothing(llm):
    agent = Agent(stream=llm.stream, model=llm.model)
    agent.abort()
    llm.turn("Hello")
    await agent.prompt("hi")

    assert agent.state.messages[-1].text == "Hello"


# Cancelling the caller


async def test_cancelling_the_task_of_a_prompt_ends_the_run_in_good_order(llm, log, tool):
    running = asyncio.Event()
    ended = []

    async def hangs(params, signal, update):
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    agent = Agent(stream=llm.stream, model=llm.model, tools=[tool("t", hangs)])
    agent.subscribe(log)
    llm.turn(llm.call("t"))
    prompt = asyncio.create_task(agent.prompt("go"))
    await running.wait()
    prompt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await prompt

    assert ended
    assert not agent.state.is_streaming
    assert agent.state.pending_tool_calls == frozenset()
    assert log.outline[-1] == "agent_end"
    assert agent.state.messages[-1].stop_reason == "aborted"


async def test_cancelling_in_tools_gives_each_call_a_result_and_keeps_those_that_there_are(llm, tool):
    ended = asyncio.Event()

    async def waits(params, signal, update):
        if ended.is_set():
            await asyncio.Event().wait()
        ended.set()
        return ToolResult.text("the work")

    def cancel(event):
        if event.type == "tool_execution_end":
            prompt.cancel()

    agent = Agent(stream=llm.stream, model=llm.model, tools=[tool("t", waits)])
    agent.subscribe(cancel)
    llm.turn(llm.call("t"), llm.call("t"))
    prompt = asyncio.create_task(agent.prompt("go"))
    with suppress(asyncio.CancelledError):
        await prompt

    results = [message for message in agent.state.messages if message.role == "toolResult"]
    assert [(each.text, each.is_error) for each in results] == [("the work", False), ("Operation aborted", True)]
    assert agent.state.messages[-1].stop_reason == "aborted"


async def test_cancelling_in_the_stream_ends_the_message_that_had_begun(llm, log):
    running = asyncio.Event()

    async def hangs(builder, options):
        yield builder.start()
        yield builder.text_start()
        yield builder.text(0, "half")
        running.set()
        await asyncio.Event().wait()

    agent = Agent(stream=llm.stream, model=llm.model)
    agent.subscribe(log)
    llm.plays(hangs)
    prompt = asyncio.create_task(agent.prompt("go"))
    await running.wait()
    prompt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await prompt

    assert log.outline[-5:] == ["ms(assistant)", "mu", "me(assistant)", "turn_end", "agent_end"]
    assert agent.state.messages[-1].text == "half"
    assert agent.state.messages[-1].stop_reason == "aborted"
