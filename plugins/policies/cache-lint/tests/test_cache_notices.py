"""With ``showCacheMissNotices`` the user reads of large misses, of what summaries cost, and of repeated requests."""

from __future__ import annotations

import pytest

from pi_hookspecs import Context, RetryDecision, SideRequest, UserMessage, hookimpl
from pi_testing import error, text, usage

CACHED = usage(input=200, cache_read=0, cache_write=60_000)
MISSED = usage(input=300, cache_read=0, cache_write=60_100)

pytestmark = pytest.mark.pi(settings={"showCacheMissNotices": True})


class Repeats:
    @hookimpl
    def register_services(self):
        class Policy:
            def decide(self, answer, attempt, ctx):
                return RetryDecision(attempt=attempt, max_attempts=1, delay_ms=0) if attempt == 1 else None

        return [Policy()]


@pytest.fixture
def pi_plugins(cache_lint):
    return {"cache-lint": cache_lint, "repeats": Repeats()}


def messages(fake_ui):
    return [each.message for each in fake_ui.notices]


async def test_a_miss_that_pi_did_not_cause_is_a_notice(pi_session, script, fake_ui):
    script.turn(text("one"), CACHED).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    (message,) = messages(fake_ui)
    assert message.startswith("Cache miss (the provider dropped the prompt): 60,")
    assert message.endswith(" tokens were read again (~$0.16)")


async def test_what_a_summary_costs_is_a_notice(pi_session, script, fake_ui):
    script.turn(text("A summary."), usage(input=10_000, output=500, cost=0.04))
    await pi_session.complete(Context(messages=(UserMessage(content="sum up"),)), SideRequest(purpose="compaction"))

    assert messages(fake_ui) == ["Compaction: 10,500 tokens billed (~$0.04)"]


async def test_a_request_that_succeeds_when_repeated_is_a_notice(pi_session, script, fake_ui):
    script.turn(error("529 overloaded")).turn(text("done"))
    await pi_session.prompt("first")

    assert messages(fake_ui) == ["scripted/model answered at attempt 2, after: 529 overloaded"]


@pytest.mark.pi(settings={})
async def test_without_the_setting_there_is_no_notice(pi_session, script, fake_ui):
    script.turn(error("529 overloaded")).turn(text("one"), CACHED).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    await pi_session.prompt("second")

    assert messages(fake_ui) == []
