"""Writes the length of the conversation to a file."""

from pi_hookspecs import hookimpl


@hookimpl
def session_shutdown(event, ctx):
    (ctx.cwd / "last-session.txt").write_text(f"{len(ctx.session.entries())} entries, {event.reason}\n")


# Test


async def test_example(pi_session, tmp_path):
    await pi_session.dispose()

    assert (tmp_path / "last-session.txt").read_text().endswith("entries, quit\n")
