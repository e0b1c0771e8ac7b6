"""Refuses to fork a conversation if its folder contains `.no-forks`."""

from pi_hookspecs import SessionBeforeForkResult, hookimpl


@hookimpl
def session_before_fork(event, ctx):
    if (ctx.cwd / ".no-forks").exists():
        return SessionBeforeForkResult(cancel=True)
    return None


# Test

from pi_testing import text


async def test_example(pi_session, script, tmp_path):
    (tmp_path / ".no-forks").touch()
    script.turn(text("Hello."))
    await pi_session.prompt("Hi")

    outcome = await pi_session.fork(pi_session.ctx.session.leaf_id, "at")

    assert outcome.cancelled
