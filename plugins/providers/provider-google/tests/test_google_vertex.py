"""Where Vertex AI is asked, and as whom: a key, a token, or the credentials of the machine."""

from __future__ import annotations

import json
import os

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from pi_hookspecs import AbortController, MissingKey
from pi_provider_google.adc import AMBIENT, AmbientCredentials
from pi_provider_google.vertex import host_of, location_of
from pi_testing import for_each
from pi_testing.fake_servers import FakeServer, json_answer, silence
from pi_testing.fake_servers.google import FakeGoogle, answer, text

CATALOGUE = "https://{location}-aiplatform.googleapis.com"


@pytest.fixture
async def server():
    async with FakeGoogle() as server:
        yield server


@pytest.fixture
async def tokens():
    async with FakeServer() as server:
        yield server


@pytest.fixture
def model(make_model, server):
    return make_model("google-vertex", id="gemini-fake", provider="google-vertex", base_url=server.url)


@pytest.fixture
def place(monkeypatch):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "proj-1")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west1")


@pytest.fixture
def key_file(tmp_path, monkeypatch, tokens):
    """Write the key of a service account whose tokens come from the fake server."""

    def written():
        key = rsa.generate_private_key(65537, 2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        known = {"type": "service_account", "client_email": "pi@proj-2.iam", "project_id": "proj-2"}
        file = tmp_path / "key.json"
        file.write_text(json.dumps({**known, "private_key": pem.decode(), "token_uri": f"{tokens.url}/token"}), "utf-8")
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))

    return written


@pytest.fixture
def signed_in(tmp_path, monkeypatch, tokens):
    """Write what gcloud writes when a user signs in; Google's own address of tokens becomes that of the fake server."""
    from google.oauth2 import credentials

    monkeypatch.setattr(credentials, "_GOOGLE_OAUTH2_TOKEN_ENDPOINT", f"{tokens.url}/token")

    def written(**fields):
        known = {"type": "authorized_user", "client_id": "id", "client_secret": "s", "refresh_token": "1//refresh"}
        folder = tmp_path / "gcloud"
        folder.mkdir(exist_ok=True)
        (folder / "application_default_credentials.json").write_text(json.dumps({**known, **fields}), "utf-8")

    return written


def granted(access="ya29.granted"):
    return json_answer(200, {"access_token": access, "expires_in": 3600, "token_type": "Bearer"})


@pytest.mark.parametrize("transport", [None, "sdk"])
async def test_a_key_needs_no_project(server, model, chat, reply, transport):
    server.answers(answer(text("Hello")))
    message = await reply(model, chat.user("Hi"), transport=transport)

    assert message.text == "Hello"
    assert server.request.path == "/v1/publishers/google/models/gemini-fake:streamGenerateContent"
    assert server.request.headers["x-goog-api-key"] == "AIza-0123456789"
    assert "authorization" not in server.request.headers


@pytest.mark.parametrize("transport", [None, "sdk"])
async def test_a_token_is_for_a_project_in_a_location(server, model, chat, reply, place, transport):
    server.answers(answer(text("Hello")))
    message = await reply(model, chat.user("Hi"), api_key="ya29.mine", transport=transport)

    assert message.text == "Hello"
    assert server.request.path == (
        "/v1/projects/proj-1/locations/europe-west1/publishers/google/models/gemini-fake:streamGenerateContent"
    )
    assert server.request.headers["authorization"] == "Bearer ya29.mine"
    assert "x-goog-api-key" not in server.request.headers


@pytest.mark.parametrize("transport", [None, "sdk"])
async def test_a_service_account_gets_a_token_once(server, tokens, key_file, model, chat, reply, place, transport):
    key_file()
    tokens.answers(granted())
    server.answers(answer(text("One")), answer(text("Two")))
    for words in ("One", "Two"):
        message = await reply(model, chat.user("Hi"), api_key=AMBIENT, transport=transport)
        assert (message.text, message.error_message) == (words, None)

    assert len(tokens.requests) == 1
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer ya29.granted"}
    assert "proj-1" in server.request.path


async def test_the_credentials_name_a_project_where_nothing_else_does(
    server, tokens, key_file, model, chat, reply, monkeypatch
):
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "global")
    key_file()
    tokens.answers(granted())
    server.answers(answer(text("Hello")))
    await reply(model, chat.user("Hi"), api_key=AMBIENT)

    assert server.request.path.startswith("/v1/projects/proj-2/locations/global/")


async def test_a_user_signed_in_with_gcloud(server, tokens, signed_in, model, chat, reply, place):
    signed_in(quota_project_id="proj-3")
    tokens.answers(granted("ya29.user"))
    server.answers(answer(text("Hello")))
    await reply(model, chat.user("Hi"), api_key=AMBIENT)

    assert server.request.headers["authorization"] == "Bearer ya29.user"
    assert server.request.headers["x-goog-user-project"] == "proj-3"


async def test_a_project_that_is_named_keeps_gcloud_from_being_run(
    server, tokens, signed_in, model, chat, reply, place, tmp_path, monkeypatch
):
    signed_in()
    gcloud = tmp_path / "bin" / "gcloud"
    gcloud.parent.mkdir()
    gcloud.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n", "utf-8")
    gcloud.chmod(0o755)
    monkeypatch.setenv("PATH", str(gcloud.parent), prepend=os.pathsep)
    tokens.answers(granted())
    server.answers(answer(text("Hello")))
    message = await reply(model, chat.user("Hi"), api_key=AMBIENT)

    assert message.text == "Hello"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("written", ["{", '{"type": "authorized_user"}', '{"type": "alien"}'])
async def test_a_broken_sign_in_is_reported(model, chat, reply, place, tmp_path, written):
    (tmp_path / "gcloud").mkdir()
    (tmp_path / "gcloud" / "application_default_credentials.json").write_text(written, "utf-8")
    message = await reply(model, chat.user("Hi"), api_key=AMBIENT)

    assert message.error_message.startswith("No Google Cloud credentials: ")
    assert "gcloud auth application-default login" in message.error_message


async def test_a_sign_in_that_has_expired_names_the_command(server, tokens, signed_in, model, chat, reply, place):
    signed_in()
    problem = {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}
    tokens.answers(json_answer(400, problem), granted())
    message = await reply(model, chat.user("Hi"), api_key=AMBIENT)
    signed_in()
    server.answers(answer(text("Hello")))
    again = await reply(model, chat.user("Hi"), api_key=AMBIENT)

    assert "invalid_grant: Token has been expired or revoked." in message.error_message
    assert "gcloud auth application-default login" in message.error_message
    assert "1//refresh" not in message.error_message
    assert again.text == "Hello"


async def test_no_credentials_at_all_name_the_command(model, chat, reply, place):
    message = await reply(model, chat.user("Hi"), api_key=AMBIENT)

    assert message.error_message.startswith("No Google Cloud credentials: ")
    assert "gcloud auth application-default login" in message.error_message
    assert "GOOGLE_CLOUD_API_KEY" in message.error_message


async def test_a_key_file_that_is_not_there_is_named(model, chat, reply, place, monkeypatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    message = await reply(model, chat.user("Hi"), api_key=AMBIENT)

    assert "/nowhere/key.json" in message.error_message


@pytest.mark.parametrize(
    ("missing", "words"),
    [("GOOGLE_CLOUD_LOCATION", "Set GOOGLE_CLOUD_LOCATION"), ("GOOGLE_CLOUD_PROJECT", "Set GOOGLE_CLOUD_PROJECT")],
)
async def test_what_is_not_named_is_asked_for(model, chat, reply, place, monkeypatch, missing, words):
    monkeypatch.delenv(missing)
    message = await reply(model, chat.user("Hi"), api_key="ya29.mine")

    assert words in message.error_message


async def test_an_abort_ends_the_wait_for_a_token(tokens, key_file, model, chat, reply, place):
    key_file()
    controller = AbortController()

    def never(_):
        controller.abort()
        return silence()

    tokens.answers(never)
    message = await reply(model, chat.user("Hi"), api_key=AMBIENT, signal=controller.signal)

    assert message.stop_reason == "aborted"


# Hosts


@for_each(
    ("base_url", "location", "host"),
    [
        (CATALOGUE, "us-central1", "https://us-central1-aiplatform.googleapis.com"),
        (CATALOGUE, "global", "https://aiplatform.googleapis.com"),
        (CATALOGUE, None, "https://aiplatform.googleapis.com"),
        (CATALOGUE, "eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("https://global-aiplatform.googleapis.com", "global", "https://aiplatform.googleapis.com"),
        ("", "us-east5", "https://us-east5-aiplatform.googleapis.com"),
        ("https://gateway.test/vertex/v1", "us-east5", "https://gateway.test/vertex"),
    ],
)
def test_hosts(base_url, location, host):
    assert host_of(base_url, location) == host


@pytest.mark.parametrize(
    ("base_url", "environ", "location"),
    [
        (CATALOGUE, {"GOOGLE_CLOUD_LOCATION": "us-east5"}, "us-east5"),
        ("https://us-west1-aiplatform.googleapis.com", {}, "us-west1"),
        ("https://us-west1-aiplatform.googleapis.com", {"GOOGLE_CLOUD_LOCATION": "global"}, "global"),
        ("https://aiplatform.eu.rep.googleapis.com", {}, "eu"),
    ],
)
def test_locations(base_url, environ, location):
    assert location_of(base_url, environ) == location


# The source


async def test_where_nothing_speaks_for_vertex_every_way_is_named():
    source = AmbientCredentials({"CLOUDSDK_CONFIG": "/nowhere"})

    assert source.available("google-vertex") is None
    assert source.available("google") is False
    with pytest.raises(MissingKey, match=r"GOOGLE_CLOUD_API_KEY; or .*gcloud auth application-default login"):
        await source.credential("google-vertex")


def test_all_that_is_needed_is_there(tmp_path):
    (tmp_path / "application_default_credentials.json").write_text("{}", "utf-8")
    named = {"GCLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "global"}

    assert AmbientCredentials({**named, "CLOUDSDK_CONFIG": str(tmp_path)}).available("google-vertex") is True
    assert AmbientCredentials({**named, "K_SERVICE": "run", "CLOUDSDK_CONFIG": "/x"}).available("google-vertex") is True


@pytest.mark.parametrize(
    "environ",
    [
        {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "global"},
        {"GOOGLE_CLOUD_PROJECT": "p"},
        {"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere"},
    ],
)
async def test_a_request_names_what_is_missing(environ):
    source = AmbientCredentials({"CLOUDSDK_CONFIG": "/nowhere", **environ})

    assert source.available("google-vertex") is None
    assert await source.credential("google-vertex") == AMBIENT


async def test_other_providers_are_not_answered_for():
    assert await AmbientCredentials({}).credential("google") is None
