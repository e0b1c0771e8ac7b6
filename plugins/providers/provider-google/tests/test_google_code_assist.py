"""Cloud Code Assist: the wrapper, who asks, the login's key, and the host that is asked next."""

from __future__ import annotations

import pytest

from pi_hookspecs import MissingKey
from pi_testing.fake_servers.google import FakeGoogle, answer, closed_url, error, text, wrapped


@pytest.fixture
async def server():
    async with FakeGoogle() as server:
        yield server


@pytest.fixture
def model(make_model, server):
    return make_model("google-gemini-cli", provider="google-gemini-cli", base_url=server.url)


@pytest.fixture
def antigravity(make_model, server):
    def made(**fields):
        known = {"provider": "google-antigravity", "base_url": server.url, "id": "gemini-3.1-pro-high"}
        return make_model("google-gemini-cli", **{**known, **fields})

    return made


def hello():
    return wrapped(answer(text("Hel", "lo")))


async def test_the_request_is_wrapped(server, model, chat, reply):
    server.answers(hello())
    message = await reply(model, chat.user("Hi"), session_id="s1")

    body = server.request.json
    assert message.text == "Hello"
    assert server.request.path == "/v1internal:streamGenerateContent"
    assert (body["project"], body["model"], body["userAgent"]) == ("proj-1", "gemini-fake", "pi-coding-agent")
    assert body["request"]["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]
    assert body["request"]["sessionId"] == "s1"
    assert body["requestId"].startswith("pi-")
    assert "requestType" not in body


async def test_the_headers_identify_the_client(server, model, chat, reply):
    server.answers(hello())
    await reply(model, chat.user("Hi"))

    headers = server.request.headers
    assert headers["authorization"] == "Bearer ya29.0123456789"
    assert headers["user-agent"] == "google-cloud-sdk vscode_cloudshelleditor/0.1"
    assert headers["client-metadata"] == (
        '{"ideType":"IDE_UNSPECIFIED","platform":"PLATFORM_UNSPECIFIED","pluginType":"GEMINI"}'
    )


async def test_antigravity_is_distinguished(server, antigravity, chat, reply):
    server.answers(hello(), hello())
    await reply(antigravity(), chat.user("Hi"))
    await reply(antigravity(id="claude-sonnet-4-6", reasoning=True), chat.user("Hi"), reasoning="low")

    body = server.request.json
    assert (body["userAgent"], body["requestType"]) == ("antigravity", "agent")
    assert body["requestId"].startswith("agent-")
    assert server.request.headers["user-agent"].startswith("antigravity/")
    assert server.request.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    assert "anthropic-beta" not in server.requests[0].headers


@pytest.mark.parametrize("status", [403, 404, 429, 503])
async def test_where_one_host_does_not_answer_the_other_is_asked(server, antigravity, chat, reply, status):
    async with FakeGoogle() as production:
        server.answers(error(status, "Not here."))
        production.answers(hello())
        message = await reply(antigravity(compat={"fallbackBaseUrl": production.url}), chat.user("Hi"))

    assert message.text == "Hello"
    assert (len(server.requests), len(production.requests)) == (1, 1)


async def test_a_host_that_is_not_there_is_no_end(server, antigravity, chat, reply):
    server.answers(hello())
    fields = {"base_url": closed_url(), "compat": {"fallbackBaseUrl": server.url}}
    message = await reply(antigravity(**fields), chat.user("Hi"))

    assert message.text == "Hello"


async def test_the_last_host_has_the_last_word(server, antigravity, chat, reply):
    async with FakeGoogle() as production:
        server.answers(error(503, "First."))
        production.answers(error(503, "Second."))
        message = await reply(antigravity(compat={"fallbackBaseUrl": production.url}), chat.user("Hi"))

    assert message.error_message.startswith("Cloud Code Assist API error (503): ")
    assert "Second." in message.error_message


@pytest.mark.parametrize("status", [400, 401])
async def test_what_is_wrong_with_the_request_is_wrong_everywhere(server, antigravity, chat, reply, status):
    async with FakeGoogle() as production:
        server.answers(error(status, "No."))
        await reply(antigravity(compat={"fallbackBaseUrl": production.url}), chat.user("Hi"))

    assert production.requests == []


async def test_an_answer_that_broke_off_is_not_asked_for_again(server, antigravity, chat, reply):
    async with FakeGoogle() as production:
        server.answers(hello().cut(after=b"Hel"))
        message = await reply(antigravity(compat={"fallbackBaseUrl": production.url}), chat.user("Hi"))

    assert message.stop_reason == "error"
    assert production.requests == []


def test_antigravitys_own_host_falls_back_on_production(make_model):
    from pi_hookspecs import StreamOptions
    from pi_provider_google.code_assist import code_assist_call

    sandbox = "https://daily-cloudcode-pa.sandbox.googleapis.com"
    model = make_model("google-gemini-cli", provider="google-antigravity", base_url=sandbox)
    call = code_assist_call(model, {}, StreamOptions(), '{"token":"t","projectId":"p"}')

    assert call.bases == (sandbox, "https://cloudcode-pa.googleapis.com")


@pytest.mark.parametrize("key", ["ya29.bare", '{"token":"ya29.x"}', '["ya29.x"]', '{"token":7,"projectId":"p"}'])
async def test_a_key_that_is_not_of_a_login(model, chat, reply, key):
    message = await reply(model, chat.user("Hi"), api_key=key)

    assert message.error_message == (
        "The key for provider 'google-gemini-cli' is not that of a login, which has token and projectId. "
        "Log in: pi auth login google-gemini-cli"
    )


async def test_without_a_login_there_is_no_request(model, chat, reply):
    with pytest.raises(MissingKey, match="pi auth login google-gemini-cli"):
        await reply(model, chat.user("Hi"), api_key=None)


async def test_the_token_never_shows(server, model, chat, reply):
    server.answers(error(401, "Bad token ya29.0123456789"), wrapped(answer(text("a"), finish=None)))
    refused = await reply(model, chat.user("Hi"))

    assert "ya29.0123456789" not in refused.error_message
    assert "[secret]" in refused.error_message
