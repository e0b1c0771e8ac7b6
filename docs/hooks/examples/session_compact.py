"""Says how much a compaction took out."""

from pi_hookspecs import hookimpl


@hookimpl
def session_compact(event, ctx):
    ctx.ui.notify(f"Compacted ({event.reason}): {event.compaction_entry.summary}")


# Shown by

from pi_testing import text


async def shown(pi_session, script, fake_ui):
    script.turn(text("One.")).turn(text("Two."))
    await pi_session.prompt("Say one")
    await pi_session.prompt("Say two")

    await pi_session.compact()

    assert fake_ui.notices[-1].message.startswith("Compacted (manual): The user asked")
