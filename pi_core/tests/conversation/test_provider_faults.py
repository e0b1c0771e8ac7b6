"""Whatever a provider does wrong is an error message in the transcript, never a traceback or a hang."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from pi_hookspecs import Done, Error, ThinkingContent


def is_over(ran):
    return ran.outline[-3:] == ["me(assistant)", "turn_end", "agent_end"]


@pytest.fixture
def answer(llm, run):
    """Let a generator answer and return the run."""

    async def play(generator, **options):
        llm.plays(generator)
        return await run("hi", **options)

    return play


# Raising


async def test_raising_in_the_middle_keeps_the_text(answer):
    async def breaks(builder, options):
        yield builder.start()
        yield builder.thinking_start()
        yield builder.thinking(0, "hm")
        yield builder.text_start()
        yield builder.text(1, "half")
        raise ConnectionError("connection reset")

    ran = await answer(breaks)

    assert is_over(ran)
    assert ran.answers[0].text == "half"
    assert ran.answers[0].content[0] == ThinkingContent("hm")
    assert ran.answers[0].stop_reason == "error"
    assert ran.answers[0].error_message == "connection reset"
    assert ran.log.of("agent_end")[0].error == "connection reset"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError(), "ValueError"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyError("model"), "KeyError: 'model'"),
        (KeyboardInterrupt("odd"), "KeyboardInterrupt: odd"),
        (BaseException("odd"), "BaseException: odd"),
    ],
)
async def test_raising_before_the_first_event(answer, error, text):
    async def breaks(builder, options):
        raise error
        yield

    ran = await answer(breaks)

    assert is_over(ran)
    assert ran.answers[0].content == ()
    assert ran.answers[0].error_message.startswith(f"Provider 'p' failed: {text} (in {__file__}, line ")


async def test_half_a_tool_call_is_dropped_and_a_whole_one_is_kept_but_not_run(answer, tool):
    async def breaks(builder, options):
        yield builder.start()
        yield builder.tool_call_start("c1", "t")
        yield builder.tool_call_end(0)
        yield builder.tool_call_start("c2", "t")
        yield builder.tool_call(1, '{"path": "a')
        raise ConnectionError("gone")

    ran = await answer(breaks, tools=[tool("t")])

    assert is_over(ran)
    assert [call.id for call in ran.answers[0].tool_calls] == ["c1"]
    assert not ran.results


async def test_a_block_that_was_opened_and_got_nothing_is_not_kept(answer):
    async def breaks(builder, options):
        yield builder.start()
        yield builder.text_start()
        raise ConnectionError("gone")

    ran = await answer(breaks)

    assert ran.answers[0].content == ()


async def test_a_stream_function_that_raises(run):
    def stream(*_):
        raise RuntimeError("no such API")

    ran = await run("hi", stream=stream)

    assert is_over(ran)
    assert ran.answers[0].error_message.startswith(f"Provider 'p' failed: RuntimeError: no such API (in {__file__}, ")


async def test_a_provider_that_cancels_itself(answer):
    async def cancels(builder, options):
        yield builder.start()
        raise asyncio.CancelledError

    ran = await answer(cancels)

    assert is_over(ran)
    assert ran.answers[0].error_message == "Provider 'p' cancelled its own request"


@pytest.mark.parametrize("callback", ["transform_context", "get_api_key"])
async def test_a_callback_that_raises_before_the_request_is_a_failed_answer(run, callback):
    async def broken(*_):
        raise ValueError("No API key found for p. Set P_API_KEY.")

    ran = await run("hi", **{callback: broken})

    assert is_over(ran)
    assert ran.answers[0].error_message == "No API key found for p. Set P_API_KEY."


# Ending


async def test_ending_without_done(answer):
    async def ends(builder, options):
        yield builder.start()
        yield builder.text_start()
        yield builder.text(0, "half")

    ran = await answer(ends)

    assert is_over(ran)
    assert ran.answers[0].text == "half"
    assert ran.answers[0].error_message == "Provider 'p' ended its stream without 'done' or 'error'"


async def test_an_empty_stream(answer):
    async def ends(builder, options):
        return
        yield

    ran = await answer(ends)

    assert is_over(ran)
    assert "without 'done'" in ran.answers[0].error_message


@pytest.mark.parametrize("event", [Done(message=None), Done(message="Hello"), Error(error=None)])
async def test_an_end_without_a_message(answer, event):
    async def ends(builder, options):
        yield event

    ran = await answer(ends)

    assert is_over(ran)
    assert "which is not a message" in ran.answers[0].error_message


async def test_an_error_whose_message_does_not_say_so_is_one(answer):
    async def ends(builder, options):
        yield builder.start()
        yield Error(error=builder.done().message)

    ran = await answer(ends)

    assert is_over(ran)
    assert ran.answers[0].stop_reason == "error"


async def test_events_after_the_end_are_not_read(answer):
    async def goes_on(builder, options):
        yield builder.start()
        yield builder.done()
        yield builder.text_start()
        raise ConnectionError("nobody sees this")

    ran = await answer(goes_on)

    assert ran.answers[0].stop_reason == "stop"


@pytest.mark.parametrize("trouble", ["raises", "exits", "yields", "hangs"])
async def test_trouble_while_closing_does_not_change_the_answer(answer, short_grace, trouble):
    async def ends(builder, options):
        yield builder.start()
        try:
            yield builder.done()
        finally:
            if trouble == "raises":
                raise ConnectionError("cannot close")
            if trouble == "exits":
                raise SystemExit(1)
            if trouble == "yields":
                yield builder.start()
            await asyncio.Event().wait()

    ran = await answer(ends)

    assert is_over(ran)
    assert ran.answers[0].stop_reason == "stop"


async def test_a_stream_is_closed_in_the_task_that_read_it(answer):
    tasks = []

    async def looks(builder, options):
        tasks.append(asyncio.current_task())
        try:
            yield builder.start()
            yield builder.done()
        finally:
            tasks.append(asyncio.current_task())

    await answer(looks)

    assert tasks[0] is tasks[1]


# Nonsense


@pytest.mark.parametrize(
    ("event", "output"),
    [(SimpleNamespace(type="mystery"), "'mystery'"), ("text", "'text'"), (None, "None"), ({}, "{}")],
)
async def test_an_unknown_event(answer, event, output):
    async def surprises(builder, options):
        yield builder.start()
        yield builder.text_start()
        yield builder.text(0, "half")
        yield event

    ran = await answer(surprises)

    assert is_over(ran)
    assert ran.answers[0].text == "half"
    assert ran.answers[0].error_message == f"Provider 'p' sent an unknown stream event: {output}"


async def test_a_block_event_without_a_message_behind_it(answer):
    async def surprises(builder, options):
        yield SimpleNamespace(type="text_delta", delta="x", content_index=0)

    ran = await answer(surprises)

    assert is_over(ran)
    assert ran.answers[0].stop_reason == "error"


async def a_coroutine(model, context, options):
    return None


@pytest.mark.parametrize("stream", [a_coroutine, lambda *_: None, lambda *_: [1, 2], lambda *_: "text"])
async def test_a_stream_that_is_no_async_iterator(run, stream):
    ran = await run("hi", stream=stream)

    assert is_over(ran)
    assert "Provider 'p' returned" in ran.answers[0].error_message
    assert "not an async iterator" in ran.answers[0].error_message


async def test_an_iterator_that_cannot_be_closed_is_fine(llm, run):
    class Plain:
        def __init__(self, generator):
            self._generator = generator

        def __aiter__(self):
            return self

        async def __anext__(self):
            return await anext(self._generator)

    llm.turn("Hello")
    ran = await run("hi", stream=lambda *request: Plain(llm.stream(*request)))

    assert ran.answers[0].text == "Hello"


async def test_a_provider_cannot_change_the_conversation_through_its_context(llm, run):
    async def damages(builder, options):
        with pytest.raises(AttributeError):
            llm.contexts[-1].messages.clear()
        yield builder.done()

    llm.plays(damages)
    ran = await run("hi")

    assert [message.role for message in ran.context.messages] == ["user", "assistant"]


async def test_a_partial_kept_from_the_stream_stays_as_it_was(llm):
    from pi_core import Agent

    kept = []

    async def speaks(builder, options):
        yield builder.start()
        yield builder.text_start()
        for piece in "abc":
            yield builder.text(0, piece)
        yield builder.text_end(0)
        yield builder.done()

    agent = Agent(stream=llm.stream, model=llm.model)
    agent.subscribe(lambda event: kept.append(event.message.text) if event.type == "message_update" else None)
    llm.plays(speaks)
    await agent.prompt("hi")

    assert kept == ["", "a", "ab", "abc", "abc"]
