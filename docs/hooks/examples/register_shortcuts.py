"""A keyboard shortcut, for interactive front ends, that shows where the session is stored."""

from pi_hookspecs import Shortcut, hookimpl


def say_where(ctx):
    ctx.ui.notify(str(ctx.session.file or "in memory"))


@hookimpl
def register_shortcuts():
    return [Shortcut(name="ctrl+g", handler=say_where, description="Show where the session is stored")]


# Test


async def test_example(pi_host, pi_session, fake_ui):
    pi_host.find("register_shortcuts", "ctrl+g").thing.handler(pi_session.ctx)

    assert fake_ui.notices[-1].message == "in memory"
