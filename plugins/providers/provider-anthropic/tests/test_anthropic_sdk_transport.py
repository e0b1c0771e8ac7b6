"""The SDK transport feeds the same codec: same answers, same bodies, same failures."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
import struct
import sys

import pytest

from pi_hookspecs import AbortController, StreamOptions
from pi_testing.fake_servers import Answer, FakeServer
from pi_testing.fake_servers.anthropic import (
    closed_url,
    error,
    error_event,
    html_page,
    message,
    message_events,
    redacted_thinking,
    redirect,
    silence,
    stream,
    text,
    thinking,
    tool_use,
)
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # loads the vendor's SDK

pytest.importorskip("anthropic")

ANSWERS = {
    "all kinds": message(
        thinking("hm", signature="c2ln"),
        redacted_thinking("b3BhcXVl"),
        text("so ", "\N{SNOWMAN}"),
        tool_use("toolu_1", "read", path="x"),
        tool_use("toolu_2", "now"),
        usage={"cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 3}},
    ),
    "length": message(text("cut"), stop="max_tokens"),
    "refusal": message(text("I"), stop="refusal", stop_details={"type": "refusal", "explanation": "Not this."}),
    "401": error(401, "no key"),
    "404": error(404, "no model"),
    "429": error(429, "slow down", retry_after="7"),
    "529": error(529, "Overloaded"),
    "page": html_page(502, "502 Bad Gateway"),
    "redirect": redirect("https://elsewhere.test/"),
    "error event": stream([*message_events(text("some"))[:4], error_event("overloaded_error", "Overloaded")]),
    "no end": stream(message_events(text("some"))[:-1]),
    "no stop reason": stream(
        [each for each in message_events(text("some")) if each["type"] != "message_delta"],
    ),
    "duplicate": stream([*message_events(text("some"))[:3], *message_events(text("some"))[2:]]),
}


@pytest.mark.parametrize("scenario", ANSWERS)
async def test_both_transports_produce_the_same_events(ask, server, scenario):
    server.answers(ANSWERS[scenario], ANSWERS[scenario])
    default, sdk = await ask(), await ask(transport="sdk")

    assert sdk.types == default.types
    assert sdk.message.content == default.message.content
    assert sdk.message.usage == default.message.usage
    assert sdk.message.stop_reason == default.message.stop_reason
    assert sdk.message.error_message == default.message.error_message
    assert sdk.message.extra == default.message.extra
    assert [getattr(event, "delta", None) for event in sdk.events] == [
        getattr(event, "delta", None) for event in default.events
    ]


async def test_both_transports_send_the_same(ask, server, context, tool):
    server.answers(message(text("ok")), message(text("ok")))
    prompt = context(tools=(tool(),), system_prompt="Be brief.")
    for transport in (None, "sdk"):
        await ask(prompt, {"reasoning": True}, transport=transport, reasoning="low", session_id="s")
    ours, theirs = server.requests

    assert ours.json == theirs.json
    assert ours.path == theirs.path
    for header in ("x-api-key", "anthropic-version", "anthropic-beta", "content-type", "accept"):
        assert ours.headers[header] == theirs.headers[header], header
    assert "authorization" not in theirs.headers


async def test_subscription_keeps_its_identity(ask, server):
    server.answers(message(text("ok")))
    await ask(transport="sdk", api_key="sk-ant-oat01-0123456789")
    headers = server.request.headers

    assert headers["authorization"] == "Bearer sk-ant-oat01-0123456789"
    assert headers["user-agent"] == "claude-cli/2.1.322"
    assert "x-api-key" not in headers


async def test_model_s_data_may_ask_for_the_sdk(ask, server):
    server.answers(message(text("ok")))
    await ask(model_fields={"compat": {"transport": "sdk"}})

    assert "x-stainless-lang" in server.request.headers


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (message(text("some", "more")).cut(b'"text": "some"}}\n\n'), "terminated: the connection was closed"),
        (
            message(text("some", "more")).stalled(b'"text": "some"}}\n\n'),
            "terminated: the answer stalled, nothing was received for 0.5 s",
        ),
        (silence(), r"Connection error. 127.0.0.1:\d+ accepted the request but did not answer for 0.5 s"),
        (stream([b"event: message_start\ndata: {not json\n\n"]), "Anthropic stream is broken: an event is not JSON"),
        (message(text("a")).with_headers(content_encoding="gzip"), "terminated: the answer cannot be decompres"),
    ],
)
async def test_failures_of_the_wire_read_as_those_of_the_default_transport(ask, server, answer, words):
    server.answers(answer)
    reply = await ask(transport="sdk", timeout_ms=500)

    assert re.match(words, reply.error)


async def test_refused_connection(ask):
    reply = await ask(model_fields={"base_url": closed_url()}, transport="sdk")

    assert re.match(r"Connection error. Nothing answers at 127.0.0.1:\d+ \(connection refused\)", reply.error)
    assert "Start the server" in reply.error


async def test_connection_that_is_never_made_ends_in_time(ask, server):
    reply = await ask(model_fields={"base_url": server.url.replace("http:", "https:")}, transport="sdk", timeout_ms=200)

    assert reply.error.startswith("Connection error.")


@pytest.mark.parametrize("when", ["before", "answering", "waiting"])
async def test_abort(server, provider, model, context, when):
    controller = AbortController()

    def never(request):
        controller.abort()
        return silence()

    server.answers(never if when == "waiting" else message(text("some", "more")).stalled(b'"text": "some"}}\n\n'))
    if when == "before":
        controller.abort()
    options = StreamOptions(api_key="k", transport="sdk", signal=controller.signal)
    received = []
    async with asyncio.timeout(PATIENCE):
        async for each in provider.stream(model(server.url), context(), options):
            received.append(each)
            if each.type == "text_delta":
                controller.abort()

    assert received[-1].reason == "aborted"
    assert received[-1].error.error_message == "Request was aborted"
    assert received[-1].error.text == ("some" if when == "answering" else "")


async def test_hooks_see_request_and_response(ask, server):
    reported = []

    async def shorten(payload, model):
        return {**payload, "max_tokens": 5, "novel_field": {"a": 1}}

    async def note(status, headers):
        reported.append((status, headers["request-id"]))

    server.answers(message(text("ok")), error(500, "no"))
    await ask(transport="sdk", on_payload=shorten, on_response=note)
    await ask(transport="sdk", on_response=note)

    assert (server.requests[0].json["max_tokens"], server.requests[0].json["novel_field"]) == (5, {"a": 1})
    assert reported == [(200, "req_011fake"), (500, "req_011fake")]


async def test_key_never_shows(ask, server, options):
    server.answers(error(401, f"bad key {options.api_key}"))
    reply = await ask(transport="sdk")

    assert options.api_key not in reply.error


async def test_missing_sdk_says_what_to_install(ask, monkeypatch):
    monkeypatch.setitem(sys.modules, "anthropic", None)
    reply = await ask(transport="sdk")

    assert "needs the package 'anthropic'" in reply.error
    assert "pluggypi-provider-anthropic[sdk]" in reply.error


async def test_unknown_client_is_named(ask):
    reply = await ask(model_fields={"compat": {"sdkClient": "moon"}}, transport="sdk")

    assert reply.error == "sdkClient 'moon' is unknown, use one of anthropic, bedrock, foundry, vertex"


class Cloud(FakeServer):
    """A cloud that serves the API at paths of its own and gives scripted answers."""


@pytest.fixture
async def cloud():
    async with Cloud() as cloud:
        yield cloud


async def events_of(provider, asked, context, key):
    return [event async for event in provider.stream(asked, context(), StreamOptions(api_key=key))]


async def test_foundry_is_asked_with_key_or_entra_token(cloud, provider, model, context):
    cloud.answers(message(text("one")), message(text("two")))
    asked = model(f"{cloud.url}/anthropic", compat={"transport": "sdk", "sdkClient": "foundry"})
    first = await events_of(provider, asked, context, "key-0123")
    second = await events_of(provider, asked, context, "eyJ0.body.sign")

    assert [events[-1].message.text for events in (first, second)] == ["one", "two"]
    assert [request.path for request in cloud.requests] == ["/anthropic/v1/messages"] * 2
    assert cloud.requests[0].headers["x-api-key"] == "key-0123"
    assert cloud.requests[1].headers["authorization"] == "Bearer eyJ0.body.sign"


async def test_vertex_is_asked_with_a_token_project_and_region(cloud, provider, model, context, monkeypatch):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west1")
    cloud.answers(message(text("ok")))
    asked = model(f"{cloud.url}/v1", compat={"transport": "sdk", "sdkClient": "vertex"})
    events = await events_of(provider, asked, context, "ya29.token")

    assert events[-1].message.text == "ok"
    assert cloud.request.path == (
        "/v1/projects/p1/locations/europe-west1/publishers/anthropic/models/claude-fake:streamRawPredict"
    )
    assert cloud.request.headers["authorization"] == "Bearer ya29.token"
    assert cloud.request.json["anthropic_version"] == "vertex-2023-10-16"
    assert "model" not in cloud.request.json


def aws_event(data):
    """Return an event as Bedrock frames it: lengths, headers, base64 of the API's JSON, checksums."""
    payload = json.dumps({"bytes": base64.b64encode(json.dumps(data).encode()).decode()}).encode()
    headers = b""
    for name, value in ((":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")):
        headers += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    prelude += struct.pack(">I", binascii.crc32(prelude))
    whole = prelude + headers + payload
    return whole + struct.pack(">I", binascii.crc32(whole))


async def test_bedrock_is_asked_through_its_client(cloud, provider, model, context, monkeypatch):
    pytest.importorskip("botocore")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    pieces = tuple(aws_event(each) for each in message_events(thinking("hm"), text("ok")))
    cloud.answers(Answer(headers={"content-type": "application/vnd.amazon.eventstream"}, pieces=pieces))
    asked = model(cloud.url, id="anthropic.claude-fake", compat={"transport": "sdk", "sdkClient": "bedrock"})
    events = await events_of(provider, asked, context, "bedrock-key")

    assert events[-1].message.text == "ok"
    assert cloud.request.path == "/model/anthropic.claude-fake/invoke-with-response-stream"
    assert cloud.request.headers["authorization"] == "Bearer bedrock-key"
    assert cloud.request.json["anthropic_version"] == "bedrock-2023-05-31"


def test_region_of_amazon_s_own_address_counts_unless_the_environment_names_one(model, monkeypatch):
    from pi_provider_anthropic.sdk import _bedrock

    asked = model("https://bedrock-runtime.eu-central-1.amazonaws.com")
    plain = _bedrock(asked, StreamOptions())
    monkeypatch.setenv("AWS_REGION", "us-west-2")

    assert plain == ("AsyncAnthropicBedrock", {"aws_region": "eu-central-1"})
    assert _bedrock(asked, StreamOptions())[1] == {"aws_region": "us-west-2"}


def test_region_of_google_s_own_address_counts_and_its_marker_is_no_token(model):
    from pi_provider_anthropic.sdk import _vertex

    asked = model("https://us-east5-aiplatform.googleapis.com")

    assert _vertex(asked, StreamOptions(api_key="<authenticated>"))[1] == {"region": "us-east5"}
