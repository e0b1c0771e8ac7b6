"""A slash command that tells how many requests the conversation has made.

`pi plugin new NAME --kind command` writes one to start from, with tests.
"""

from pi_hookspecs import Command, hookimpl


async def count(args, ctx):
    answers = [entry for entry in ctx.session.branch() if entry.type == "message" and entry.message.role == "assistant"]
    ctx.ui.notify(f"{len(answers)} answers so far")


@hookimpl
def register_commands():
    return [Command(name="count", handler=count, description="Tell how many answers there were")]


# Shown by

from pi_testing import text


async def shown(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")

    await pi_session.prompt("/count")

    assert fake_ui.notices[-1].message == "1 answers so far"
