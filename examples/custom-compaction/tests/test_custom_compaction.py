"""The plugin's summary replaces that of the installed compactor."""

from __future__ import annotations

import pytest

from pi_testing import error, text

pytestmark = pytest.mark.pi(entry_points=["compaction"], settings={"compaction": {"keepRecentTokens": 600}})

LONG = "Please look at the tide table again and again. " * 40


@pytest.fixture
async def conversation(pi_session, script):
    for number in range(3):
        script.turn(text(f"Answer {number}. {LONG}"))
        await pi_session.prompt(f"Question {number}. {LONG}")
    return len(script.requests)


async def test_the_summary_is_the_plugins(pi_session, script, conversation):
    script.turn(text("They talked of tides."))

    await pi_session.compact()

    asked = script.requests[conversation]
    assert asked.system_prompt.startswith("Sum up this conversation for a colleague")
    assert "[user] Question 0." in asked.user_text
    assert pi_session.messages[0].summary == "They talked of tides."
    assert len(script.requests) == conversation + 1


async def test_where_it_fails_the_installed_compactor_does_it(pi_session, script, conversation):
    script.turn(error("no")).turn(text("The other summary."))

    await pi_session.compact()

    assert pi_session.messages[0].summary.startswith("The other summary.")
    assert len(script.requests) == conversation + 2
