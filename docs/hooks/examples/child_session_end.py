"""Reports how a child session ended and how many tokens it used."""

from pi_hookspecs import hookimpl


@hookimpl
def child_session_end(event, ctx):
    ctx.ui.notify(f"{event.child.label} is {event.child.status}, {event.child.usage.total_tokens} tokens")


# Test

from pi_testing import text, usage


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Nothing there."), usage(input=20, output=10))

    async with pi_session.ctx.create_session(label="scout") as child:
        await child.prompt("Look around")

    assert fake_ui.notices[-1].message == "scout is done, 30 tokens"
