"""Fields of the settings are in what the provider is sent."""

from __future__ import annotations

import pytest

from pi_testing import text


@pytest.mark.pi(settings={"payload": {"scripted": {"service_tier": "flex"}, "another-api": {"x": 1}}})
async def test_fields_for_the_api_are_sent(pi_session, script):
    script.turn(text("Cheap."))

    await pi_session.prompt("hello")

    payload = script.requests[0].payload
    assert payload["service_tier"] == "flex"
    assert payload["model"] == "model"
    assert "x" not in payload
