"""Shows the length of the answer while it streams. The hook runs for every delta, so keep it cheap."""

from pi_hookspecs import hookimpl


@hookimpl
def activate(pi):
    letters = 0

    @pi.on("message_update")
    def count(event, ctx):
        nonlocal letters
        if event.assistant_message_event.type == "text_delta":
            letters += len(event.assistant_message_event.delta)
            ctx.ui.set_status("letters", str(letters))


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello.", chunks=3))

    await pi_session.prompt("Hi")

    assert fake_ui.statuses == {"letters": "6"}
