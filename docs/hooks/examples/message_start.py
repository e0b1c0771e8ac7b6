"""Logs the role of every message when it starts."""

from pi_hookspecs import hookimpl


@hookimpl
def message_start(event, ctx):
    with (ctx.cwd / "messages.log").open("a") as log:
        log.write(f"{event.message.role}\n")


# Test

from pi_testing import text


async def test_example(pi_session, script, tmp_path):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert (tmp_path / "messages.log").read_text() == "user\nassistant\n"
