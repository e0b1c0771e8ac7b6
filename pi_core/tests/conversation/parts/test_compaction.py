"""``CompactionRunner`` alone: one compaction at a time, and who may begin one."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.compaction import CompactionRunner
from pi_core.conversation.message_queue import user_message
from pi_hookspecs import Aborted, Compaction, PiError, UserError


class Requests:
    """Records whether an entry carried the tokens of summaries."""

    def __init__(self):
        self.carried = []

    def account_for_summaries(self, *, carried):
        self.carried.append(carried)


class Lifecycle:
    """A conversation that has started."""

    def __init__(self):
        self.aborted = []

    async def start(self):
        pass

    async def abort(self, reason):
        self.aborted.append(reason)


class Compactor:
    """Keeps the last entry; waits until ``go_on`` is set."""

    def __init__(self):
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()
        self.reasons = []

    async def compact(self, request, ctx):
        self.reasons.append(request.reason)
        self.begun.set()
        await self.go_on.wait()
        return Compaction(summary="Zebras.", first_kept_entry_id=request.entries[-1].id, tokens_before=100)


@pytest.fixture
def compactor():
    return Compactor()


@pytest.fixture
def runner(runtime_of, service, compactor, answer):
    runtime = runtime_of(service(compactor))
    for each in (user_message("one"), answer("re one"), user_message("two")):
        runtime.transcript.keep(each)
    runner = CompactionRunner(runtime, Requests(), Lifecycle())
    runner.runtime = runtime
    return runner


async def test_the_next_request_has_the_summary_and_what_is_kept(runner):
    compaction = await runner.compact_now()

    assert [message.role for message in runner.runtime.agent.state.messages] == ["compactionSummary", "user"]
    assert compaction.estimated_tokens_after > 0


async def test_a_manual_compaction_of_a_compacted_branch_is_an_error_and_another_is_not(runner, compactor):
    await runner.compact_now()
    with pytest.raises(UserError, match="Already compacted"):
        await runner.compact_now()

    assert await runner.compact(reason="threshold") is None
    assert compactor.reasons == ["manual"]


async def test_the_second_of_two_waits_and_finds_nothing_to_do(runner, compactor):
    compactor.go_on.clear()
    first = asyncio.ensure_future(runner.compact(reason="threshold"))
    await compactor.begun.wait()
    second = asyncio.ensure_future(runner.compact(reason="overflow", will_retry=True))
    await asyncio.sleep(0)
    compactor.go_on.set()

    assert ((await first).summary, await second) == ("Zebras.", None)
    assert compactor.reasons == ["threshold"]


async def test_an_abort_ends_the_compaction_that_waits_too(runner, compactor):
    compactor.go_on.clear()
    both = [asyncio.ensure_future(runner.compact_now()) for _ in range(2)]
    await compactor.begun.wait()
    runner.abort()
    compactor.go_on.set()
    ended = await asyncio.gather(*both, return_exceptions=True)

    assert [type(each) for each in ended] == [Aborted, Aborted]
    assert runner.is_running is False
    assert "compaction" not in [entry.type for entry in runner.runtime.manager.get_branch()]


async def test_a_disabled_compaction_can_still_be_requested_by_hand(runner, compactor):
    runner.set_enabled(False)

    assert await runner.compact(reason="threshold") is None
    assert (await runner.compact_now()).summary == "Zebras."


async def test_a_hook_inside_a_compaction_cannot_begin_another(runtime_of, service, plugin, compactor, recorder):
    runners, failures = [], []

    async def session_before_compact(event):
        try:
            await runners[0].compact(reason="threshold")
        except PiError as error:
            failures.append(str(error))

    class Preparing(Compactor):
        def prepare(self, request, ctx):
            from pi_hookspecs import CompactionPreparation

            last = request.entries[-1].id
            return CompactionPreparation(first_kept_entry_id=last, entries_to_summarize=(), tokens_before=1)

    runtime = runtime_of(service(Preparing()), plugin(session_before_compact=session_before_compact))
    runtime.transcript.keep(user_message("one"))
    runners.append(CompactionRunner(runtime, Requests(), Lifecycle()))
    await runners[0].compact_now()

    assert len(failures) == 1
    assert "already in progress" in failures[0]
