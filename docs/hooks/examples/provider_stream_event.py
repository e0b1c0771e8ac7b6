"""Counts the events of the stream that an answer comes in."""

from pi_hookspecs import hookimpl


@hookimpl
def activate(pi):
    received = 0

    @pi.on("provider_stream_event")
    def count(event, ctx):
        nonlocal received
        received += 1
        ctx.ui.set_status("stream", f"{event.api}: {received} events")


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert fake_ui.statuses == {"stream": "scripted: 1 events"}
