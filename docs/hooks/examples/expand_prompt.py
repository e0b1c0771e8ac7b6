"""Expands `/standup` to a longer prompt."""

from pi_hookspecs import ExpandPromptResult, hookimpl


@hookimpl
def expand_prompt(event):
    if event.text == "/standup":
        return ExpandPromptResult(text="Read the commits since yesterday and tell me in three lines what changed.")
    return None


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("Nothing changed."))

    await pi_session.prompt("/standup")

    assert script.requests[0].user_text.startswith("Read the commits since yesterday")
