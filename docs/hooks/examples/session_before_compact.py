"""Compacts without a model: the user's first message becomes the summary."""

from pi_hookspecs import Compaction, SessionBeforeCompactResult, UserMessage, hookimpl


@hookimpl
def session_before_compact(event):
    messages = [entry.message for entry in event.branch_entries if entry.type == "message"]
    first = next(each.text for each in messages if isinstance(each, UserMessage))
    return SessionBeforeCompactResult(
        compaction=Compaction(
            summary=f"The user began with: {first}",
            first_kept_entry_id=event.preparation.first_kept_entry_id,
            tokens_before=event.preparation.tokens_before,
        )
    )


# Test

import pytest

from pi_testing import text


@pytest.mark.pi(entry_points=["compaction"], settings={"compaction": {"keepRecentTokens": 1}})
async def test_example(pi_session, script):
    script.turn(text("Hello.")).turn(text("Yes."))
    await pi_session.prompt("Hi")
    await pi_session.prompt("Still there?")

    compaction = await pi_session.compact()

    assert compaction.summary == "The user began with: Hi"
