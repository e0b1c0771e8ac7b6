"""Turns `?? word` into a request for a short explanation."""

from pi_hookspecs import InputResult, hookimpl


@hookimpl
def input(event):  # noqa: A001 - the hook's name
    if event.text.startswith("?? "):
        return InputResult(text=f"Explain in one sentence: {event.text.removeprefix('?? ')}")
    return None


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("It is a loop."))

    await pi_session.prompt("?? agent")

    assert script.requests[0].user_text == "Explain in one sentence: agent"
