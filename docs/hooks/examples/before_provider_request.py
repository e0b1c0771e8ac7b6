"""Requests the provider's cheaper service tier by changing the API payload."""

from pi_hookspecs import hookimpl


@hookimpl
def before_provider_request(event):
    return {**event.payload, "service_tier": "flex"}


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert script.requests[0].payload["service_tier"] == "flex"
