"""What goes wrong ends in a message that says what to do, keeps the text, and runs no half-received call."""

from __future__ import annotations

import asyncio

import pytest
import trustme

from pi_hookspecs import AbortController, StreamOptions
from pi_testing.fake_servers import sse
from pi_testing.fake_servers.anthropic import (
    FakeAnthropic,
    closed_url,
    error,
    error_event,
    event,
    html_page,
    message,
    message_events,
    redirect,
    silence,
    stream,
    text,
    thinking,
    tool_use,
)
from pi_testing.patience import PATIENCE

SOME = message_events(text("some text"), tool_use("toolu_1", "read", path="x"))


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, "invalid_request_error", "correct what the message names"),
        (401, "authentication_error", "The key for provider 'anthropic' was not accepted"),
        (402, "billing_error", "has to be topped up"),
        (403, "permission_error", "may not use model 'claude-fake'"),
        (404, "not_found_error", "has no model 'claude-fake'"),
        (413, "request_too_large", "Compact the conversation"),
        (429, "rate_limit_error", "Wait a moment"),
        (500, "api_error", "The provider has problems"),
        (503, "api_error", "The provider has problems"),
        (529, "overloaded_error", "The provider has problems"),
    ],
)
async def test_refusals_keep_the_apis_words_and_say_what_to_do(ask, server, status, kind, advice):
    server.answers(error(status, "because"))
    reply = await ask()

    body = f'{{"type":"error","error":{{"type":"{kind}","message":"because"}},"request_id":"req_011fake"}}'
    assert reply.error.startswith(f"{status} {body}")
    assert advice in reply.error
    assert reply.types == ["error"]
    assert reply.message.extra["requestFailure"]["status"] == status
    assert reply.message.extra["requestFailure"]["requestId"] == "req_011fake"


@pytest.mark.parametrize(
    "prompt",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
        "Request exceeds the maximum size",
    ],
)
async def test_overflow_texts_arrive_unchanged(ask, server, prompt):
    server.answers(error(400, prompt))
    reply = await ask()

    assert prompt in reply.error


async def test_a_retry_delay_is_kept(ask, server):
    server.answers(error(429, "slow down", retry_after="7"))
    reply = await ask()

    assert reply.message.extra["requestFailure"]["retryAfterMs"] == 7000
    assert "Wait 7 s" in reply.error


async def test_page_of_a_proxy_is_named(ask, server):
    server.answers(html_page(502, "502 Bad Gateway"))
    reply = await ask()

    assert reply.error.startswith("502 502 Bad Gateway (an HTML page, not an API response)")


async def test_redirect_is_not_followed_with_the_key(ask, server):
    server.answers(redirect("https://elsewhere.test/v1/messages"))
    reply = await ask()

    assert "redirects to 'https://elsewhere.test/v1/messages'" in reply.error
    assert len(server.requests) == 1


async def test_page_with_status_200_is_no_answer(ask, server):
    server.answers(html_page(200, "Welcome"))
    reply = await ask()

    assert "where text/event-stream was asked for" in reply.error


async def test_untrusted_certificate(provider, model, context, options):
    authority = trustme.CA()
    import ssl

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    async with FakeAnthropic(tls=tls) as server:
        events = [event async for event in provider.stream(model(server.url), context(), options)]

    assert "is not trusted" in events[-1].error.error_message


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        (None, "Connection error. nothing answers at"),
        ("http://no-such-host.invalid", "cannot be resolved"),
        ("nonsense", "must begin with http:// or https://"),
        ("", "must begin with http:// or https://"),
    ],
)
async def test_server_that_is_not_there(ask, base_url, words):
    reply = await ask(model_fields={"base_url": closed_url() if base_url is None else base_url})

    assert words.lower() in reply.error.lower()
    assert reply.types == ["error"]


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(b'"index": 0, "delta": {"type": "te', id="inside a JSON string"),
        pytest.param(b"event: content_block_st", id="inside a line"),
        pytest.param("some ä".encode()[:-1], id="inside a character"),
        pytest.param(b'"partial_json": "{\\"path', id="inside the arguments of a call"),
    ],
)
@pytest.mark.parametrize("ending", ["cut", "whole"])
async def test_stream_that_is_cut(ask, server, after, ending):
    events = message_events(text("some ", "some ä"), tool_use("toolu_1", "read", path="x"))
    answer = stream(events).cut(after)
    server.answers(answer if ending == "cut" else sse(answer.pieces))
    reply = await ask()

    expected = "terminated" if ending == "cut" else "Anthropic stream ended before message_stop"
    assert reply.error.startswith(expected)
    assert "end the prompt again" in reply.error
    assert reply.message.tool_calls == ()
    assert reply.message.text in ("", "some ", "some some ä")


async def test_stream_without_its_end(ask, server):
    server.answers(stream(SOME[:-1]))
    reply = await ask()

    assert reply.error.startswith("Anthropic stream ended before message_stop\nThe answer is not complete: send")
    assert reply.message.text == "some text"


async def test_stream_without_a_stop_reason(ask, server):
    server.answers(stream([*SOME[:-2], SOME[-1]]))
    reply = await ask()

    assert reply.error.startswith("Anthropic stream ended without a stop reason\nThe answer is not complete: send")


async def test_stream_without_anything(ask, server):
    server.answers(stream([]))
    reply = await ask()

    assert reply.error.startswith("Anthropic stream ended before message_stop\nThe answer is not complete: send")
    assert reply.message.content == ()


async def test_error_event_after_text_keeps_the_text(ask, server):
    server.answers(stream([*SOME[:5], error_event("overloaded_error", "Overloaded")]))
    reply = await ask()

    assert reply.error.startswith(
        '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011fake"}'
    )
    assert reply.message.text == "some text"
    assert reply.message.extra["requestFailure"] == {"status": 529, "requestId": "req_011fake"}


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        pytest.param([b"data: {not json\n\n"], "is not JSON", id="malformed JSON"),
        pytest.param([b"data: [1]\n\n"], "is not an event", id="no object"),
        pytest.param([SOME[2]], "block 0 began twice", id="duplicate block"),
        pytest.param([{**SOME[3], "index": 5}], "block 5, which is not open", id="delta of no block"),
        pytest.param([SOME[4], SOME[3]], "block 0, which is not open", id="delta after the end"),
        pytest.param(
            [{"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{"}}],
            "a input_json_delta is added to a text block",
            id="delta of another kind",
        ),
        pytest.param(
            [{"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t", "name": ""}}],
            "a tool call has no name",
            id="call without name",
        ),
        pytest.param([{"type": "content_block_start"}], "without index or content", id="empty start"),
    ],
)
async def test_stream_that_makes_no_sense(ask, server, broken, words):
    server.answers(stream([*SOME[:2], SOME[2], SOME[3], *broken, *SOME[5:]]))
    reply = await ask()

    assert words in reply.error
    assert "Try again" in reply.error
    assert reply.message.text == "some text"
    assert reply.message.tool_calls == ()


async def test_call_without_its_end_runs_only_if_it_is_complete(ask, server):
    open_ended = [each for each in SOME if each != {"type": "content_block_stop", "index": 1}]
    last = max(number for number, each in enumerate(open_ended) if each["type"] == "content_block_delta")
    server.answers(stream(open_ended))
    complete = await ask()
    server.answers(stream([*open_ended[:last], *open_ended[last + 1 :]]))
    cut = await ask()

    assert (complete.message.stop_reason, len(complete.message.tool_calls)) == ("toolUse", 1)
    assert cut.error.startswith("Anthropic stream ended before the end of a tool call, which is not run")
    assert (cut.message.text, cut.message.tool_calls) == ("some text", ())


async def test_text_without_its_end_is_whole_nevertheless(ask, server):
    server.answers(stream([each for each in message_events(text("a")) if each["type"] != "content_block_stop"]))
    reply = await ask()

    assert (reply.message.text, reply.message.stop_reason) == ("a", "stop")
    assert reply.types[-2:] == ["text_end", "done"]


async def test_ten_megabytes_in_one_event(ask, server):
    large = "x" * 10_000_000
    server.answers(message(text(large)))
    reply = await ask()

    assert reply.message.text == large


@pytest.mark.parametrize("answer", [silence(), message(text("some text")).stalled(b"some text")])
async def test_server_that_stops_answering_is_left_after_the_idle_time(ask, server, answer):
    server.answers(answer)
    reply = await ask(timeout_ms=2000)

    assert "2 s" in reply.error
    assert "httpIdleTimeoutMs" in reply.error
    await asyncio.wait_for(server.request.client_left.wait(), PATIENCE)


@pytest.mark.parametrize("when", ["before", "answering"])
async def test_abort_ends_the_answer_and_leaves_the_server(server, provider, model, context, when):
    controller = AbortController()
    server.answers(stream(message_events(text("some", "more"))).stalled(b'"text": "some"}}\n\n'))
    if when == "before":
        controller.abort()
    received = []
    options = StreamOptions(api_key="key-0123456789", signal=controller.signal)
    async for each in provider.stream(model(server.url), context(), options):
        received.append(each)
        if each.type == "text_delta":
            controller.abort()

    assert received[-1].reason == "aborted"
    assert received[-1].error.error_message == "Request was aborted"
    assert received[-1].error.text == ("" if when == "before" else "some")
    if when == "answering":
        await asyncio.wait_for(server.request.client_left.wait(), PATIENCE)


async def test_failing_payload_hook_is_an_answer(ask):
    async def fail(payload, model):
        raise ValueError("no such thing")

    reply = await ask(on_payload=fail)

    assert reply.error == "no such thing"


@pytest.mark.parametrize("status", [200, 401, 500])
async def test_key_never_shows(ask, server, options, status):
    echoed = f"bad key {options.api_key}"
    server.answers(error(status, echoed) if status != 200 else stream([error_event("api_error", echoed)]))
    reply = await ask()

    assert options.api_key not in reply.error
    assert options.api_key not in repr(reply.events)
    assert "[secret]" in reply.error


@pytest.mark.parametrize("place", ["model", "options"])
@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize("transport", ["http", pytest.param("sdk", marks=pytest.mark.slow)])
async def test_secret_headers_never_show(ask, server, place, status, transport):
    secret = {"x-gateway-token": "gw-0123456789", "cookie": "session=c00k1e-0123"}
    echoed = "not with gw-0123456789 and session=c00k1e-0123"
    server.answers(error(status, echoed) if status != 200 else stream([error_event("api_error", echoed)]))
    given = {"model_fields": {"headers": secret}} if place == "model" else {"headers": secret}
    reply = await ask(transport=transport, **given)

    assert "not with [secret] and [secret]" in reply.error
    assert "gw-0123" not in repr(reply.events)
    assert "c00k1e" not in repr(reply.events)


async def test_connection_serves_the_next_request_after_an_answer(ask, server):
    server.answers(message(text("one")), message(thinking("hm"), text("two")))

    assert [(await ask()).message.text, (await ask()).message.text] == ["one", "two"]


async def test_status_and_headers_are_reported(ask, server):
    reported = []

    async def note(status, headers):
        reported.append((status, headers["request-id"]))

    server.answers(message(text("ok")), error(500, "no"))
    await ask(on_response=note)
    await ask(on_response=note)

    assert reported == [(200, "req_011fake"), (500, "req_011fake")]


def test_events_are_named_as_the_api_names_them():
    assert event({"type": "ping"}) == b'event: ping\ndata: {"type": "ping"}\n\n'
