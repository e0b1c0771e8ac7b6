"""``PromptTurns`` alone: from a text to a settled prompt."""

from __future__ import annotations

import pytest

from pi_core.conversation.message_queue import MessageQueue, user_message
from pi_core.conversation.offered_tools import OfferedTools
from pi_core.conversation.system_prompts import PromptRecord
from pi_core.conversation.turn import PromptTurns
from pi_hookspecs import AgentBusy, CustomMessage, InputResult, NoModel
from pi_testing import text


class Commands:
    """Runs no command but ``/done``."""

    async def run(self, line):
        return line == "/done"


class Retry:
    """Repeats nothing."""

    async def wait_for_retry(self, stop):
        return False


@pytest.fixture
def turns_of(runtime_of):
    def make(*plugins, **options):
        runtime = runtime_of(*plugins, **options)

        async def ready():
            pass

        turns = PromptTurns(
            runtime,
            commands=Commands(),
            queue=MessageQueue(runtime),
            retry=Retry(),
            record=PromptRecord(runtime),
            tools=OfferedTools(runtime),
            replace_model=None,
            ready=ready,
        )
        turns.runtime = runtime
        return turns

    return make


async def test_a_command_is_handled_and_reaches_no_model(turns_of, script):
    accepted = []
    answer = await turns_of().prompt("/done", on_accepted=accepted.append)

    assert (answer, accepted, script.requests) == (None, ["handled"], [])


async def test_a_plugins_text_takes_the_place_of_the_users(turns_of, plugin, script):
    script.turn(text("Hello"))
    turns = turns_of(plugin(input=lambda event: InputResult(text=event.text.upper())))
    await turns.prompt("hi")

    assert script.requests[0].messages[-1].text == "HI"


async def test_messages_that_waited_go_behind_the_prompt(turns_of, script):
    script.turn(text("Hello"))
    turns = turns_of()
    turns._queue.add_for_next_turn(CustomMessage(custom_type="note", content="remember"))
    await turns.prompt("hi")

    assert [message.role for message in turns.runtime.agent.state.messages] == ["user", "custom", "assistant"]


async def test_a_message_that_waited_is_kept_where_there_is_no_model(turns_of):
    turns = turns_of(model=None)
    note = CustomMessage(custom_type="note", content="remember")
    turns._queue.add_for_next_turn(note)
    with pytest.raises(NoModel):
        await turns.prompt("hi")

    assert turns._queue.take_for_next_turn() == [note]


async def test_during_a_prompt_the_text_is_queued(turns_of, script):
    accepted, turns = [], turns_of()
    with turns.runtime.gate.prompt():
        await turns.prompt("left", behavior="steer", on_accepted=accepted.append)

    assert (accepted, turns._queue.steering_texts(), script.requests) == (["queued"], ("left",), [])


async def test_during_a_prompt_nothing_can_be_resumed(turns_of):
    turns = turns_of()
    with turns.runtime.gate.prompt(), pytest.raises(AgentBusy, match="already processing"):
        await turns.resume()


async def test_subscribers_of_settled_may_begin_the_next_prompt(turns_of, script):
    script.turn(text("one")).turn(text("two"))
    turns, free = turns_of(), []
    turns.runtime.events.add(lambda event: free.append(turns.runtime.is_streaming), frozenset({"agent_settled"}))
    await turns.prompt("first")
    answer = await turns.prompt("second")

    assert (free, answer.text) == ([False, False], "two")


async def test_what_is_no_message_is_refused_before_anything_is_stored(turns_of):
    turns = turns_of()
    with pytest.raises(TypeError, match="a message or a sequence of messages"):
        await turns.prompt([user_message("hi"), 7])

    assert turns.runtime.agent.state.messages == []
