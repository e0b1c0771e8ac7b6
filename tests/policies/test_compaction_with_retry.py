"""Compaction and retry together, as they are installed: each leaves to the other what is the other's."""

from __future__ import annotations

import pytest

import pi_compaction
import pi_retry
from pi_testing import error, text, usage

LONG = "All of the words that were said. " * 40
SETTINGS = {"retry": {"baseDelayMs": 1}, "compaction": {"keepRecentTokens": 100}}

pytestmark = pytest.mark.pi(plugins={"compaction": pi_compaction, "retry": pi_retry}, settings=SETTINGS)


@pytest.fixture
async def talked(pi_session, script):
    """A session with something to compact."""
    script.turn(text(LONG), usage(input=500, output=300))
    await pi_session.prompt(LONG)
    return pi_session


def kinds(recorder):
    wanted = ("auto_retry_start", "auto_retry_end", "compaction_end", "summarization_retry_finished")
    return [event.type for event in recorder.events if event.type in wanted]


async def test_an_overflow_text_in_a_429_is_retried(talked, script, recorder):
    talked.subscribe(recorder)
    script.turn(error("429 rate limit: prompt is too long for this minute")).turn(text("Here."))

    answer = await talked.prompt(LONG)

    assert answer.text == "Here."
    assert kinds(recorder) == ["auto_retry_start", "auto_retry_end"]


async def test_an_overflow_is_compacted_and_not_retried(talked, script, recorder):
    talked.subscribe(recorder)
    script.turn(error("400 prompt is too long")).turn(text("Short.")).turn(text("Here."))

    answer = await talked.prompt(LONG)

    assert answer.text == "Here."
    assert kinds(recorder) == ["compaction_end"]


async def test_a_summariser_that_is_overloaded_is_asked_again(talked, script, recorder):
    talked.subscribe(recorder)
    script.turn(error("529 Overloaded")).turn(text("Short."))

    made = await talked.compact()

    assert made.summary.endswith("Short.")
    assert kinds(recorder) == ["summarization_retry_finished", "compaction_end"]


@pytest.mark.pi(plugins=[])
async def test_without_both_an_overflow_is_reported_unchanged(talked, script):
    script.turn(error("400 prompt is too long"))

    answer = await talked.prompt(LONG)

    assert answer.stop_reason == "error"
    assert "prompt is too long" in answer.error_message
    assert len(script.requests) == 2
