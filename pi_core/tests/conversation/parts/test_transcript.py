"""``Transcript`` alone: one message in the agent, the tree and the events."""

from __future__ import annotations

import pytest

from pi_core.conversation.message_queue import user_message
from pi_hookspecs import NewEntry
from pi_testing import for_each


@pytest.fixture
def transcript(runtime):
    return runtime.transcript


def stored(runtime):
    return [entry.message.role for entry in runtime.manager.get_branch() if entry.type == "message"]


async def test_an_appended_message_is_stored_between_its_two_events(runtime, transcript):
    seen = []
    runtime.events.add(lambda event: seen.append((event.type, len(stored(runtime)))))
    await transcript.append(user_message("hi"))

    assert seen == [("message_start", 0), ("message_end", 1)]
    assert [message.text for message in runtime.agent.state.messages] == ["hi"]


async def test_a_deferred_message_is_added_once_and_later(runtime, transcript):
    transcript.defer(user_message("later"))
    before = stored(runtime)
    transcript.keep_deferred()
    transcript.keep_deferred()

    assert (before, stored(runtime)) == ([], ["user"])


async def test_only_entries_with_content_become_messages(runtime, transcript):
    entries = [NewEntry(custom_type="state", data={"n": 1}), NewEntry(custom_type="note", content="remember")]
    await transcript.append_entries(entries, None)

    assert [entry.type for entry in runtime.manager.get_branch()] == ["custom", "custom_message"]
    assert [message.content for message in runtime.agent.state.messages] == ["remember"]


async def test_a_failed_answer_leaves_the_context_and_stays_in_the_tree(runtime, transcript, answer):
    transcript.keep(user_message("hi"))
    failed = answer("half", stop_reason="error", error_message="overloaded")
    runtime.agent.append_message(failed)
    transcript.record(failed)
    transcript.drop_failed_answer()

    assert [message.role for message in runtime.agent.state.messages] == ["user"]
    assert stored(runtime) == ["user", "assistant"]


async def test_a_good_answer_is_not_dropped(runtime, transcript, answer):
    good = answer("done")
    runtime.agent.append_message(good)
    transcript.record(good)
    transcript.drop_failed_answer()

    assert transcript.last_answer() is good


@for_each("reason", ["aborted", "error", "length", "toolUse"])
async def test_the_last_text_skips_an_answer_that_did_not_end_normally_and_says_nothing(
    reason, runtime, transcript, answer
):
    runtime.agent.replace_messages([answer(" done \n"), answer(" ", stop_reason=reason)])
    skipped = transcript.last_text()
    runtime.agent.append_message(answer("half", stop_reason=reason))

    assert (skipped, transcript.last_text()) == ("done", "half")


async def test_the_last_text_is_that_of_an_answer_that_ended_normally_even_if_it_has_none(runtime, transcript, answer):
    runtime.agent.replace_messages([answer("done"), answer("")])

    assert transcript.last_text() is None
