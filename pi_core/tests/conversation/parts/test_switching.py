"""``SessionSwitcher`` alone: what stops, what is dropped, and a conversation that cannot be replaced."""

from __future__ import annotations

import pytest

from pi_core.conversation.message_queue import MessageQueue, user_message
from pi_core.conversation.model_selection import ModelSelection
from pi_core.conversation.switching import SessionSwitcher
from pi_hookspecs import SessionBeforeForkResult, SessionBeforeSwitchResult, UserError


class Lifecycle:
    """A conversation that has started."""

    def __init__(self):
        self.aborted = []

    async def start(self):
        pass

    async def abort(self, reason):
        self.aborted.append(reason)


@pytest.fixture
def switcher_of(runtime_of):
    def make(*plugins):
        runtime = runtime_of(*plugins)
        switcher = SessionSwitcher(runtime, Lifecycle(), MessageQueue(runtime), ModelSelection(runtime))
        switcher.runtime = runtime
        return switcher

    return make


async def test_what_was_queued_is_dropped_with_its_conversation(switcher_of):
    switcher = switcher_of()
    switcher.runtime.agent.steer(user_message("left"))
    before = switcher.runtime.manager.id
    await switcher.new()

    assert switcher.runtime.manager.id != before
    assert not switcher.runtime.agent.has_queued_messages()


async def test_a_setup_that_fails_leaves_nothing_of_the_old_conversation_to_the_model(switcher_of):
    switcher = switcher_of()
    runtime, before = switcher.runtime, switcher.runtime.manager.id
    runtime.transcript.keep(user_message("of the old one"))

    def setup(manager):
        manager.append_message(user_message("of the new one"))
        raise ValueError("no more entries")

    with pytest.raises(ValueError, match="no more entries"):
        await switcher.new(setup=setup)

    assert runtime.manager.id != before
    assert [each.text for each in runtime.agent.state.messages] == ["of the new one"]


async def test_a_setup_that_fails_begins_the_conversation_again_for_plugins(switcher_of, plugin):
    seen = []
    hooks = {name: lambda event: seen.append((event.type, event.reason)) for name in ("session_start",)}
    switcher = switcher_of(plugin(**hooks, session_shutdown=lambda event: seen.append((event.type, event.reason))))

    def setup(manager):
        raise ValueError("no entries")

    with pytest.raises(ValueError, match="no entries"):
        await switcher.new(setup=setup)
    assert seen == [("session_shutdown", "new"), ("session_start", "resume")]


async def test_a_plugin_that_cancels_stops_nothing(switcher_of, plugin):
    cancel = SessionBeforeSwitchResult(cancel=True)
    switcher = switcher_of(plugin(session_before_switch=lambda event: cancel))
    before = switcher.runtime.manager.id

    assert await switcher.new() is False
    assert (switcher.runtime.manager.id, switcher._lifecycle.aborted) == (before, [])


async def test_a_fork_before_a_message_of_the_user_returns_its_text(switcher_of):
    switcher = switcher_of()
    entry = switcher.runtime.manager.append_message(user_message("one"))
    outcome = await switcher.fork(entry)

    assert (outcome.selected_text, outcome.cancelled, switcher.runtime.agent.state.messages) == ("one", False, [])


async def test_a_fork_before_an_answer_is_refused_and_at_it_is_not(switcher_of, answer):
    switcher = switcher_of()
    switcher.runtime.manager.append_message(user_message("one"))
    entry = switcher.runtime.manager.append_message(answer("re one"))
    with pytest.raises(UserError, match="not a user message"):
        await switcher.fork(entry)
    await switcher.fork(entry, "at")

    assert [message.text for message in switcher.runtime.agent.state.messages] == ["one", "re one"]


async def test_a_cancelled_fork_is_an_outcome(switcher_of, plugin):
    cancel = SessionBeforeForkResult(cancel=True)
    switcher = switcher_of(plugin(session_before_fork=lambda event: cancel))
    entry = switcher.runtime.manager.append_message(user_message("one"))

    assert (await switcher.fork(entry)).cancelled is True


async def test_an_empty_conversation_cannot_be_cloned(switcher_of):
    with pytest.raises(UserError, match="Cannot clone"):
        await switcher_of().clone()
