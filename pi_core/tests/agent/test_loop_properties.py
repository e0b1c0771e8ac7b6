"""Whatever a model, its tools and the user do, a run ends in good order and every call has one result."""

from __future__ import annotations

import asyncio

from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from pi_core import Agent, LoopCallbacks
from pi_hookspecs import MessageBuilder, Model, TextContent, Tool, ToolCallResult, ToolResult, UserMessage

MODEL = Model(id="m", name="M", api="played", provider="p")
OUTCOMES = ("ok", "fails", "late", "updates", "terminates", "blocked", "wrong type", "missing", "exits", "cancelled")


@frozen
class Turn:
    """One answer: how each of its calls turns out, and how the stream ends."""

    calls: tuple[str, ...]
    ending: str


turns = st.builds(
    Turn,
    calls=st.lists(st.sampled_from(OUTCOMES), max_size=4).map(tuple),
    ending=st.sampled_from(["done", "done", "done", "done", "length", "fails", "raises", "stops short"]),
)


@frozen
class Story:
    """A run: its turns, when it is aborted (at which event, counted), and what is queued meanwhile."""

    turns: tuple[Turn, ...]
    mode: str
    interrupt: str | None
    abort_at: int | None
    steer_at: int | None
    follow_ups: int


stories = st.builds(
    Story,
    turns=st.lists(turns, min_size=1, max_size=4).map(tuple),
    mode=st.sampled_from(["parallel", "sequential"]),
    interrupt=st.sampled_from([None, "wait", "skip"]),
    abort_at=st.none() | st.integers(0, 40),
    steer_at=st.none() | st.integers(0, 30),
    follow_ups=st.integers(0, 2),
)


async def execute(call_id, params, signal, update, ctx):
    outcome = params["outcome"]
    if outcome == "fails":
        raise ValueError("failed")
    if outcome == "exits":
        raise SystemExit(1)
    if outcome == "cancelled":
        raise asyncio.CancelledError
    if outcome == "late":
        for _ in range(3):
            await asyncio.sleep(0)
    if outcome == "updates":
        update(ToolResult.text("half"))
        await asyncio.sleep(0)
        update(ToolResult.text("more"))
    return "no result" if outcome == "wrong type" else ToolResult.text("ok", terminate=outcome == "terminates")


async def before(question, signal):
    return ToolCallResult(block=True, reason="no") if question.args["outcome"] == "blocked" else None


def stream_of(story):
    played = iter(story.turns)

    async def stream(model, context, options):
        turn = next(played, Turn((), "done"))
        builder = MessageBuilder(model)
        yield builder.start()
        start = builder.text_start()
        yield start
        await asyncio.sleep(0)
        yield builder.text(0, "x")
        yield builder.text_end(0)
        for number, outcome in enumerate(turn.calls, 1):
            name = "nothing" if outcome == "missing" else "tool"
            yield builder.tool_call_start(f"{id(turn)}-{number}", name)
            yield builder.tool_call(number, f'{{"outcome": "{outcome}"}}')
            yield builder.tool_call_end(number)
        if turn.ending == "raises":
            raise ConnectionError("gone")
        if turn.ending == "fails":
            yield builder.fail("overloaded")
        elif turn.ending != "stops short":
            yield builder.done("length" if turn.ending == "length" else "stop")

    return stream


async def play(story, events):
    tool = Tool(name="tool", description="", parameters={"type": "object"}, execute=execute)
    agent = Agent(
        stream=stream_of(story),
        model=MODEL,
        tools=[tool],
        callbacks=LoopCallbacks(before_tool_call=before, tool_execution=story.mode, steering_interrupt=story.interrupt),
    )

    def listen(event):
        events.append(event)
        if len(events) - 1 == story.steer_at:
            agent.steer(user_message("steered"))
        if len(events) - 1 == story.abort_at:
            agent.abort()

    agent.subscribe(listen)
    for _ in range(story.follow_ups):
        agent.follow_up(user_message("followed"))
    await agent.prompt("go")
    return agent


def user_message(text):
    return UserMessage(content=(TextContent(text),))


@given(story=stories)
def test_a_run_ends_in_good_order(story):
    events = []
    agent = asyncio.run(play(story, events))

    assert not agent.state.is_streaming
    assert agent.signal is None
    assert agent.state.pending_tool_calls == frozenset()
    assert_events_nest(events)
    assert_every_call_has_its_result(agent.state.messages, events)
    assert events[-1].messages == tuple(agent.state.messages)
    queued = sum(map(len, agent.peek_queued_messages()))
    delivered = sum(message.role == "user" for message in agent.state.messages) - 1
    steered = story.steer_at is not None and story.steer_at < len(events)
    assert queued + delivered == story.follow_ups + steered


def assert_events_nest(events):
    types = [event.type for event in events]
    assert types[0] == "agent_start"
    assert types[-1] == "agent_end"
    assert types.count("agent_start") == types.count("agent_end") == 1
    in_turn, message, calls = False, None, {}
    for event in events[1:-1]:
        if event.type == "turn_start":
            assert not in_turn
            in_turn = True
        elif event.type == "turn_end":
            assert in_turn
            assert message is None
            assert not calls
            in_turn = False
        elif event.type == "message_start":
            assert message is None
            message = event.message.role
        elif event.type == "message_update":
            assert message == "assistant"
        elif event.type == "message_end":
            assert message == event.message.role
            message = None
        elif event.type == "tool_execution_start":
            assert event.tool_call_id not in calls
            calls[event.tool_call_id] = event
        elif event.type == "tool_execution_update":
            assert event.tool_call_id in calls
        elif event.type == "tool_execution_end":
            del calls[event.tool_call_id]
    assert not in_turn


def assert_every_call_has_its_result(messages, events):
    started = [event.tool_call_id for event in events if event.type == "tool_execution_start"]
    results = [message for message in messages if message.role == "toolResult"]
    assert [result.tool_call_id for result in results] == started
    ended = [event for event in events if event.type == "tool_execution_end"]
    assert sorted(event.tool_call_id for event in ended) == sorted(started)
    asked = [call.id for message in messages if message.role == "assistant" for call in message.tool_calls]
    assert [call_id for call_id in asked if call_id in started] == started
    for message, after in zip(messages, [*messages[1:], None], strict=True):
        if message.role == "assistant" and message.stop_reason in ("error", "aborted"):
            assert after is None
        if message.role == "assistant":
            assert message.stop_reason != "pending"


@given(story=stories, cancel_after=st.integers(0, 30))
def test_a_cancelled_run_ends_its_messages_and_itself_too(story, cancel_after):
    events = []

    async def cancelled():
        prompt = asyncio.create_task(play(evolve(story, abort_at=None), events))
        for _ in range(cancel_after):
            await asyncio.sleep(0)
        prompt.cancel()
        await asyncio.gather(prompt, return_exceptions=True)

    asyncio.run(cancelled())

    types = [event.type for event in events]
    if types:
        assert types[0] == "agent_start"
        assert types[-1] == "agent_end"
        assert types.count("agent_end") == 1
    messages = [event for event in events if event.type in ("message_start", "message_end")]
    assert [event.type for event in messages] == ["message_start", "message_end"] * (len(messages) // 2)
