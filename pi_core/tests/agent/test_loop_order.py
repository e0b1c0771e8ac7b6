"""The exact order of events, case by case; docs/reference/events.md has the rule."""

from __future__ import annotations

import asyncio

import pytest
from attrs import evolve

from pi_core import AgentContext, LoopConfig, agent_loop, agent_loop_continue
from pi_hookspecs import AbortController, PiError, StreamOptions, TextContent, ToolResult, ToolResultMessage

PROMPT = "agent_start turn_start ms(user) me(user)"
ANSWER = "ms(assistant) mu me(assistant)"
SILENT_ANSWER = "ms(assistant) me(assistant)"
RESULT = "ms(toolResult) me(toolResult)"
LAST_TURN = f"turn_start {ANSWER} turn_end agent_end"


def queue(*batches):
    """A poll that gives these batches of messages, one per time it is asked, then nothing."""
    waiting = list(batches)

    async def poll():
        return waiting.pop(0) if waiting else ()

    return poll


def outline(*parts):
    return " ".join(parts).split()


# Answers


async def test_plain_text(llm, run):
    llm.turn("Hello")
    ran = await run("hi")

    assert ran.outline == outline(PROMPT, ANSWER, "turn_end agent_end")
    assert ran.log.of("turn_end")[0].tool_results == ()
    assert [message.role for message in ran.messages] == ["user", "assistant"]
    assert ran.log.of("agent_end")[0].messages == ran.messages
    assert ran.log.of("agent_end")[0].error is None


async def test_the_nine_block_events_are_updates_and_start_and_done_are_not(llm, run):
    llm.turn(llm.thought("hm"), "Hello", llm.call("missing"))
    llm.turn("ok")
    ran = await run("hi")

    blocks = [event.assistant_message_event.type for event in ran.log.of("message_update")]
    assert blocks[:9] == [
        f"{block}_{step}" for block in ("thinking", "text", "toolcall") for step in ("start", "delta", "end")
    ]
    assert len(blocks) == 9 + 3


async def test_the_answer_is_pending_until_it_ends(llm, run):
    seen = []

    def watch(event):
        if event.type in ("message_start", "message_update", "message_end") and event.message.role == "assistant":
            seen.append((event.type, event.message.stop_reason))

    llm.turn("Hello")
    await run("hi", watch=watch)

    assert seen[0] == ("message_start", "pending")
    assert ("message_update", "pending") in seen
    assert seen[-1] == ("message_end", "stop")


async def test_several_prompts_share_the_first_turn(llm, run):
    llm.turn("Hello")
    ran = await run("one", "two")

    assert ran.outline == outline(PROMPT, "ms(user) me(user)", ANSWER, "turn_end agent_end")


async def test_without_a_start_the_message_starts_with_its_first_block(llm, run):
    llm.turn("Hello", start=False)
    ran = await run("hi")

    assert ran.outline == outline(PROMPT, ANSWER, "turn_end agent_end")


async def test_without_start_and_blocks_the_message_starts_just_before_its_end(llm, run):
    llm.turn(start=False)
    ran = await run("hi")

    assert ran.outline == outline(PROMPT, SILENT_ANSWER, "turn_end agent_end")
    assert ran.log.of("message_start")[1].message.stop_reason == "pending"


async def test_a_provider_error_ends_the_run_and_keeps_the_queue(llm, run, user):
    async def fails(builder, options):
        yield builder.fail("429 slow down")

    polled = []

    async def follow_up():
        polled.append("follow-up")
        return [user("more")]

    llm.plays(fails)
    ran = await run("hi", get_follow_up_messages=follow_up)

    assert ran.outline == outline(PROMPT, SILENT_ANSWER, "turn_end agent_end")
    assert ran.answers[0].stop_reason == "error"
    assert ran.answers[0].error_message == "429 slow down"
    assert ran.log.of("agent_end")[0].error == "429 slow down"
    assert ran.log.of("message_start")[1].message.stop_reason == "pending"
    assert not polled


# Tools


async def test_a_sequential_tool_turn_delivers_each_result_at_once(llm, run, tool):
    llm.turn(llm.call("a"), llm.call("b")).turn("done")
    ran = await run("go", tools=[tool("a"), tool("b")], tool_execution="sequential")

    calls = f"tes(c1) tee(c1) {RESULT} tes(c2) tee(c2) {RESULT}"
    assert ran.outline == outline(PROMPT, ANSWER, calls, "turn_end", LAST_TURN)


async def test_a_parallel_tool_turn_ends_calls_as_they_finish_and_delivers_results_in_order(llm, run, tool):
    gate = asyncio.Event()

    async def slow(params, signal, update):
        await gate.wait()
        return ToolResult.text("slow")

    async def fast(params, signal, update):
        gate.set()
        return ToolResult.text("fast")

    llm.turn(llm.call("slow"), llm.call("fast")).turn("done")
    ran = await run("go", tools=[tool("slow", slow), tool("fast", fast)])

    calls = f"tes(c1) tes(c2) tee(c2) tee(c1) {RESULT} {RESULT}"
    assert ran.outline == outline(PROMPT, ANSWER, calls, "turn_end", LAST_TURN)
    assert [result.tool_call_id for result in ran.results] == ["c1", "c2"]
    assert [result.tool_call_id for result in ran.log.of("turn_end")[0].tool_results] == ["c1", "c2"]
    assert [message.text for message in llm.contexts[1].messages[-2:]] == ["slow", "fast"]


async def test_one_sequential_tool_makes_its_whole_batch_sequential(llm, run, tool):
    llm.turn(llm.call("a"), llm.call("b")).turn("done")
    ran = await run("go", tools=[tool("a"), tool("b", execution_mode="sequential")])

    calls = f"tes(c1) tee(c1) {RESULT} tes(c2) tee(c2) {RESULT}"
    assert ran.outline == outline(PROMPT, ANSWER, calls, "turn_end", LAST_TURN)


async def test_a_call_that_cannot_be_prepared_ends_before_the_others_run(llm, run, tool):
    llm.turn(llm.call("a"), llm.call("missing"), llm.call("a")).turn("done")
    ran = await run("go", tools=[tool("a")])

    calls = f"tes(c1) tes(c2) tee(c2) tes(c3) tee(c1) tee(c3) {RESULT} {RESULT} {RESULT}"
    assert ran.outline == outline(PROMPT, ANSWER, calls, "turn_end", LAST_TURN)


async def test_updates_come_between_start_and_end_and_may_interleave(llm, run, tool):
    turns = asyncio.Condition()
    displayed = []

    async def talks(params, signal, update):
        for step in range(2):
            update(ToolResult.text(f"{params['name']}{step}"))
            displayed.append(step)
            async with turns:
                turns.notify_all()
                await turns.wait_for(lambda step=step: len(displayed) >= 2 * (step + 1))
        return ToolResult.text("end")

    llm.turn(llm.call("t", name="a"), llm.call("t", name="b")).turn("done")
    ran = await run("go", tools=[tool("t", talks)])

    steps = [step for step in ran.outline if step.startswith("te")]
    assert steps[:2] == ["tes(c1)", "tes(c2)"]
    assert sorted(steps[2:4]) == sorted(steps[4:6]) == ["teu(c1)", "teu(c2)"]
    assert sorted(steps[6:]) == ["tee(c1)", "tee(c2)"]


async def test_hooks_run_between_start_and_end_of_a_call(llm, log, run, tool):
    order = []

    async def before(question, signal):
        order.append("before")

    async def execute(params, signal, update):
        order.append("execute")
        return ToolResult.text("x")

    async def after(done, signal):
        order.append("after")

    llm.turn(llm.call("t")).turn("done")
    await run(
        "go",
        tools=[tool("t", execute)],
        before_tool_call=before,
        after_tool_call=after,
        watch=lambda event: order.append(event.type) if event.type.startswith("tool_execution") else None,
    )

    assert [step for step in order if not step.startswith("tool_")] == ["before", "execute", "after"]


async def test_calls_of_an_answer_cut_off_by_its_length_are_not_run(llm, run, tool):
    ran_tools = []

    async def execute(params, signal, update):
        ran_tools.append(params)
        return ToolResult.text("x")

    llm.turn(llm.call("t"), llm.call("t"), stop="length").turn("shorter")
    ran = await run("go", tools=[tool("t", execute)])

    assert not ran_tools
    assert ran.outline.count("turn_end") == 2
    for result in ran.results:
        assert result.is_error
        assert "output limit" in result.text
        assert "again" in result.text


# Queues


async def test_steering_waits_for_the_whole_batch(llm, run, tool, user):
    llm.turn(llm.call("a"), llm.call("a")).turn("redirected")
    ran = await run("go", tools=[tool("a")], get_steering_messages=queue((), (user("stop that"),)))

    calls = f"tes(c1) tes(c2) tee(c1) tee(c2) {RESULT} {RESULT} turn_end"
    assert ran.outline == outline(PROMPT, ANSWER, calls, "turn_start ms(user) me(user)", ANSWER, "turn_end agent_end")
    assert llm.request_roles() == ["user", "assistant", "toolResult", "toolResult", "user"]


async def test_steering_in_mode_skip_skips_the_rest_of_a_sequential_batch(llm, run, tool, user):
    llm.turn(llm.call("a"), llm.call("a"), llm.call("a")).turn("redirected")
    ran = await run(
        "go",
        tools=[tool("a")],
        tool_execution="sequential",
        get_steering_messages=queue((), (user("stop that"),)),
    )

    calls = " ".join(f"tes(c{number}) tee(c{number}) {RESULT}" for number in (1, 2, 3))
    assert ran.outline == outline(
        PROMPT, ANSWER, calls, "turn_end turn_start ms(user) me(user)", ANSWER, "turn_end agent_end"
    )
    assert [(result.is_error, result.text) for result in ran.results] == [
        (False, "done"),
        (True, "Skipped due to queued user message."),
        (True, "Skipped due to queued user message."),
    ]


async def test_steering_in_mode_skip_is_polled_while_a_parallel_batch_is_prepared(llm, run, tool, user):
    llm.turn(llm.call("a"), llm.call("a")).turn("redirected")
    ran = await run(
        "go",
        tools=[tool("a")],
        steering_interrupt="skip",
        get_steering_messages=queue((), (user("stop that"),)),
    )

    assert [result.text for result in ran.results] == ["done", "Skipped due to queued user message."]
    assert ran.outline.count("turn_start") == 2


async def test_the_interrupt_follows_the_configured_mode_and_not_a_batch_that_one_tool_made_sequential(
    llm, run, tool, user
):
    llm.turn(llm.call("a"), llm.call("a")).turn("redirected")
    ran = await run(
        "go",
        tools=[tool("a", execution_mode="sequential")],
        get_steering_messages=queue((), (user("stop that"),)),
    )

    assert [result.text for result in ran.results] == ["done", "done"]


async def test_sequential_calls_can_be_made_to_wait(llm, run, tool, user):
    llm.turn(llm.call("a"), llm.call("a")).turn("redirected")
    ran = await run(
        "go",
        tools=[tool("a")],
        tool_execution="sequential",
        steering_interrupt="wait",
        get_steering_messages=queue((), (user("stop that"),)),
    )

    assert [result.text for result in ran.results] == ["done", "done"]


async def test_steering_before_the_first_request_joins_the_first_turn(llm, run, user):
    llm.turn("Hello")
    ran = await run("hi", get_steering_messages=queue((user("and be quick"),)))

    assert ran.outline == outline(PROMPT, "ms(user) me(user)", ANSWER, "turn_end agent_end")
    assert llm.request_roles() == ["user", "user"]


async def test_steering_after_an_answer_without_calls_goes_on_in_the_same_run(llm, run, user):
    llm.turn("Hello").turn("Again")
    ran = await run("hi", get_steering_messages=queue((), (user("one"), user("two"))))

    assert ran.outline == outline(
        PROMPT, ANSWER, "turn_end turn_start", "ms(user) me(user) " * 2, ANSWER, "turn_end agent_end"
    )


async def test_follow_ups_come_when_nothing_else_is_left_and_end_no_run(llm, run, tool, user):
    llm.turn(llm.call("a")).turn("one").turn("two").turn("three")
    ran = await run(
        "go",
        tools=[tool("a")],
        get_steering_messages=queue((), (), (user("steered"),)),
        get_follow_up_messages=queue((user("followed"),)),
    )

    after = f"turn_start ms(user) me(user) {ANSWER} turn_end"
    calls = f"tes(c1) tee(c1) {RESULT} turn_end turn_start {ANSWER} turn_end"
    assert ran.outline == outline(PROMPT, ANSWER, calls, after, after, "agent_end")
    assert [message.text for message in ran.messages if message.role == "user"] == ["go", "steered", "followed"]


# The end of a turn


async def test_a_turn_may_be_the_last_without_polling_the_queues(llm, run, tool, user):
    asked = []

    async def finish(message, results, turn):
        asked.append((len(results), turn))
        return "end"

    llm.turn(llm.call("a"))
    ran = await run("go", tools=[tool("a")], finish_turn=finish, get_follow_up_messages=queue((user("more"),)))

    assert ran.outline[-2:] == ["turn_end", "agent_end"]
    assert asked == [(1, 0)]


async def test_a_turn_may_ask_for_one_more_request(llm, run):
    async def finish(message, results, turn):
        return "continue" if turn == 0 else None

    llm.turn("one").turn("two")
    ran = await run("go", finish_turn=finish)

    assert ran.outline == outline(PROMPT, ANSWER, "turn_end", LAST_TURN)


async def test_stopping_after_a_turn_leaves_the_queues_alone(llm, run, tool, user):
    polls = []

    async def poll():
        polls.append(1)
        return ()

    async def stop(context):
        return len(context.messages) > 2

    llm.turn(llm.call("a"))
    ran = await run("go", tools=[tool("a")], should_stop_after_turn=stop, get_steering_messages=poll)

    assert ran.outline[-2:] == ["turn_end", "agent_end"]
    assert len(polls) == 1


async def test_turns_are_numbered_within_the_run(llm, run, tool):
    llm.turn(llm.call("a")).turn("done")
    ran = await run("go", tools=[tool("a")])

    assert [event.turn_index for event in ran.log.of("turn_start")] == [0, 1]
    assert [event.turn_index for event in ran.log.of("turn_end")] == [0, 1]


# Continuing


async def test_continue_has_no_user_events(llm, log, user):
    llm.turn("Hello")
    stream = agent_loop_continue(AgentContext("", [user("hi")]), LoopConfig(model=llm.model, stream=llm.stream))
    async for event in stream:
        log(event)

    assert log.outline == outline("agent_start", LAST_TURN)
    assert [message.role for message in await stream.result()] == ["assistant"]


async def test_continue_goes_on_from_a_tool_result(llm, user):
    llm.turn("Hello")
    result = ToolResultMessage(tool_call_id="c", tool_name="t")
    stream = agent_loop_continue(AgentContext("", [user("hi"), result]), LoopConfig(model=llm.model, stream=llm.stream))

    assert (await stream.result())[-1].text == "Hello"


async def test_there_must_be_something_to_continue(llm, run):
    config = LoopConfig(model=llm.model, stream=llm.stream)
    llm.turn("Hello")
    ran = await run("hi")

    with pytest.raises(PiError, match=r"^Cannot continue: no messages in context$"):
        agent_loop_continue(AgentContext(), config)
    with pytest.raises(PiError, match=r"^Cannot continue from message role: assistant$"):
        agent_loop_continue(ran.context, config)


# Aborts


async def test_abort_in_the_stream_ends_the_run(llm, run):
    controller = AbortController()

    async def waits(builder, options):
        yield builder.start()
        yield builder.text_start()
        yield builder.text(0, "half")
        await options.signal.wait()
        yield builder.abort()

    llm.plays(waits)
    ran = await run(
        "hi",
        signal=controller.signal,
        watch=lambda event: controller.abort() if event.type == "message_update" else None,
    )

    assert ran.outline == outline(PROMPT, ANSWER, "turn_end agent_end")
    assert ran.answers[0].stop_reason == "aborted"
    assert ran.answers[0].text == "half"
    assert ran.log.of("turn_end")[0].tool_results == ()


async def test_abort_in_tools_ends_them_and_makes_one_more_request_that_is_aborted(llm, run, tool):
    controller = AbortController()

    async def waits(params, signal, update):
        await signal.wait()
        return ToolResult.text("Command aborted", is_error=True)

    llm.turn(llm.call("a"), llm.call("a"))
    ran = await run(
        "go",
        tools=[tool("a", waits)],
        signal=controller.signal,
        watch=lambda event: (
            asyncio.get_running_loop().call_soon(controller.abort)
            if event.type == "tool_execution_start" and event.tool_call_id == "c2"
            else None
        ),
    )

    calls = f"tes(c1) tes(c2) tee(c1) tee(c2) {RESULT} {RESULT} turn_end"
    assert ran.outline == outline(PROMPT, ANSWER, calls, "turn_start", SILENT_ANSWER, "turn_end agent_end")
    assert ran.answers[1].stop_reason == "aborted"
    assert ran.answers[1].content == ()
    assert len(llm.contexts) == 1


# The low-level stream


async def test_what_a_callback_raises_reaches_who_iterates(llm, user):
    async def broken():
        raise ValueError("the queue is broken")

    config = LoopConfig(model=llm.model, stream=llm.stream, get_steering_messages=broken)
    stream = agent_loop([user("hi")], AgentContext(), config)

    with pytest.raises(ValueError, match="the queue is broken"):
        [event async for event in stream]
    with pytest.raises(ValueError, match="the queue is broken"):
        await stream.result()


@pytest.mark.parametrize(("raised", "again"), [(ValueError("broken"), False), (asyncio.CancelledError(), True)])
async def test_only_what_ends_the_task_is_raised_in_the_task_behind_the_stream(llm, user, raised, again):
    async def broken():
        raise raised

    config = LoopConfig(model=llm.model, stream=llm.stream, get_steering_messages=broken)
    stream = agent_loop([user("hi")], AgentContext(), config)
    with pytest.raises(type(raised)):
        await stream.result()
    await asyncio.wait([stream.producer])

    assert stream.producer.cancelled() is again
    assert again or stream.producer.exception() is None


async def test_the_context_grows_with_the_run(llm, run, tool):
    llm.turn(llm.call("a")).turn("done")
    ran = await run("go", tools=[tool("a")])

    assert ran.context.messages == list(ran.messages)
    assert llm.contexts[0].system_prompt == "be brief"
    assert [each.name for each in llm.contexts[0].tools] == ["a"]


async def test_the_key_is_asked_for_before_every_request(llm, run, tool):
    asked = []

    async def key(provider):
        asked.append(provider)
        return f"key {len(asked)}" if len(asked) == 1 else None

    llm.turn(llm.call("a")).turn("done")
    await run("go", tools=[tool("a")], get_api_key=key, options=StreamOptions(api_key="fallback"))

    assert asked == ["p", "p"]
    assert [options.api_key for options in llm.options] == ["key 1", "fallback"]


async def test_the_context_is_transformed_for_each_request_alone(llm, run, user):
    async def only_last(messages, signal):
        return messages[-1:]

    llm.turn("Hello")
    ran = await run("two", messages=[user("one")], transform_context=only_last)

    assert [message.text for message in llm.contexts[0].messages] == ["two"]
    assert len(ran.context.messages) == 3


async def test_observers_may_replace_a_message_before_it_is_part_of_the_transcript(llm, run):
    async def shout(message):
        return evolve(message, content=(TextContent(message.text.upper()),))

    llm.turn("hello")
    ran = await run("hi", finish_message=shout)

    assert [message.text for message in ran.messages] == ["HI", "HELLO"]
    assert [event.message.text for event in ran.log.of("message_end")] == ["HI", "HELLO"]
    assert ran.log.of("turn_end")[0].message.text == "HELLO"
