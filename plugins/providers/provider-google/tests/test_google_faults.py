"""What goes wrong reads the same over both transports, and says what to do."""

from __future__ import annotations

import pytest

from pi_testing.fake_servers.google import (
    FakeGoogle,
    answer,
    answer_events,
    blocked,
    closed_url,
    error,
    error_event,
    html_page,
    json_answer,
    stream,
    text,
)

TRANSPORTS = pytest.mark.parametrize("transport", [None, pytest.param("sdk", marks=pytest.mark.slow)])


@pytest.fixture
async def server():
    async with FakeGoogle() as server:
        yield server


@pytest.fixture
def failure_of(server, make_model, chat, reply):
    """The error message of a request, and the message's extra."""

    async def message(scripted, transport, **options):
        server.answers(scripted)
        ended = await reply(make_model(base_url=server.base_url), chat.user("Hi"), transport=transport, **options)
        return ended.error_message, ended.extra.get("requestFailure", {})

    return message


@TRANSPORTS
async def test_googles_words_come_first(failure_of, transport):
    message, known = await failure_of(error(429, "You exceeded your current quota.", retry_delay="34.5s"), transport)

    assert message.startswith('{"error":{"code":429,"message":"You exceeded your current quota."')
    assert known == {"status": 429, "retryAfterMs": 34_500}
    assert "Wait 35 s" in message


@TRANSPORTS
async def test_a_header_may_say_when_to_come_back(failure_of, transport):
    _, known = await failure_of(error(503, "The model is overloaded.", retry_after="7"), transport)

    assert known["retryAfterMs"] == 7000


@TRANSPORTS
async def test_a_key_that_is_not_valid(failure_of, transport):
    message, _ = await failure_of(error(400, "API key not valid. Please pass a valid API key."), transport)

    assert "The key for provider 'google' was not accepted" in message


@TRANSPORTS
async def test_a_request_that_is_too_large_is_recognized_by_its_status(failure_of, transport):
    message, _ = await failure_of(html_page(413, "Error 413 (Request Entity Too Large)!!1"), transport)

    assert message.startswith("413 Error 413 (Request Entity Too Large)!!1")


@TRANSPORTS
async def test_a_page_or_json_where_a_stream_should_be(failure_of, transport):
    page, _ = await failure_of(html_page(200, "Sign in"), transport)
    array, _ = await failure_of(json_answer(200, [{"error": {"message": "Oh."}}]), transport)

    assert "The server sent text/html where" in page
    assert "Oh." in array


@TRANSPORTS
async def test_an_error_in_the_midst(failure_of, transport):
    events = [answer_events(text("Hel"))[0], error_event(503, "The model is overloaded.")]
    message, known = await failure_of(stream(events), transport)

    assert message.startswith('{"error":{"code":503,"message":"The model is overloaded."')
    assert known["status"] == 503


@TRANSPORTS
async def test_a_prompt_that_is_blocked(failure_of, transport):
    message, _ = await failure_of(blocked("PROHIBITED_CONTENT"), transport)

    assert message.startswith("Google blocked the prompt (PROHIBITED_CONTENT)\n")


@TRANSPORTS
async def test_a_stream_that_is_cut(failure_of, transport):
    message, _ = await failure_of(answer(text("Hel", "lo")).cut(after=b"Hel"), transport)

    assert message.startswith("terminated: the connection was closed before the answer was complete")


@TRANSPORTS
async def test_a_stream_that_stalls(failure_of, transport):
    message, _ = await failure_of(answer(text("Hel", "lo")).stalled(after=b"Hel"), transport, timeout_ms=2000)

    assert message.startswith("terminated: the answer stalled, nothing was received for 2 s")


@TRANSPORTS
async def test_nothing_answers(make_model, chat, reply, transport):
    message = await reply(make_model(base_url=f"{closed_url()}/v1beta"), chat.user("Hi"), transport=transport)

    assert message.error_message.startswith("Connection error. Nothing answers at 127.0.0.1:")


@TRANSPORTS
async def test_the_key_is_not_disclosed(failure_of, transport):
    message, _ = await failure_of(error(400, "Bad key AIza-0123456789"), transport)

    assert "AIza" not in message


async def test_the_sdk_needs_a_key(make_model, chat, reply):
    message = await reply(make_model(), chat.user("Hi"), transport="sdk", api_key=None)

    assert message.error_message.startswith("The transport 'sdk' needs a key. Set GEMINI_API_KEY")


async def test_an_sdk_that_is_not_installed(make_model, chat, reply, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "google.genai", None)
    message = await reply(make_model(), chat.user("Hi"), transport="sdk")

    assert "Install pluggypi-provider-google[sdk], or choose another transport." in message.error_message
