"""What the scripted provider's stream does for each step."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import AbortController, Aborted, Context, Cost, Provider, StreamOptions, UserMessage
from pi_testing import (
    ScriptedProvider,
    delay,
    error,
    no_end,
    raises,
    stall,
    stop,
    text,
    thinking,
    tool_call,
    unknown_event,
    usage,
)

ASKED = Context(system_prompt="Be brief.", messages=(UserMessage(content="Hello"),))


async def play(script: ScriptedProvider, options: StreamOptions | None = None) -> list[Any]:
    return [event async for event in script.stream(script.model, ASKED, options or StreamOptions())]


def types(events: list[Any]) -> list[str]:
    return [event.type for event in events]


def test_it_is_a_provider():
    assert isinstance(ScriptedProvider(), Provider)


async def test_text_comes_in_blocks_and_deltas():
    events = await play(ScriptedProvider().turn(thinking("Hm."), text("Hello", chunks=2)))

    assert types(events) == [
        "start",
        "thinking_start",
        "thinking_delta",
        "thinking_end",
        "text_start",
        "text_delta",
        "text_delta",
        "text_end",
        "done",
    ]
    assert [event.delta for event in events if event.type == "text_delta"] == ["He", "llo"]
    assert (events[-1].message.text, events[-1].reason) == ("Hello", "stop")


@given(answer=st.text(), chunks=st.integers(1, 20))
def test_any_text_survives_any_number_of_chunks(answer: str, chunks: int):
    events = asyncio.run(play(ScriptedProvider().turn(text(answer, chunks))))
    deltas = [event.delta for event in events if event.type == "text_delta"]

    assert "".join(deltas) == answer
    assert len(deltas) == min(chunks, len(answer))
    assert all(deltas)


async def test_chunks_may_be_the_deltas_themselves():
    events = await play(ScriptedProvider().turn(text("abc", ["a", "", "bc"])))

    assert [event.delta for event in events if event.type == "text_delta"] == ["a", "", "bc"]


def test_chunks_that_make_another_text_are_refused():
    with pytest.raises(ValueError, match="make 'ab', not 'abc'"):
        text("abc", ["a", "b"])


async def test_tool_call_carries_its_arguments():
    events = await play(ScriptedProvider().turn(tool_call("bash", command="ls"), tool_call("ls", "mine")))
    first, second = events[-1].message.tool_calls

    assert (first.id, first.name, first.arguments) == ("call_1", "bash", {"command": "ls"})
    assert (second.id, second.arguments) == ("mine", {})
    assert events[-1].reason == "toolUse"
    assert types(events)[1:5] == ["toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_end"]


async def test_call_ids_do_not_repeat_between_turns():
    script = ScriptedProvider().turn(tool_call("ls"), tool_call("ls")).turn(tool_call("ls"))
    answers = [(await play(script))[-1].message, (await play(script))[-1].message]

    assert [call.id for answer in answers for call in answer.tool_calls] == ["call_1", "call_2", "call_3"]


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()))
def test_any_arguments_arrive_as_they_are(arguments: dict[str, Any]):
    events = asyncio.run(play(ScriptedProvider().turn(tool_call("echo", arguments=arguments))))

    assert events[-1].message.tool_calls[0].arguments == arguments


async def test_raw_arguments_need_not_be_json():
    events = await play(ScriptedProvider().turn(tool_call("bash", raw_arguments="{bad")))

    assert "not valid JSON" in events[-1].message.tool_calls[0].arguments_error


def test_arguments_are_given_in_one_way():
    with pytest.raises(TypeError, match="one of them"):
        tool_call("bash", arguments={}, command="ls")


def test_arguments_that_json_cannot_hold_are_refused_where_they_are_written():
    with pytest.raises(TypeError, match="not JSON serializable"):
        tool_call("bash", command={1})


async def test_error_comes_without_start_when_nothing_was_received():
    (event,) = await play(ScriptedProvider().turn(error("overloaded")))

    assert (event.type, event.reason, event.error.error_message) == ("error", "error", "overloaded")


async def test_error_keeps_what_was_received():
    events = await play(ScriptedProvider().turn(text("Half"), error("cut"), text("never")))

    assert types(events) == ["start", "text_start", "text_delta", "text_end", "error"]
    assert events[-1].error.text == "Half"


async def test_raises_breaks_the_stream_in_the_middle():
    script = ScriptedProvider().turn(text("a"), raises(ZeroDivisionError()))
    stream = script.stream(script.model, ASKED, StreamOptions())
    came = [await anext(stream) for _ in range(4)]

    assert types(came) == ["start", "text_start", "text_delta", "text_end"]
    with pytest.raises(ZeroDivisionError):
        await anext(stream)


async def test_no_end_ends_without_done():
    events = await play(ScriptedProvider().turn(text("a"), no_end()))

    assert types(events)[-1] == "text_end"


async def test_unknown_event_has_the_type_and_a_partial_message():
    events = await play(ScriptedProvider().turn(text("a"), unknown_event("mystery")))

    assert types(events)[-2:] == ["mystery", "done"]
    assert events[-2].partial.text == "a"


async def test_stop_and_usage_are_on_the_message():
    events = await play(ScriptedProvider().turn(usage(input=10, output=2, cache_read=3), text("a"), stop("length")))
    message = events[-1].message

    assert message.stop_reason == "length"
    assert (message.usage.input, message.usage.output, message.usage.total_tokens) == (10, 2, 15)


def test_stop_is_for_good_ends():
    with pytest.raises(ValueError, match=r"error\(\.\.\.\)"):
        stop("error")


async def test_turn_without_steps_is_an_empty_answer():
    events = await play(ScriptedProvider().turn())

    assert types(events) == ["start", "done"]
    assert events[-1].message.content == ()


async def test_abort_ends_a_stall_and_keeps_what_was_received():
    script, controller = ScriptedProvider().turn(text("Half"), stall(), text("never")), AbortController()
    playing = asyncio.create_task(play(script, StreamOptions(signal=controller.signal)))
    await script.stalled()
    controller.abort()
    events = await playing

    assert (events[-1].reason, events[-1].error.text) == ("aborted", "Half")
    assert types(events).count("error") == 1


async def test_abort_ends_a_delay():
    controller = AbortController()
    playing = asyncio.create_task(play(ScriptedProvider().turn(delay(3600)), StreamOptions(signal=controller.signal)))
    await asyncio.sleep(0)
    controller.abort()
    events = await playing

    assert types(events) == ["error"]


async def test_abort_between_two_deltas_ends_the_answer():
    script, controller = ScriptedProvider().turn(text("abc", 3), text("never")), AbortController()
    came = []
    async for event in script.stream(script.model, ASKED, StreamOptions(signal=controller.signal)):
        came.append(event)
        if event.type == "text_delta":
            controller.abort()

    assert types(came) == ["start", "text_start", "text_delta", "error"]
    assert came[-1].error.text == "a"


async def test_stall_that_ignores_the_abort_ends_when_it_is_cancelled():
    script, controller = ScriptedProvider().turn(stall(ignoring_abort=True)), AbortController()
    playing = asyncio.create_task(play(script, StreamOptions(signal=controller.signal)))
    await script.stalled()
    controller.abort()
    await asyncio.sleep(0.01)

    assert not playing.done()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing


async def test_delay_passes():
    events = await play(ScriptedProvider().turn(delay(0.001), text("a")))

    assert events[-1].message.text == "a"


async def test_exhausted_script_says_how_many_requests_came():
    script = ScriptedProvider().turn(text("a"))
    await play(script)
    (event,) = await play(script)

    assert event.error.error_message == "The script is exhausted: this is request 2, and it has 1 turn"
    assert len(script.requests) == 2


async def test_turn_may_be_made_from_the_request():
    script = ScriptedProvider().turn(lambda request: [text(request.user_text.upper())])
    events = await play(script)

    assert events[-1].message.text == "HELLO"


async def test_turn_function_may_be_async_and_return_one_step():
    async def answer(request: object) -> Any:
        return text("later")

    events = await play(ScriptedProvider().turn(answer))

    assert events[-1].message.text == "later"


async def test_what_a_turn_function_raises_is_kept_for_the_test():
    script = ScriptedProvider().turn(lambda request: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await play(script)

    with pytest.raises(ZeroDivisionError):
        script.check()


def test_turn_takes_steps_only():
    with pytest.raises(TypeError, match="not of 'hello'"):
        ScriptedProvider().turn("hello")


async def test_remaining_counts_the_turns_that_were_not_played():
    script = ScriptedProvider().turn(text("a")).turn(text("b"))
    await play(script)

    assert script.remaining == 1


async def test_payload_can_be_replaced_and_the_answer_has_a_head():
    heads = []

    async def on_payload(payload: dict[str, Any], model: Any) -> dict[str, Any]:
        return payload | {"temperature": 0, "model": model.reference}

    async def on_response(status: int, headers: dict[str, str]) -> None:
        heads.append((status, headers))

    script = ScriptedProvider().turn(text("a"))
    await play(script, StreamOptions(on_payload=on_payload, on_response=on_response))
    payload = script.requests[0].payload

    assert payload == {
        "model": "scripted/model",
        "system_prompt": "Be brief.",
        "messages": [{"role": "user", "text": "Hello"}],
        "tools": [],
        "temperature": 0,
    }
    assert json.dumps(payload)
    assert heads == [(200, {})]


@pytest.mark.parametrize("hook", ["on_payload", "on_response"])
@pytest.mark.parametrize(
    ("problem", "ended"),
    [(ValueError("not this one"), ("error", "not this one")), (Aborted("no"), ("aborted", "Request was aborted"))],
    ids=["fails", "aborts"],
)
async def test_a_hook_that_raises_ends_the_answer(hook, problem, ended):
    async def fail(*_: Any) -> None:
        raise problem

    options: dict[str, Any] = {hook: fail}
    (event,) = await play(ScriptedProvider().turn(text("Hello")), StreamOptions(**options))

    assert event.type == "error"
    assert (event.error.stop_reason, event.error.error_message) == ended


def test_steps_and_requests_read_well():
    assert repr(tool_call("bash", command="ls")) == """tool_call('bash', '{"command": "ls"}')"""
    assert repr(text("Hello")) == "text('Hello')"


@pytest.mark.parametrize(
    ("given", "total"), [({"cost": 0.25}, 0.25), ({"cost": Cost(input=0.1, total=0.1)}, 0.1), ({}, 0.0)]
)
async def test_a_turn_has_the_price_that_it_is_given(pi_session, script, given, total):
    script.turn(text("Done."), usage(input=10, output=2, **given))

    answer = await pi_session.prompt("work")

    assert (answer.usage.total_tokens, answer.usage.cost.total) == (12, total)
    assert pi_session.get_session_stats().cost == pytest.approx(total)
