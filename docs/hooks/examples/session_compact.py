"""Shows the summary after a compaction."""

from pi_hookspecs import hookimpl


@hookimpl
def session_compact(event, ctx):
    ctx.ui.notify(f"Compacted ({event.reason}): {event.compaction_entry.summary}")


# Test

import pytest

from pi_testing import text


@pytest.mark.pi(entry_points=["compaction"], settings={"compaction": {"keepRecentTokens": 3}})
async def test_example(pi_session, script, fake_ui):
    script.turn(text("A long story. " * 100)).turn(text("Yes."))
    await pi_session.prompt("Tell me a story")
    await pi_session.prompt("Is that all?")

    script.turn(text("The user asked for a story."))
    await pi_session.compact()

    assert fake_ui.notices[-1].message == "Compacted (manual): The user asked for a story."
