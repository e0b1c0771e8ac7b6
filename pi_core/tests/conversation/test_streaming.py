"""``session.stream``: the events of a prompt, and what becomes of the prompt when its consumer goes."""

from __future__ import annotations

import asyncio
import gc
import math
from contextlib import aclosing

import pytest

from pi_core import UsageLimits
from pi_core.conversation import streaming
from pi_hookspecs import AgentBusy, Command, ImageContent, NoModel, PiError, UsageLimitExceeded, hookimpl
from pi_testing import PNG, error, make_tool, stall, text, tool_call


class Failing(Exception):
    """Of the consumer."""


async def test_it_yields_what_a_subscriber_gets_and_ends_when_settled(session_of, script, recorder):
    session = session_of(tools=[make_tool("look", "a cat")])
    script.turn(tool_call("look")).turn(text("A cat."))

    events = [event async for event in session.stream("What is there?")]

    assert events == recorder.events[-len(events) :]
    assert [event.type for event in events][:2] == ["agent_start", "turn_start"]
    assert events[-1].type == "agent_settled"
    assert session.last_answer().text == "A cat."


async def test_its_text_comes_in_pieces_with_an_empty_line_between_two_texts(session_of, script):
    session = session_of(tools=[make_tool("look", "a cat")])
    script.turn(text("Let me look.", chunks=["Let me ", "look."]), tool_call("look")).turn(text("A cat."))

    pieces = [piece async for piece in session.stream("What is there?").text()]

    assert pieces == ["Let me ", "look.", "\n\nA cat."]


async def test_nothing_happens_before_the_first_step(session_of, script):
    session = session_of()
    session.stream("never")
    await asyncio.sleep(0)

    assert not script.requests


async def test_images_and_limits_belong_to_the_prompt(session_of, script):
    session = session_of(tools=[make_tool("look", "a cat")])
    script.turn(tool_call("look")).turn(text("A cat."))
    images, seen = [ImageContent(PNG, "image/png")], []

    async def read():
        async for event in session.stream("Look", images=images, limits=UsageLimits(requests=1)):
            seen.append(event.type)  # noqa: PERF401 - what came before it raised

    with pytest.raises(UsageLimitExceeded):
        await read()

    assert [block.type for block in script.requests[0].messages[0].content] == ["text", "image"]
    assert seen[-1] == "agent_settled"


async def test_a_failed_request_is_an_answer_and_no_exception(session_of, script):
    session = session_of()
    script.turn(error("400 on fire"))

    events = [event async for event in session.stream("hi")]

    assert events[-1].type == "agent_settled"
    assert session.last_answer().error_message == "400 on fire"


async def test_what_cannot_begin_raises_at_the_first_step(session_of):
    session = session_of(model=None)
    session.agent.state.model = None

    with pytest.raises(NoModel):
        [event async for event in session.stream("hi")]


async def test_a_command_has_no_events_of_a_run(session_of):
    class Commands:
        @hookimpl
        def register_commands(self):
            return [Command(name="deal", handler=lambda arguments, ctx: None)]

    session = session_of(Commands())

    assert "agent_settled" not in [event.type async for event in session.stream("/deal")]


async def leave_by_break(session, at):
    async for event in session.stream("first"):
        if event.type == at:
            break


async def leave_by_exception(session, at):
    try:
        async for event in session.stream("first"):
            if event.type == at:
                raise Failing  # noqa: TRY301 - of the body
    except Failing:
        return


async def leave_by_return(session, at):
    async def inner():
        async for event in session.stream("first"):
            if event.type == at:
                return

    await inner()


async def leave_the_text(session, at):
    session.subscribe(lambda event: waiting.set(), at)
    waiting = asyncio.Event()
    async for _ in session.stream("first").text():
        await waiting.wait()
        break


async def leave_by_closing(session, at):
    async with aclosing(session.stream("first")) as events:
        async for event in events:
            if event.type == at:
                break


async def leave_by_cancelled_reading(session, at):
    stalled = asyncio.Event()

    async def read():
        async for event in session.stream("first"):
            if event.type == at:
                stalled.set()

    reading = asyncio.create_task(read())
    await stalled.wait()
    reading.cancel()
    await asyncio.wait([reading])
    assert reading.cancelled()


async def leave_by_cancelled_body(session, at):
    stalled = asyncio.Event()

    async def read():
        async for event in session.stream("first"):
            if event.type == at:
                stalled.set()
                await asyncio.Event().wait()

    reading = asyncio.create_task(read())
    await stalled.wait()
    reading.cancel()
    await asyncio.wait([reading])
    assert reading.cancelled()


WAYS_OUT = [
    leave_by_break,
    leave_by_exception,
    leave_by_return,
    leave_the_text,
    leave_by_closing,
    leave_by_cancelled_reading,
    leave_by_cancelled_body,
]


@pytest.mark.parametrize("leave", WAYS_OUT)
async def test_leaving_early_aborts_the_prompt_and_the_next_may_begin_at_once(session_of, script, leave):
    session = session_of()
    script.turn(text("one"), stall()).turn(text("second"))

    await leave(session, "message_update")
    answer = await session.prompt("next")

    assert answer.text == "second"
    assert [message.stop_reason for message in session.messages if message.role == "assistant"] == ["aborted", "stop"]
    assert not session.is_streaming


@pytest.mark.parametrize("leave", WAYS_OUT)
async def test_leaving_while_a_tool_runs_leaves_no_call_without_result(session_of, script, leave):
    session = session_of(tools=[make_tool("wait", delay=math.inf)])
    script.turn(text("one"), tool_call("wait")).turn(text("second"))

    await leave(session, "tool_execution_start")
    await session.prompt("next")

    calls = [call.id for message in session.messages if message.role == "assistant" for call in message.tool_calls]
    assert calls == [message.tool_call_id for message in session.messages if message.role == "toolResult"]
    assert script.requests[-1].user_text == "next"


async def test_one_stream_after_the_other(session_of, script):
    session = session_of()
    script.turn(text("one"), stall()).turn(text("two"), stall()).turn(text("three"))

    await leave_by_break(session, "message_update")
    await leave_by_break(session, "message_update")

    assert [piece async for piece in session.stream("third").text()] == ["three"]


async def test_an_answer_has_no_messages_of_a_stream_that_was_left(session_of, script):
    session = session_of()
    script.turn(text("one"), stall()).turn(text("second"))
    await leave_by_break(session, "message_update")

    answer = await session.ask("next")

    assert [message.text for message in answer.messages] == ["next", "second"]


async def test_leaving_before_the_prompt_has_begun_lets_it_ask_nothing(session_of, script):
    entered, go_on = asyncio.Event(), asyncio.Event()

    class Slow:
        @hookimpl
        async def input(self, event):
            if event.text == "first":
                entered.set()
                await go_on.wait()

    session = session_of(Slow())
    script.turn(text("second"))
    reading = asyncio.create_task(anext(session.stream("first")))
    await entered.wait()
    reading.cancel()
    await asyncio.wait([reading])
    following = asyncio.create_task(session.prompt("next"))
    await asyncio.sleep(0)
    go_on.set()

    assert (await following).text == "second"
    assert len(script.requests) == 1


async def test_going_on_from_the_transcript_waits_for_a_stream_that_was_left(session_of, script):
    session = session_of()
    script.turn(text("one"), stall()).turn(text("second"))
    await leave_by_break(session, "message_update")
    session.follow_up("and?")

    assert (await session.continue_()).text == "second"


async def test_leaving_when_settled_was_seen_aborts_nothing(session_of, script):
    session = session_of()
    script.turn(text("done"))

    async for event in session.stream("hi"):
        if event.type == "agent_settled":
            break
    await session.wait_for_idle()

    assert session.last_answer().stop_reason == "stop"


async def test_leaving_when_settled_was_seen_leaves_the_next_prompt_alone(session_of, script):
    following = []
    script.turn(text("1")).turn(text("2"), stall())

    async def until_the_next_is_answered(event):
        if len(script.requests) == 1:
            await script.stalled()

    def begin_the_next(event):
        if not following:
            following.append(asyncio.create_task(session.prompt("next")))

    session = session_of()
    session.subscribe(begin_the_next, "agent_settled")
    async for event in session.stream("first"):
        if event.type == "agent_start":
            session.subscribe(until_the_next_is_answered, "agent_settled")
        if event.type == "agent_settled":
            break
    await script.stalled()

    assert not session.runtime.gate.signal.aborted
    await session.abort()
    await following[0]


async def test_a_stream_that_is_kept_and_not_read_holds_the_session(session_of, script):
    session = session_of()
    script.turn(text("one"), stall())
    stream = session.stream("first")
    async for event in stream:
        if event.type == "message_update":
            break

    with pytest.raises(AgentBusy, match="aclose"):
        await session.ask("next")
    await stream.aclose()

    assert session.last_answer().stop_reason == "aborted"
    assert [event async for event in stream] == []


async def test_the_garbage_collector_may_leave_from_another_thread(session_of, script):
    session = session_of()
    script.turn(text("one"), stall()).turn(text("second"))
    held = [session.stream("first")]
    await anext(held[0])
    await script.stalled()

    await asyncio.to_thread(held.clear)

    assert (await session.prompt("next")).text == "second"


async def test_streams_are_no_garbage_in_cycles(session_of, script):
    session = session_of()
    script.turn(text("one"), stall()).turn(text("second"))
    gc.disable()
    try:
        await leave_by_break(session, "message_update")
        assert (await session.prompt("next")).text == "second"
    finally:
        gc.enable()


async def test_a_second_prompt_during_a_stream_is_refused(session_of, script):
    session = session_of()
    script.turn(text("one"), stall())

    async for event in session.stream("first"):
        if event.type == "message_update":
            with pytest.raises(AgentBusy):
                await session.prompt("second")
            with pytest.raises(AgentBusy, match="is being answered"):
                await anext(session.stream("second"))
            break
    script.turn(text("third"))

    assert (await session.prompt("third")).text == "third"
    assert len(script.requests) == 2


async def test_two_tasks_cannot_read_one_stream(session_of, script):
    session = session_of()
    script.turn(stall())
    stream = session.stream("first")
    await anext(stream)

    async def read():
        return [event async for event in stream]

    first = asyncio.create_task(read())
    await script.stalled()
    await asyncio.sleep(0)
    with pytest.raises(PiError, match="Another task is already reading"):
        await anext(stream)
    await session.abort()

    assert (await first)[-1].type == "agent_settled"


async def test_aborting_from_inside_the_loop_ends_it_in_good_order(session_of, script):
    session = session_of()
    script.turn(text("one"), stall())
    types = []

    async for event in session.stream("first"):
        types.append(event.type)
        if event.type == "message_update":
            await session.abort("enough")

    assert types[-2:] == ["agent_end", "agent_settled"]


async def test_the_run_waits_for_a_slow_consumer(session_of, script, monkeypatch):
    monkeypatch.setattr(streaming, "MAX_BUFFERED", 3)
    session = session_of()
    await session.start()
    received = []
    session.subscribe(received.append)
    script.turn(text("abcdefgh", chunks=[*"abcdefgh"]))
    stream = session.stream("spell")
    taken = [await anext(stream)]

    for _ in range(100):
        await asyncio.sleep(0)
    ahead = len(received) - len(taken)
    taken += [event async for event in stream]

    assert ahead <= 3 + 1  # the one that waits for room has reached the other subscribers
    assert taken == received
    assert session.last_answer().text == "abcdefgh"


async def fall_behind():
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_consumer_far_behind_can_abort(session_of, script, monkeypatch):
    monkeypatch.setattr(streaming, "MAX_BUFFERED", 2)
    session = session_of()
    script.turn(text("abcdefgh", chunks=[*"abcdefgh"]), stall())
    types = []

    async for event in session.stream("spell"):
        types.append(event.type)
        if types.count("message_update") == 1:
            await fall_behind()
            await session.abort()

    assert types[-1] == "agent_settled"
    assert session.last_answer().stop_reason == "aborted"


async def test_a_consumer_far_behind_can_leave(session_of, script, monkeypatch):
    monkeypatch.setattr(streaming, "MAX_BUFFERED", 2)
    session = session_of()
    script.turn(text("abcdefgh", chunks=[*"abcdefgh"]), stall()).turn(text("second"))

    async for event in session.stream("spell"):
        if event.type == "message_update":
            await fall_behind()
            break

    assert (await session.prompt("next")).text == "second"


async def test_a_session_that_ends_ends_its_stream(session_of, script):
    session = session_of()
    script.turn(text("one"), stall())
    types = []

    async for event in session.stream("first"):
        types.append(event.type)
        if event.type == "message_update":
            await session.dispose()

    assert "agent_settled" in types


async def test_what_a_subscriber_raises_reaches_the_consumer(session_of, script):
    def breaks(event):
        if event.type == "agent_end":
            raise Failing

    session = session_of()
    session.subscribe(breaks)
    script.turn(text("one"))

    with pytest.raises(Failing):
        [event async for event in session.stream("first")]
