"""Shows the number of the current turn."""

from pi_hookspecs import hookimpl


@hookimpl
def turn_start(event, ctx):
    ctx.ui.set_status("turn", f"turn {event.turn_index + 1}")


# Test

from pi_testing import text, tool_call


async def test_example(pi_session, script, fake_ui):
    script.turn(tool_call("bash", command="ls")).turn(text("Done."))

    await pi_session.prompt("Look around")

    assert fake_ui.statuses == {"turn": "turn 2"}
