"""``TreeNavigator`` alone: one navigation at a time, and the tokens of summaries that come to nothing."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.message_queue import user_message
from pi_core.conversation.tree import TreeNavigator
from pi_hookspecs import AgentBusy, BranchSummary, PiError, SessionBeforeTreeResult, Usage


class Requests:
    """Records whether an entry carried the tokens of summaries."""

    def __init__(self):
        self.carried = []

    def account_for_summaries(self, *, carried):
        self.carried.append(carried)


class Summarizer:
    """Answers when ``go_on`` is set, with a summary or with an error."""

    def __init__(self, answer=None):
        self.answer = answer or BranchSummary(summary="It was about zebras.", usage=Usage(input=3, total_tokens=3))
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def summarize_branch(self, request, ctx):
        self.begun.set()
        await self.go_on.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def talk(runtime, answer):
    manager = runtime.manager
    return [manager.append_message(each) for each in (user_message("one"), answer("re one"), user_message("two"))]


async def test_a_second_navigation_is_refused_while_a_summary_is_made(runtime_of, service, answer):
    summarizer = Summarizer()
    runtime = runtime_of(service(summarizer))
    navigator = TreeNavigator(runtime, Requests())
    _, answered, _ = talk(runtime, answer)
    first = asyncio.ensure_future(navigator.navigate(answered, summarize=True))
    await summarizer.begun.wait()
    with pytest.raises(AgentBusy, match="abort it"):
        await navigator.navigate(answered)
    summarizer.go_on.set()

    assert (await first).summary_entry.summary == "It was about zebras."


async def test_finished_waits_for_the_summary(runtime_of, service, answer):
    summarizer = Summarizer()
    runtime = runtime_of(service(summarizer))
    navigator = TreeNavigator(runtime, Requests())
    _, answered, _ = talk(runtime, answer)
    await navigator.finished()
    going = asyncio.ensure_future(navigator.navigate(answered, summarize=True))
    await summarizer.begun.wait()
    waiting = asyncio.ensure_future(navigator.finished())
    await asyncio.sleep(0)
    during = waiting.done()
    summarizer.go_on.set()
    await waiting

    assert during is False
    assert (await going).cancelled is False


async def test_a_hook_inside_a_navigation_does_not_wait_for_it(runtime_of, plugin, answer):
    navigators = []

    async def session_before_tree(event):
        await navigators[0].finished()

    runtime = runtime_of(plugin(session_before_tree=session_before_tree))
    navigators.append(TreeNavigator(runtime, Requests()))
    _, answered, _ = talk(runtime, answer)

    assert (await navigators[0].navigate(answered)).cancelled is False


async def test_an_aborted_summary_leaves_the_conversation_where_it_was(runtime_of, service, answer):
    summarizer, requests = Summarizer(), Requests()
    runtime = runtime_of(service(summarizer))
    navigator = TreeNavigator(runtime, requests)
    _, answered, last = talk(runtime, answer)
    going = asyncio.ensure_future(navigator.navigate(answered, summarize=True))
    await summarizer.begun.wait()
    navigator.abort()
    summarizer.go_on.set()

    assert ((await going).aborted, runtime.manager.leaf_id) == (True, last)
    assert requests.carried == [False]


async def test_a_summary_with_usage_carries_its_own_tokens(runtime_of, service, answer):
    summarizer, requests = Summarizer(), Requests()
    summarizer.go_on.set()
    runtime = runtime_of(service(summarizer))
    _, answered, _ = talk(runtime, answer)
    await TreeNavigator(runtime, requests).navigate(answered, summarize=True)

    assert requests.carried == [True]


async def test_after_a_failure_the_next_navigation_works(runtime_of, service, answer):
    summarizer = Summarizer(ValueError("no words"))
    summarizer.go_on.set()
    runtime = runtime_of(service(summarizer))
    navigator = TreeNavigator(runtime, Requests())
    _, answered, _ = talk(runtime, answer)
    with pytest.raises(PiError, match="no words"):
        await navigator.navigate(answered, summarize=True)
    await navigator.navigate(answered)

    assert runtime.manager.leaf_id == answered


async def test_a_plugin_that_cancels_is_no_error(runtime_of, plugin, answer):
    runtime = runtime_of(plugin(session_before_tree=lambda event: SessionBeforeTreeResult(cancel=True)))
    first, _, last = talk(runtime, answer)
    moved = await TreeNavigator(runtime, Requests()).navigate(first)

    assert (moved.cancelled, moved.aborted, runtime.manager.leaf_id) == (True, False, last)
