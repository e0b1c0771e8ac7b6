"""Shows the HTTP status of the provider's response and the remaining rate limit."""

from pi_hookspecs import hookimpl


@hookimpl
def after_provider_response(event, ctx):
    left = event.headers.get("x-ratelimit-remaining-requests", "?")
    ctx.ui.set_status("provider", f"{event.status}, {left} requests left")


# Test

from pi_testing import text


async def test_example(pi_session, script, fake_ui):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert fake_ui.statuses == {"provider": "200, ? requests left"}
