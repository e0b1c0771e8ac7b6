"""Reminds the user of unfinished work when the session starts."""

from pi_hookspecs import hookimpl


@hookimpl
def session_start(event, ctx):
    notes = ctx.cwd / "LEFT.md"
    if notes.exists():
        ctx.ui.notify(f"Left to do: {notes.read_text().strip()}")


# Test


async def test_example(pi_session, fake_ui, tmp_path):
    (tmp_path / "LEFT.md").write_text("the tests\n")

    await pi_session.new_session()

    assert [each.message for each in fake_ui.notices] == ["Left to do: the tests"]
