"""``SessionUsage`` alone: tokens that are known, and tokens that are not."""

from __future__ import annotations

import pytest

from pi_core.conversation.message_queue import user_message
from pi_core.conversation.usage import SessionUsage
from pi_hookspecs import Usage


async def test_before_the_first_answer_the_context_is_unknown(runtime):
    runtime.agent.append_message(user_message("hi"))
    context = SessionUsage(runtime).context()

    assert (context.tokens, context.percent) == (None, None)
    assert context.context_window == runtime.agent.state.model.context_window


async def test_without_a_model_there_is_no_window(runtime_of):
    assert SessionUsage(runtime_of(model=None)).context() is None


async def test_the_answers_of_the_context_add_up(runtime, answer):
    for tokens in (10, 20):
        runtime.agent.append_message(answer("done", usage=Usage(input=tokens, total_tokens=tokens)))

    assert SessionUsage(runtime).total().input == 30


async def test_what_follows_the_last_answer_is_estimated(runtime, answer):
    runtime.agent.append_message(answer("done", usage=Usage(input=100, total_tokens=100)))
    known = SessionUsage(runtime).context_tokens()
    runtime.agent.append_message(user_message("word " * 400))

    assert known == 100
    assert SessionUsage(runtime).context().tokens == pytest.approx(600, rel=0.5)


async def test_statistics_count_what_a_branch_has_left_behind(runtime, answer):
    root = runtime.manager.append_message(user_message("hi"))
    runtime.manager.append_message(answer("one", usage=Usage(input=5, total_tokens=5)))
    runtime.manager.branch(root)
    runtime.manager.append_message(answer("two", usage=Usage(input=7, total_tokens=7)))
    stats = SessionUsage(runtime).stats()

    assert stats.tokens.input == 12
    assert stats.context_usage.tokens is None
