"""The model gets the image that it asked for, made with the user's login."""

from __future__ import annotations

import json

import pytest

from pi_hookspecs import ImageContent
from pi_testing import text, tool_call
from pi_testing.fake_servers import FakeServer, json_answer

pytestmark = pytest.mark.pi(entry_points=["models"])

IMAGE = {"inlineData": {"mimeType": "image/png", "data": "aW1n"}}


def reply(*parts):
    return json_answer(200, {"response": {"candidates": [{"content": {"parts": list(parts)}}]}})


@pytest.fixture
async def server(pi_agent_dir):
    async with FakeServer() as fake:
        (pi_agent_dir / "models.json").write_text(
            json.dumps({"providers": {"google-antigravity": {"baseUrl": fake.url}}})
        )
        yield fake


@pytest.fixture
async def login(pi_session):
    key = json.dumps({"token": "ya29.test", "projectId": "my-project"})
    await pi_session.models.auth.set("google-antigravity", {"type": "api_key", "key": key})


async def test_the_image_reaches_the_model(server, pi_session, script, login):
    server.answers(reply({"text": "A lighthouse."}, IMAGE))
    script.turn(tool_call("generate_image", prompt="a lighthouse", aspect_ratio="16:9")).turn(text("There it is."))

    await pi_session.prompt("draw a lighthouse")

    (result,) = script.requests[1].tool_results
    assert result.text == "A lighthouse."
    assert result.content[1] == ImageContent("aW1n", "image/png")
    assert server.request.headers["authorization"] == "Bearer ya29.test"
    sent = server.request.json
    assert (sent["project"], sent["model"]) == ("my-project", "gemini-3-pro-image")
    assert sent["request"]["generationConfig"] == {"imageConfig": {"aspectRatio": "16:9"}}


async def test_words_in_place_of_an_image_are_a_failed_call(server, pi_session, script, login):
    server.answers(reply({"text": "I must not."}))
    script.turn(tool_call("generate_image", prompt="a lighthouse")).turn(text("Sorry."))

    await pi_session.prompt("draw a lighthouse")

    (result,) = script.requests[1].tool_results
    assert (result.is_error, result.text) == (True, "No image came: I must not.")


async def test_without_a_login_the_call_says_what_to_do(server, pi_session, script):
    script.turn(tool_call("generate_image", prompt="a lighthouse")).turn(text("Sorry."))

    await pi_session.prompt("draw a lighthouse")

    assert "No API key found for google-antigravity" in script.requests[1].tool_results[0].text
