"""Whatever goes wrong on the way, the answer ends with what to do, over either transport."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import AbortController
from pi_testing.fake_servers import json_answer
from pi_testing.fake_servers.openai import (
    FakeOpenAI,
    call,
    chunks,
    closed_url,
    completion,
    error,
    events,
    html_page,
    redirect,
    response,
    silence,
    text,
)

ANSWERS = {"openai-completions": completion, "openai-responses": response}
KEY = "sk-secret-0123456789"


@pytest.fixture(params=[None, pytest.param("sdk", marks=pytest.mark.slow)], ids=["kit", "sdk"])
def transport(request):
    return request.param


@pytest.fixture(params=ANSWERS)
def api(request):
    return request.param


@pytest.fixture
def failure(api, transport, make_model, chat, reply):
    """The message that the answer to a request becomes."""

    async def message(*answers, check=True, **options):
        async with FakeOpenAI(check=check) as server:
            server.answers(*answers)
            model = make_model(api, base_url=server.base_url)
            options = {"api_key": KEY, "transport": transport, **options}
            return await reply(model, chat.user("Hi"), **options)

    return message


STATUSES = {
    400: "correct what the message names",
    401: "The key for provider 'fake' was not accepted",
    403: "may not use model 'gpt-fake'",
    404: "has no model 'gpt-fake'",
    413: "Compact the conversation",
    429: "or choose another model",
    500: "The provider has problems",
    503: "The provider has problems",
    529: "The provider has problems",
}


@pytest.mark.parametrize("status", STATUSES)
async def test_a_status_is_reported_with_the_apis_message_and_what_to_do(failure, api, status):
    message = await failure(error(status, "Invalid request", code="some_code"))

    start = f"{status}: " if api == "openai-completions" else f"fake API error ({status}): "
    assert message.error_message.startswith(f'{start}{{"error":{{"message":"Invalid request"')
    assert STATUSES[status] in message.error_message
    assert message.extra["requestFailure"]["status"] == status
    assert message.extra["requestFailure"]["requestId"] == "req_fake"


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "Your input exceeds the context window of this model.",
        "Please reduce the length of the messages or completion.",
        "maximum prompt length is 131072",
        "the request exceeds the available context size. try increasing the context size",
    ],
)
async def test_overflow_texts_stay_as_they_are(failure, words):
    message = await failure(error(400, words, code="context_length_exceeded"))

    assert words in message.error_message


async def test_the_servers_retry_delay_is_kept(failure):
    message = await failure(error(429, "Slow down", retry_after="7"))

    assert message.extra["requestFailure"]["retryAfterMs"] == 7000
    assert "Wait 7 s" in message.error_message


async def test_a_proxys_html_page_is_reported_by_its_title(failure, api):
    bad = await failure(html_page(502, "Bad Gateway"))
    fine = await failure(html_page(200, "Welcome"))

    assert "Bad Gateway" in bad.error_message
    assert "<html" not in bad.error_message
    assert "Welcome" in fine.error_message
    assert fine.stop_reason == "error"


async def test_a_redirect_is_not_followed(failure):
    message = await failure(redirect("http://127.0.0.1:1/elsewhere"))

    assert "The server redirects to 'http://127.0.0.1:1/elsewhere'" in message.error_message


async def test_the_key_is_never_shown(failure):
    message = await failure(error(401, f"Incorrect API key provided: {KEY}"))

    assert KEY not in message.error_message
    assert "[secret]" in message.error_message


async def test_an_event_that_repeats_the_key_does_not_show_it(failure, api):
    body = {"type": "error", "code": "invalid_api_key", "message": f"Incorrect API key provided: {KEY}"}
    answer = chunks([{"error": body}]) if api == "openai-completions" else events([body])

    message = await failure(answer)

    assert KEY not in message.error_message
    assert "[secret]" in message.error_message


@pytest.mark.parametrize("place", ["model", "options"])
@pytest.mark.parametrize("status", [200, 401])
async def test_secret_headers_are_never_shown(api, transport, make_model, chat, reply, place, status):
    secret = {"x-gateway-token": "gw-0123456789", "cookie": "session=c00k1e-0123"}
    echoed = "not with gw-0123456789 and session=c00k1e-0123"
    event = {"type": "error", "code": "invalid_api_key", "message": echoed}
    in_stream = chunks([{"error": event}]) if api == "openai-completions" else events([event])
    async with FakeOpenAI() as server:
        server.answers(in_stream if status == 200 else error(status, echoed))
        model = make_model(api, base_url=server.base_url, headers=secret if place == "model" else None)
        message = await reply(
            model, chat.user("Hi"), transport=transport, headers=secret if place == "options" else None
        )  # fmt: skip

    assert "not with [secret] and [secret]" in message.error_message
    assert "gw-0123" not in repr(message)
    assert "c00k1e" not in repr(message)


async def test_nothing_answers(api, transport, make_model, chat, reply):
    model = make_model(api, base_url=f"{closed_url()}/v1")
    message = await reply(model, chat.user("Hi"), transport=transport)

    assert message.error_message.startswith("Connection error.")
    assert "Start the server, or check the base URL" in message.error_message


async def test_the_name_cannot_be_resolved(api, transport, make_model, chat, reply):
    model = make_model(api, base_url="http://nowhere.invalid/v1")
    message = await reply(model, chat.user("Hi"), transport=transport)

    assert message.error_message.startswith("Connection error.")
    assert "Check the base URL" in message.error_message


async def test_a_server_that_never_answers_is_not_waited_for_longer_than_allowed(failure):
    message = await failure(silence(), timeout_ms=2000)

    assert message.error_message.startswith("Connection error.")
    assert "for 2 s" in message.error_message


async def test_a_stalled_stream_ends_with_the_text_so_far(failure, api):
    message = await failure(ANSWERS[api](text("Hel", "lo")).stalled(after=b'"Hel"'), timeout_ms=2000)
    later = await failure(ANSWERS[api](text("Hel", "lo")).stalled(after=b'"lo"'), timeout_ms=2000)

    assert message.error_message.startswith("terminated: the answer stalled, nothing was received for 2 s")
    assert later.text == "Hel"


@pytest.mark.parametrize("after", [b'"Hel"', b"\xc3", b'{"pa', b"\n\n"])
async def test_a_connection_that_breaks_keeps_the_text_and_runs_no_half_call(failure, api, after):
    whole = ANSWERS[api](text("Hel", "l\u00f6"), call("c", "read", path="a"))
    if after == b'{"pa':
        after = b"arguments.delta" if api == "openai-responses" else b'"arguments"'
    message = await failure(whole.cut(after=after))

    assert message.stop_reason == "error"
    assert message.error_message.startswith("terminated")
    assert "Send the prompt again" in message.error_message
    assert message.tool_calls == ()
    assert message.text in ("", "Hel", "Hell\u00f6")


@pytest.mark.slow
async def test_ten_megabytes_in_one_event(failure, api):
    big = "x" * 10_000_000
    message = await failure(ANSWERS[api](text(big)))

    assert message.text == big


async def test_an_abort_ends_the_answer_at_once(api, transport, make_model, chat, final):
    from pi_hookspecs import Context, StreamOptions
    from pi_provider_kit import Http
    from pi_provider_openai.providers import Completions, Responses

    controller, http = AbortController(), Http()
    provider = Completions(http) if api == "openai-completions" else Responses(http)
    async with FakeOpenAI() as server:
        server.answers(ANSWERS[api](text("Hel", "lo")).stalled(after=b'"lo"'), silence())
        model = make_model(api, base_url=server.base_url)
        options = StreamOptions(api_key=KEY, transport=transport, signal=controller.signal)
        events = []
        async for event in provider.stream(model, Context(messages=(chat.user("Hi"),)), options):
            events.append(event)
            if event.type == "text_delta":
                controller.abort()
        before = [event async for event in provider.stream(model, Context(messages=(chat.user("Hi"),)), options)]
        await http.aclose()

    message = final(events)
    assert (message.stop_reason, message.error_message, message.text) == ("aborted", "Request was aborted", "Hel")
    assert final(before).stop_reason == "aborted"
    assert len(server.requests) == 1


async def test_an_abort_ends_the_wait_for_a_server_that_does_not_answer(api, transport, make_model, chat, reply):
    controller = AbortController()
    async with FakeOpenAI() as server:
        asked = asyncio.Event()
        server.answers(lambda request: asked.set() or silence())
        model = make_model(api, base_url=server.base_url)
        asking = asyncio.create_task(reply(model, chat.user("Hi"), transport=transport, signal=controller.signal))
        await asked.wait()
        controller.abort()
        message = await asking

    assert message.stop_reason == "aborted"


async def test_hooks_see_the_payload_and_the_response(api, transport, make_model, chat, reply):
    seen = []

    async def on_payload(payload, model):
        return {**payload, "user": "me", "model": "gpt-other"}

    async def on_response(status, headers):
        seen.append((status, headers["x-request-id"]))

    async with FakeOpenAI() as server:
        server.answers(ANSWERS[api](text("Hi")))
        model = make_model(api, base_url=server.base_url, headers={"x-model": "1"})
        message = await reply(
                model, chat.user("Hi"), transport=transport, on_payload=on_payload, on_response=on_response,
                headers={"x-own": "2"},
            )  # fmt: skip

    assert message.text == "Hi"
    assert seen == [(200, "req_fake")]
    assert (server.request.json["user"], server.request.json["model"]) == ("me", "gpt-other")
    assert (server.request.headers["x-model"], server.request.headers["x-own"]) == ("1", "2")
    assert server.request.headers["user-agent"].startswith("pi/")


async def test_local_servers_need_no_key(api, transport, make_model, chat, reply):
    async with FakeOpenAI(keyless=True) as server:
        server.answers(ANSWERS[api](text("Hi")))
        model = make_model(api, base_url=server.base_url)
        message = await reply(model, chat.user("Hi"), transport=transport, api_key=None)

    assert message.text == "Hi"


@pytest.mark.parametrize("fields", [{"compat": {"transport": "sdk"}}, {"extra": {"transport": "sdk"}}])
async def test_the_model_s_data_may_ask_for_the_sdk(make_model, chat, reply, fields):
    async with FakeOpenAI() as server:
        server.answers(completion(text("Hi")), completion(text("Hi")))
        model = make_model(base_url=server.base_url, **fields)
        message = await reply(model, chat.user("Hi"))
        await reply(model, chat.user("Hi"), transport="http")

    assert message.text == "Hi"
    assert ["x-stainless-lang" in request.headers for request in server.requests] == [True, False]


async def test_the_sdk_is_named_where_it_is_missing(api, make_model, chat, reply, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "openai", None)
    message = await reply(make_model(api), chat.user("Hi"), transport="sdk")

    assert "Install pluggypi-provider-openai[sdk]" in message.error_message


@pytest.mark.parametrize(
    ("generation", "stop"),
    [('{"name": "read", "arguments": {"file": "a"}}', "toolUse"), ("I cannot do that.", "error")],
)
async def test_a_refusal_with_the_call_that_was_not_read_becomes_the_call(
    transport, make_model, chat, reply, generation, stop
):
    refusal = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": generation}
    async with FakeOpenAI() as server:
        server.answers(json_answer(400, {"error": refusal}))
        model = make_model(base_url=server.base_url)
        message = await reply(model, chat.user("Hi"), api_key=KEY, transport=transport)

    assert message.stop_reason == stop
    assert [each.arguments for each in message.tool_calls] == ([{"file": "a"}] if stop == "toolUse" else [])
    assert stop == "toolUse" or message.error_message.startswith('400: {"error":')
    assert stop == "toolUse" or message.error_message.endswith("ask again, or choose another model.")
