"""A plugin with state: it counts turns and stores the count in the session.

`pi plugin new NAME --kind extension` creates one, with tests, as a starting point.
"""

from pi_hookspecs import hookimpl


@hookimpl
def activate(pi):
    turns = 0

    @pi.on("turn_end")
    def count(event):
        nonlocal turns
        turns += 1

    @pi.on("agent_settled")
    def keep(event):
        pi.append_entry("turns", turns)


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    (kept,) = [entry for entry in pi_session.ctx.session.entries() if entry.type == "custom"]
    assert (kept.custom_type, kept.data) == ("turns", 1)
