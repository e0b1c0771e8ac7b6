"""Summarizes an abandoned branch by listing what the user asked there."""

from pi_hookspecs import SessionBeforeTreeResult, UserMessage, hookimpl


@hookimpl
def session_before_tree(event):
    left = [entry.message for entry in event.entries_to_summarize if entry.type == "message"]
    asked = [each.text for each in left if isinstance(each, UserMessage)]
    return SessionBeforeTreeResult(summary=f"Tried: {', '.join(asked)}") if asked else None


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("One.")).turn(text("Two."))
    await pi_session.prompt("Say one")
    place = pi_session.ctx.session.leaf_id
    await pi_session.prompt("Say two")

    went = await pi_session.navigate_tree(place, summarize=True)

    assert "Tried: Say two" in went.summary_entry.summary
