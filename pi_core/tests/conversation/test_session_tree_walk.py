"""Going on from another place in the session's tree."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import entry_message
from pi_hookspecs import AgentBusy, BranchSummary, PiError, SessionBeforeTreeResult, UserError, hookimpl
from pi_testing import text


class Summarizer:
    def __init__(self, answer="They looked at zebras."):
        self.requests = []
        self.answer = answer

    @hookimpl
    def register_services(self):
        return [self]

    async def summarize_branch(self, request, ctx):
        self.requests.append(request)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return BranchSummary(summary=self.answer)


class Plugin:
    """A plugin made of functions."""


def plugin(**hooks):
    made = Plugin()
    for name, function in hooks.items():
        setattr(made, name, hookimpl(function))
    return made


async def talked(session, script):
    """Say ``one`` and ``two``; returns the message entries: said, answered, said, answered."""
    for prompt in ("one", "two"):
        script.turn(text(f"re {prompt}"))
        await session.prompt(prompt)
    return [entry for entry in session.session_manager.get_branch() if entry_message(entry) is not None]


async def test_the_conversation_goes_on_from_an_answer(session_of, script):
    session = session_of()
    _, answered, *_ = await talked(session, script)
    went = await session.navigate_tree(answered.id)
    script.turn(text("again"))
    await session.prompt("other")

    assert (went.cancelled, went.editor_text, went.summary_entry) == (False, None, None)
    assert [message.text for message in script.requests[-1].messages] == ["one", "re one", "other"]


async def test_the_users_message_comes_back_for_editing(session_of, script):
    session = session_of()
    _, answered, prompt_id, _ = await talked(session, script)
    went = await session.navigate_tree(prompt_id.id)

    assert went.editor_text == "two"
    assert session.session_manager.leaf_id == answered.id


async def test_before_the_first_message_there_is_nothing(session_of, script):
    session = session_of()
    prompt_id, *_ = await talked(session, script)
    await session.navigate_tree(prompt_id.id)

    assert session.messages == []


async def test_what_is_left_behind_is_summed_up_where_it_goes_on(session_of, script):
    summarizer = Summarizer()
    session = session_of(summarizer)
    _, answered, *left = await talked(session, script)
    went = await session.navigate_tree(answered.id, summarize=True, custom_instructions="the stripes")
    script.turn(text("ok"))
    await session.prompt("other")

    (request,) = summarizer.requests
    assert [entry.id for entry in request.entries] == [entry.id for entry in left]
    assert request.custom_instructions == "the stripes"
    assert went.summary_entry.from_id == left[-1].id
    assert "They looked at zebras." in script.requests[-1].messages[2].text


async def test_plugins_receive_the_target(session_of, script):
    received = []
    listening = plugin(
        session_before_tree=lambda event: received.append((event.target_id, event.common_ancestor_id)),
        session_tree=lambda event: received.append((event.new_leaf_id, event.old_leaf_id)),
    )
    session = session_of(listening)
    _, answered, _, last = await talked(session, script)
    await session.navigate_tree(answered.id)

    assert received == [(answered.id, answered.id), (answered.id, last.id)]


async def test_a_plugin_may_keep_the_conversation_where_it_is(session_of, script):
    session = session_of(plugin(session_before_tree=lambda: SessionBeforeTreeResult(cancel=True)))
    _, answered, _, last = await talked(session, script)
    went = await session.navigate_tree(answered.id)

    assert went.cancelled
    assert session.session_manager.leaf_id == last.id


async def test_a_plugin_may_supply_the_summary_and_the_label(session_of, script):
    answer = SessionBeforeTreeResult(summary="Mine.", label="here")
    session = session_of(plugin(session_before_tree=lambda: answer))
    _, answered, *_ = await talked(session, script)
    went = await session.navigate_tree(answered.id)

    assert went.summary_entry.summary == "Mine."
    assert session.session_manager.get_label(went.summary_entry.id) == "here"


@pytest.mark.parametrize("problem", [PiError("no words"), ValueError("no words")])
async def test_a_summary_that_fails_leaves_the_conversation_where_it_is(session_of, script, problem):
    session = session_of(Summarizer(problem))
    _, answered, _, last = await talked(session, script)

    with pytest.raises(PiError, match="no words"):
        await session.navigate_tree(answered.id, summarize=True)

    assert session.session_manager.leaf_id == last.id


async def test_without_a_summarizer_it_says_what_to_install(session_of, script):
    session = session_of()
    _, answered, *_ = await talked(session, script)

    with pytest.raises(UserError, match="pluggypi-compaction"):
        await session.navigate_tree(answered.id, summarize=True)


async def test_an_entry_that_is_not_there_is_an_error(session_of, script):
    session = session_of()
    await talked(session, script)

    with pytest.raises(UserError, match="nowhere"):
        await session.navigate_tree("nowhere")


async def test_a_prompt_that_is_being_answered_is_not_walked_away_from(session_of, script):
    refused = []

    async def walk(ctx):
        try:
            await session.navigate_tree(first)
        except AgentBusy as busy:
            refused.append(str(busy))

    session = session_of(plugin(turn_end=walk))
    script.turn(text("hi"))
    first = session.session_manager.get_branch()[0].id
    await session.prompt("go")

    assert len(refused) == 1


async def test_a_prompt_waits_for_the_summary_of_a_branch(session_of, script):
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Summarizer):
        async def summarize_branch(self, request, ctx):
            begun.set()
            await go_on.wait()
            return await super().summarize_branch(request, ctx)

    session = session_of(Slow())
    _, answered, *_ = await talked(session, script)
    going = asyncio.ensure_future(session.navigate_tree(answered.id, summarize=True))
    await begun.wait()
    script.turn(text("yes"))
    prompt = asyncio.ensure_future(session.prompt("more?"))
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(going, prompt)

    asked = [message.text for message in script.requests[-1].messages]
    assert asked[:2] == ["one", "re one"]
    assert "They looked at zebras." in asked[2]
    assert asked[3:] == ["more?"]
