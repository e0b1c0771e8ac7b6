"""Compacting a session: the order of calls, the events, and that nothing changes unless it succeeds."""

from __future__ import annotations

import asyncio
import math

import pytest
from attrs import evolve

from pi_core import estimate_tokens
from pi_core.wire import dumps
from pi_hookspecs import (
    Aborted,
    Compaction,
    CompactionPreparation,
    Context,
    PiError,
    SessionBeforeCompactResult,
    SideRequest,
    UserError,
    UserMessage,
    hookimpl,
    tool,
)
from pi_testing import error, text, tool_call, usage


class Policy:
    """Compacts to one sentence, keeping the last message; ``prepares`` and ``makes`` may be replaced."""

    def __init__(self):
        self.requests = []

    def makes(self, request):
        last = [entry for entry in request.entries if entry.type == "message"][-1]
        return Compaction(summary="It was about zebras.", first_kept_entry_id=last.id, tokens_before=100)

    @hookimpl
    def register_services(self):
        return [self]

    async def compact(self, request, ctx):
        self.requests.append(request)
        made = self.makes(request)
        return await made if asyncio.iscoroutine(made) else made


class Preparing(Policy):
    async def prepare(self, request, ctx):
        return self.prepares(request)

    def prepares(self, request):
        return CompactionPreparation(
            first_kept_entry_id=request.entries[-1].id, entries_to_summarize=(), tokens_before=7
        )


class Plugin:
    """A plugin made of functions."""


def plugin(**hooks):
    made = Plugin()
    for name, function in hooks.items():
        setattr(made, name, hookimpl(function))
    return made


async def talked(session, script, *prompts):
    for prompt in prompts or ("first", "second"):
        script.turn(text(f"about {prompt}"))
        await session.prompt(prompt)


def compaction_events(recorder):
    return [event for event in recorder.events if event.type in ("compaction_start", "compaction_end")]


async def test_the_summary_replaces_what_it_summarizes(session_of, script):
    session = session_of(Policy())
    await talked(session, script)
    await session.compact()
    await talked(session, script, "third")

    messages = [message.text for message in script.requests[-1].messages]
    assert "It was about zebras." in messages[0]
    assert messages[1:] == ["about second", "third"]


async def test_compaction_events_carry_the_reason_and_the_result(session_of, script, recorder):
    session = session_of(Policy())
    await talked(session, script)
    compaction = await session.compact("the stripes")

    start, end = compaction_events(recorder)
    assert (start.reason, end.reason, end.result, end.aborted, end.error_message) == (
        "manual",
        "manual",
        compaction,
        False,
        None,
    )


async def test_the_estimate_of_what_is_left_counts_prompt_and_tools(session_of, script):
    @tool
    def tide(hour: int) -> str:
        """Return the tide."""
        return "high"

    session = session_of(Policy(), system_prompt="Be brief." * 100, tools=[tide])
    await talked(session, script)

    compaction = await session.compact()

    declared = dumps([{"name": "tide", "description": "Return the tide.", "parameters": tide.parameters}])
    spoken = sum(map(estimate_tokens, session.messages))
    prompt = session.system_prompt
    assert compaction.estimated_tokens_after == math.ceil((len(prompt) + len(declared)) / 4) + spoken
    assert len(prompt) >= 900


async def test_an_estimate_of_the_compactor_stays(session_of, script):
    class Counts(Policy):
        def makes(self, request):
            return evolve(super().makes(request), estimated_tokens_after=5)

    session = session_of(Counts())
    await talked(session, script)

    assert (await session.compact()).estimated_tokens_after == 5


async def test_the_compactor_gets_the_branch_and_the_instructions(session_of, script):
    policy = Policy()
    session = session_of(policy)
    await talked(session, script)
    await session.compact("the stripes")

    (request,) = policy.requests
    assert [entry.type for entry in request.entries][2:] == ["message"] * 4
    assert (request.reason, request.custom_instructions, request.will_retry) == ("manual", "the stripes", False)


async def test_plugins_are_notified_before_and_after(session_of, script):
    received = []
    listening = plugin(
        session_before_compact=lambda event: received.append(("before", event.preparation.tokens_before, event.reason)),
        session_compact=lambda event: received.append(("after", event.compaction_entry.summary, event.from_extension)),
    )
    session = session_of(Preparing(), listening)
    await talked(session, script)
    await session.compact()

    assert received == [("before", 7, "manual"), ("after", "It was about zebras.", False)]


async def test_a_plugin_may_supply_the_compaction(session_of, script):
    def supply(event):
        made = Compaction(
            summary="Mine.", first_kept_entry_id=event.branch_entries[-1].id, tokens_before=1, details={"by": "me"}
        )
        return SessionBeforeCompactResult(compaction=made)

    policy = Policy()
    session = session_of(policy, plugin(session_before_compact=supply))
    await talked(session, script)
    await session.compact()

    entry = session.session_manager.get_leaf_entry()
    assert (entry.summary, entry.details, entry.from_hook) == ("Mine.", {"by": "me"}, True)
    assert policy.requests == []


async def test_a_plugin_may_cancel(session_of, script, recorder):
    failures = []
    no = plugin(
        session_before_compact=lambda: SessionBeforeCompactResult(cancel=True),
        session_compact_failed=lambda event: failures.append((event.aborted, event.error_message)),
    )
    session = session_of(Policy(), no)
    await talked(session, script)
    before = session.session_manager.leaf_id

    with pytest.raises(Aborted, match="Compaction cancelled"):
        await session.compact()

    assert session.session_manager.leaf_id == before
    assert (compaction_events(recorder)[-1].aborted, compaction_events(recorder)[-1].error_message) == (True, None)
    assert failures == [(True, None)]


async def test_without_a_compactor_it_says_what_to_install(session_of, script):
    session = session_of()
    await talked(session, script)

    with pytest.raises(UserError, match="pluggypi-compaction"):
        await session.compact()


async def test_what_was_just_compacted_is_not_compacted_again(session_of, script):
    session = session_of(Policy())
    await talked(session, script)
    await session.compact()

    with pytest.raises(UserError, match=r"^Already compacted$"):
        await session.compact()


async def test_a_compactor_that_prepares_nothing_has_nothing_to_do(session_of, script):
    policy = Preparing()
    policy.prepares = lambda request: None
    session = session_of(policy)
    await talked(session, script)

    with pytest.raises(UserError, match="Nothing to compact"):
        await session.compact()

    assert await session.ctx.compact(reason="threshold") is None


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            lambda request: Compaction(summary="  ", first_kept_entry_id=request.entries[-1].id, tokens_before=1),
            "empty",
        ),
        (lambda request: Compaction(summary="x", first_kept_entry_id="nowhere", tokens_before=1), "nowhere"),
        (lambda request: 1 / 0, "ZeroDivisionError"),
    ],
)
async def test_a_compaction_that_cannot_be_used_changes_nothing(session_of, script, recorder, made, message):
    policy = Policy()
    policy.makes = made
    session = session_of(policy)
    await talked(session, script)
    before = session.session_manager.leaf_id, list(session.messages)

    with pytest.raises(PiError, match=message):
        await session.compact()

    assert (session.session_manager.leaf_id, list(session.messages)) == before
    assert compaction_events(recorder)[-1].error_message.startswith("Compaction failed: ")


async def test_a_compactor_that_fails_to_prepare_is_named(session_of, script, recorder):
    policy = Policy()
    policy.prepare = lambda request, ctx: 1 / 0
    session = session_of(policy)
    await talked(session, script)

    with pytest.raises(PiError, match="failed to prepare a compaction: ZeroDivisionError"):
        await session.compact()

    assert "compaction" not in [entry.type for entry in session.session_manager.get_entries()]


async def test_an_abort_changes_nothing(session_of, script, recorder):
    policy = Policy()

    async def wait(request):
        await request.signal.wait()
        return Compaction(summary="too late", first_kept_entry_id=request.entries[-1].id, tokens_before=1)

    policy.makes = wait
    session = session_of(policy)
    await talked(session, script)
    before = session.session_manager.leaf_id
    compacting = asyncio.create_task(session.compact())
    await recorder.wait_for("compaction_start")
    assert session.is_compacting

    session.abort_compaction()
    with pytest.raises(Aborted):
        await compacting

    assert session.session_manager.leaf_id == before
    assert not session.is_compacting


async def test_an_abort_of_the_session_waits_for_the_compaction_to_end(session_of, script, recorder):
    policy = Policy()

    async def wait(request):
        await request.signal.wait()

    policy.makes = wait
    session = session_of(policy)
    await talked(session, script)
    compacting = [asyncio.create_task(session.compact()) for _ in range(2)]
    await recorder.wait_for("compaction_start")

    await session.abort()

    assert not session.is_compacting
    assert [event.type for event in compaction_events(recorder)] == ["compaction_start", "compaction_end"]
    for task in compacting:
        with pytest.raises(Aborted, match=r"^Compaction cancelled$"):
            await task


async def test_a_hook_may_abort_the_compaction_that_it_is_asked_about(session_of, script):
    async def stop(ctx):
        ctx.abort()

    session = session_of(Policy(), plugin(session_before_compact=stop))
    await talked(session, script)

    with pytest.raises(Aborted, match="Compaction cancelled"):
        await session.compact()


async def test_a_compactor_that_ignores_an_abort_is_cancelled(session_of, script, recorder, monkeypatch):
    monkeypatch.setattr("pi_core.conversation.compaction.ABORT_GRACE", 0.01)
    policy = Policy()
    policy.makes = lambda request: asyncio.sleep(3600)
    session = session_of(policy)
    await talked(session, script)
    compacting = asyncio.create_task(session.compact())
    await recorder.wait_for("compaction_start")

    await session.abort()

    with pytest.raises(Aborted):
        await compacting
    assert compaction_events(recorder)[-1].aborted


async def test_by_hand_a_run_is_aborted_first(session_of, script, recorder):
    from pi_testing import stall

    session = session_of(Policy())
    await talked(session, script)
    script.turn(stall())
    prompt = asyncio.create_task(session.prompt("third"))
    await recorder.wait_for("message_end", 5)

    await session.compact()
    answer = await prompt

    assert answer.stop_reason == "aborted"
    assert "compaction" in [entry.type for entry in session.session_manager.get_branch()]


async def test_a_prompt_waits_for_the_compaction(session_of, script, recorder):
    policy, go_on = Policy(), asyncio.Event()
    plain = policy.makes

    async def wait(request):
        await go_on.wait()
        return plain(request)

    policy.makes = wait
    session = session_of(policy)
    await talked(session, script)
    compacting = asyncio.create_task(session.compact())
    await recorder.wait_for("compaction_start")
    script.turn(text("3"))
    prompt = asyncio.create_task(session.prompt("third"))
    await asyncio.sleep(0)
    assert len(script.requests) == 2

    go_on.set()
    await asyncio.gather(compacting, prompt)

    assert "zebras" in script.requests[2].messages[0].text


async def test_a_hook_between_turns_compacts_in_place(session_of, script):
    async def compact(event, ctx):
        if event.tool_results:
            await ctx.compact(reason="threshold")

    policy = Policy()
    policy.makes = lambda request: Compaction(
        summary="Looked around.", first_kept_entry_id=request.entries[-2].id, tokens_before=1
    )
    session = session_of(policy, plugin(turn_end=compact))
    script.turn(tool_call("nothing")).turn(text("done"))
    answer = await session.prompt("go")

    assert answer.text == "done"
    roles = [message.role for message in script.requests[1].messages]
    assert roles == ["user", "assistant", "toolResult"]
    assert "Looked around." in script.requests[1].messages[0].text


async def test_what_was_not_requested_can_be_turned_off(session_of, script):
    session = session_of(Policy())
    await talked(session, script)
    session.set_auto_compaction_enabled(False)

    assert await session.ctx.compact(reason="threshold") is None
    assert await session.ctx.compact() is not None


async def test_a_hook_that_is_asked_about_a_compaction_cannot_begin_another(session_of, script):
    caught = []

    async def again(ctx):
        try:
            await ctx.compact(reason="threshold")
        except PiError as problem:
            caught.append(str(problem))

    session = session_of(Policy(), plugin(session_before_compact=again))
    await talked(session, script)
    await session.compact()

    assert len(caught) == 1
    assert "already in progress" in caught[0]


async def test_two_triggers_at_once_make_one_compaction(session_of, script):
    policy = Policy()
    session = session_of(policy)
    await talked(session, script)

    made = await asyncio.gather(*(session.ctx.compact(reason="threshold") for _ in range(2)))

    assert len(policy.requests) == 1
    assert sorted(each is None for each in made) == [False, True]


async def test_an_automatic_compaction_of_a_compacted_branch_is_not_announced(session_of, script, recorder):
    session = session_of(Policy())
    await talked(session, script)
    await session.compact()
    announced = compaction_events(recorder)

    assert await session.ctx.compact(reason="threshold") is None

    assert compaction_events(recorder) == announced
    assert not recorder.of("session_compact_failed")


async def test_how_full_the_window_is_is_unknown_until_the_next_answer(session_of, script):
    session = session_of(Policy())
    script.turn(text("1"), usage(input=900, output=100))
    await session.prompt("first")
    assert session.ctx.context_usage().tokens == 1000

    await session.compact()
    assert session.ctx.context_usage().tokens is None


# Side requests


async def test_the_model_is_asked_outside_the_conversation(session_of, script):
    session = session_of()
    script.turn(text("a title"))
    answer = await session.ctx.complete(
        Context(system_prompt="Name it.", messages=(UserMessage(content="talk"),)), SideRequest(purpose="title")
    )

    assert answer.text == "a title"
    assert (script.requests[0].system_prompt, script.requests[0].user_text) == ("Name it.", "talk")
    assert session.messages == []
    assert script.requests[0].options.cache_retention == "none"
    assert script.requests[0].options.session_id is None


async def test_its_tokens_are_kept_in_the_session(session_of, script):
    session = session_of()
    script.turn(text("a title"), usage(input=10, output=2))
    await session.ctx.complete(Context(messages=(UserMessage(content="talk"),)), SideRequest(purpose="title"))

    entry = session.session_manager.get_leaf_entry()
    assert (entry.type, entry.kind, entry.usage.total_tokens) == ("usage", "title", 12)


async def test_its_failure_is_an_answer(session_of, script):
    session = session_of()
    script.turn(error("500 no"))
    answer = await session.ctx.complete(Context(messages=(UserMessage(content="x"),)), SideRequest(purpose="title"))

    assert (answer.stop_reason, answer.error_message) == ("error", "500 no")


async def test_hooks_see_its_payload(session_of, script):
    seen = []
    session = session_of(plugin(before_provider_request=lambda event: seen.append(event.payload["system_prompt"])))
    script.turn(text("ok"))
    await session.ctx.complete(
        Context(system_prompt="aside", messages=(UserMessage(content="x"),)), SideRequest(purpose="title")
    )

    assert seen == ["aside"]
