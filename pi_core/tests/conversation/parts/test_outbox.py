"""``Outbox`` alone: messages answered at once or queued, in the order of the calls."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.message_queue import MessageQueue
from pi_core.conversation.outbox import Outbox
from pi_hookspecs import AgentBusy, Command, CustomMessage, PiError, UserError


class Turns:
    """Keeps prompts; expanding a text takes a moment."""

    def __init__(self):
        self.prompts = []
        self.error = None

    async def prompt(self, message, behavior=None):
        self.prompts.append(message)
        if self.error is not None:
            raise self.error

    async def expand(self, text):
        await asyncio.sleep(0)
        return f"expanded {text}" if text.startswith("/") else text


@pytest.fixture
def turns():
    return Turns()


@pytest.fixture
def outbox_of(runtime_of, turns):
    def make(*plugins):
        runtime = runtime_of(*plugins)
        outbox = Outbox(runtime, MessageQueue(runtime), turns, is_starting=bool)
        outbox.runtime = runtime
        return outbox

    return make


def note():
    return CustomMessage(custom_type="note", content="remember")


def steering(outbox):
    return [message.text for message in outbox.runtime.agent.peek_queued_messages()[0]]


async def test_texts_keep_the_order_of_the_calls_though_one_takes_longer(outbox_of):
    outbox = outbox_of()
    waiting = [outbox.steer("/skill"), outbox.steer("plain")]
    for each in waiting:
        await each

    assert steering(outbox) == ["expanded /skill", "plain"]


async def test_a_text_is_queued_though_nothing_awaits_it(outbox_of, until):
    outbox = outbox_of()
    outbox.steer("/skill")
    await until(lambda: steering(outbox))

    assert steering(outbox) == ["expanded /skill"]


async def test_a_plugins_command_cannot_be_queued(outbox_of, plugin):
    command = Command(name="deploy", handler=lambda arguments, ctx: None)
    outbox = outbox_of(plugin(register_commands=lambda: [command]))

    with pytest.raises(UserError, match='"/deploy" cannot be queued'):
        outbox.steer("/deploy now")


async def test_a_plugins_message_is_stored_while_idle_and_queued_during_a_prompt(outbox_of, turns):
    outbox = outbox_of()
    await outbox.send_message(note())
    stored = len(outbox.runtime.agent.state.messages)
    with outbox.runtime.gate.prompt():
        await outbox.send_message(note(), trigger_turn=True)

    assert (stored, len(outbox.runtime.agent.peek_queued_messages()[0]), turns.prompts) == (1, 1, [])


async def test_during_a_prompt_a_plugin_has_to_say_how_to_queue(outbox_of):
    outbox = outbox_of()
    with outbox.runtime.gate.prompt(), pytest.raises(AgentBusy, match="deliver_as"):
        outbox.send_user_message_of("plugin", "hi", None)


async def test_a_message_that_fails_unawaited_is_reported_with_its_plugin(outbox_of, turns, recorder, until):
    outbox = outbox_of()
    turns.error = PiError("no key")
    outbox.send_user_message_of("notes", "hi", None)
    await until(lambda: recorder.events)

    assert (recorder.events[0].extension_path, "no key" in recorder.events[0].error) == ("notes", True)


async def test_a_message_that_fails_awaited_raises_and_is_not_reported_too(outbox_of, turns, recorder):
    outbox = outbox_of()
    turns.error = PiError("no key")
    with pytest.raises(PiError, match="no key"):
        await outbox.send_user_message_of("notes", "hi", None)

    assert recorder.events == []


async def test_a_call_from_another_thread_fails_with_what_to_call(outbox_of):
    outbox = outbox_of()

    with pytest.raises(PiError, match="call_soon_threadsafe"):
        await asyncio.to_thread(outbox.send_user_message_of, "notes", "hi", None)
