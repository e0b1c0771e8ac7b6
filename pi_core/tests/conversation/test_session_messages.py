"""Messages from programs and plugins: said at once, stored, queued, or kept for the user's next prompt."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import AgentBusy, CustomMessage
from pi_testing import stall, text, tool_call


def note(content="remember"):
    return CustomMessage(custom_type="note", content=content)


def sent_texts(script, number=-1):
    return [message.text for message in script.requests[number].messages]


async def test_a_message_is_stored_while_nothing_runs(session_of, script, recorder):
    session = session_of()
    await session.start()
    await session.send_message(note())
    script.turn(text("ok"))
    await session.prompt("go")

    assert sent_texts(script) == ["remember", "go"]
    assert next(event.message.role for event in recorder.events if event.type == "message_end") == "custom"


async def test_a_message_may_be_answered_at_once(session_of, script):
    session = session_of()
    script.turn(text("ok"))
    answer = await session.send_message(note(), trigger_turn=True)

    assert answer.text == "ok"
    assert sent_texts(script) == ["remember"]


async def test_a_message_may_wait_for_the_users_next_prompt(session_of, script):
    session = session_of()
    await session.send_message(note(), deliver_as="nextTurn")
    assert session.messages == []
    script.turn(text("ok"))
    await session.prompt("go")

    assert sent_texts(script) == ["go", "remember"]


@pytest.mark.parametrize(("deliver_as", "place"), [("steer", 1), ("followUp", 2), (None, 1)])
async def test_during_a_run_a_message_is_queued(session_of, script, deliver_as, place):
    session = session_of()

    async def meanwhile(_request):
        await session.send_message(note(), deliver_as=deliver_as)
        return tool_call("nothing")

    script.turn(meanwhile).turn(text("ok")).turn(text("more"))
    await session.prompt("go")

    assert "remember" in sent_texts(script, place)
    assert "remember" not in sent_texts(script, place - 1)


async def test_a_program_sends_a_message_as_the_user(session_of, script):
    session = session_of()
    script.turn(text("ok"))
    await session.send_user_message("/no command")

    assert sent_texts(script) == ["/no command"]


async def test_during_a_run_it_has_to_say_how(session_of, script, recorder):
    session = session_of()
    script.turn(stall())
    prompt = asyncio.create_task(session.prompt("go"))
    await recorder.wait_for("agent_start")

    with pytest.raises(AgentBusy):
        await session.send_user_message("more")
    await session.send_user_message("more", deliver_as="followUp")
    assert session.get_follow_up_messages() == ("more",)

    await session.abort()
    await prompt


async def test_queue_changes_are_emitted(session_of, script, recorder):
    session = session_of()

    async def meanwhile(_request):
        session.steer("left")
        session.follow_up("later")
        return tool_call("nothing")

    script.turn(meanwhile).turn(text("ok")).turn(text("done"))
    await session.prompt("go")

    assert [(event.steering, event.follow_up) for event in recorder.events if event.type == "queue_update"] == [
        (("left",), ()),
        (("left",), ("later",)),
        ((), ("later",)),
        ((), ()),
    ]


async def test_what_is_queued_can_be_taken_back(session_of):
    session = session_of()
    await session.start()
    session.steer("a")
    session.follow_up("b")

    assert session.pending_message_count == 2
    assert session.clear_queue() == (("a",), ("b",))
    assert session.pending_message_count == 0


async def test_the_user_takes_back_texts_and_messages_of_plugins_stay_queued(session_of):
    session = session_of()
    await session.start()
    queue = session.parts.queue
    queue.add([note("for steering")], "steer")
    session.steer("a")
    queue.add([note("for later")], "followUp")
    session.follow_up("b")

    assert queue.take_user_texts() == ["a", "b"]
    assert queue.texts() == (("for steering",), ("for later",))
    assert queue.take_user_texts() == []
