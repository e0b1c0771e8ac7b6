"""A slash command that counts the conversation's messages of a role, and completes the role's name.

`pi plugin new NAME --kind command` creates one, with tests, as a starting point.
"""

from pi_hookspecs import Command, Completion, hookimpl

ROLES = {"user": "what you wrote", "assistant": "answers"}


async def count(args, ctx):
    role = args or "assistant"
    messages = [entry for entry in ctx.session.branch() if entry.type == "message" and entry.message.role == role]
    ctx.ui.notify(f"{len(messages)} {role} messages so far")


async def complete(typed):  # may await things for up to 2 seconds; a plain function must not block
    return [Completion(role, description=what) for role, what in ROLES.items() if role.startswith(typed)]


@hookimpl
def register_commands():
    return [Command(name="count", handler=count, complete=complete, description="Count the messages of a role")]


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")

    await pi_session.prompt("/count")
    (offer,) = await pi_session.completions.arguments("count", "u")

    assert fake_ui.notices[-1].message == "1 assistant messages so far"
    assert (offer.value, offer.description) == ("user", "what you wrote")
