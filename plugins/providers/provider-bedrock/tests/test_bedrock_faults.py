"""What AWS refuses and how answers break: its words, and the command or variable that mends it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from pi_core.models.overflow import is_context_overflow, is_throttling
from pi_testing.fake_servers.bedrock import error, exception, frame, json_answer, message, message_events, stream, text

TOKEN = "bedrock-api-key-secret-0123456789"
SIGNED = {"api_key": "<authenticated>"}
SONNET = "anthropic.claude-sonnet-4-5-20250929-v1:0"

NO_ACCESS = "You don't have access to the model with the specified model ID."
NOT_ALLOWED = "User: arn:aws:iam::1:user/a is not authorized to perform: bedrock:InvokeModelWithResponseStream"
ON_DEMAND = (
    f"Invocation of model ID {SONNET} with on-demand throughput isn\u2019t supported. Retry your request with the ID "
    "or ARN of an inference profile that contains this model."
)

REFUSALS = {
    "no access": (
        error(403, NO_ACCESS),
        {},
        f"403 AccessDeniedException: {NO_ACCESS}\nAsk for access to model 'us.{SONNET}' in region us-east-1",
    ),
    "not allowed": (error(403, NOT_ALLOWED), {}, "permission bedrock:InvokeModelWithResponseStream"),
    "bad token": (
        error(403, "Authentication failed: Please make sure your API Key is valid.", kind="UnknownException"),
        {},
        "Check AWS_BEARER_TOKEN_BEDROCK",
    ),
    "bad key": (
        error(403, "The security token included in the request is invalid.", kind="UnrecognizedClientException"),
        SIGNED,
        "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    "expired": (
        error(403, "The security token included in the request is expired", kind="ExpiredTokenException"),
        SIGNED,
        "`aws sso login`",
    ),
    "expired bearer": (
        error(403, "Bearer Token has expired", kind="AccessDeniedException"),
        {},
        "Set AWS_BEARER_TOKEN_BEDROCK",
    ),
    "on demand": (error(400, ON_DEMAND), {"model_fields": {"id": SONNET}}, f"--model amazon-bedrock/us.{SONNET}"),
    "unknown model": (
        error(400, "The provided model identifier is invalid."),
        {"model_fields": {"id": "anthropic.nothing"}},
        "Bedrock has no model 'anthropic.nothing' in region us-east-1",
    ),
    "wrong geography": (
        error(400, "The provided model identifier is invalid."),
        {"model_fields": {"id": f"eu.{SONNET}"}},
        "not served in us-east-1: set AWS_REGION=eu-central-1",
    ),
    "not found": (error(404, "Could not resolve the foundation model"), {}, "AWS_REGION"),
    "throttled": (error(429, "Too many requests, please wait before trying again."), {}, "choose another model"),
    "not ready": (error(429, "The model is not ready for inference", kind="ModelNotReadyException"), {}, "Wait"),
    "trouble": (error(503, "Bedrock is unable to process your request."), {}, "The provider has problems"),
    "smithy kind": (
        json_answer(400, {"__type": "com.amazon.coral.service#ValidationException", "Message": "No."}),
        {},
        "400 ValidationException: No.",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_says_what_to_do(ask, server, aws, name):
    answer, fields, expected = REFUSALS[name]
    aws(key=True, region="us-east-1")
    server.answers(answer)
    reply = await ask(**fields)

    assert expected in reply.error


@pytest.mark.parametrize("profile", ["work", None])
async def test_an_expired_session_names_the_login_of_its_profile(ask, server, aws, profile):
    keys = "aws_access_key_id = AKIAFAKE\naws_secret_access_key = secret/key+of+forty+characters/0123456789\n"
    aws(config=f"[profile work]\n{keys}[default]\n{keys}", **({"AWS_PROFILE": profile} if profile else {}))
    server.answers(error(403, "The security token included in the request is expired", kind="ExpiredTokenException"))
    reply = await ask(**SIGNED)

    assert ("`aws sso login --profile work`" if profile else "`aws sso login`") in reply.error


@pytest.mark.parametrize("minutes", [-15, 15])
async def test_a_wrong_clock_is_reported(ask, server, aws, minutes):
    aws(key=True)
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)
    prompt = "Signature expired: 20260101T000000Z is now earlier than 20260101T001000Z (5 min.)"
    server.answers(error(403, prompt, kind="InvalidSignatureException", date=date))
    reply = await ask(**SIGNED)

    assert f"s {'ahead' if minutes < 0 else 'behind'} of AWS's: correct it" in reply.error


@pytest.mark.parametrize(
    "prompt",
    [
        "Input is too long for requested model.",
        "The model returned the following errors: Input is too long for requested model.",
        "The model returned the following errors: prompt is too long: 213462 tokens > 200000 maximum",
        "This model's maximum context length is 131072 tokens. Please reduce the length of the prompt",
    ],
)
async def test_an_overflow_is_one(ask, server, prompt):
    server.answers(error(400, prompt), stream([*message_events()[:1], exception("validationException", prompt)]))

    assert is_context_overflow((await ask()).message)
    assert is_context_overflow((await ask()).message)


@pytest.mark.parametrize(
    "prompt",
    ["Too many requests, please wait before trying again.", "Too many tokens, please wait before trying again."],
)
async def test_throttling_is_never_an_overflow(ask, server, prompt):
    server.answers(error(429, prompt), stream([*message_events()[:1], exception("throttlingException", prompt)]))
    for _ in range(2):
        reply = await ask()

        assert is_throttling(reply.error)
        assert not is_context_overflow(reply.message)
        assert reply.message.extra["requestFailure"]["status"] == 429


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("internalServerException", 500),
        ("modelStreamErrorException", 424),
        ("modelTimeoutException", 408),
        ("serviceUnavailableException", 503),
        ("somethingNew", None),
    ],
)
async def test_an_exception_in_the_midst_keeps_the_text(ask, server, kind, status):
    server.answers(stream([*message_events(text("some"))[:2], exception(kind, "because")]))
    reply = await ask()

    assert reply.message.text == "some"
    assert "because" in reply.error
    assert reply.message.extra["requestFailure"].get("status") == status


async def test_the_models_own_status_is_reported(ask, server):
    server.answers(stream([exception("modelStreamErrorException", "Overloaded", originalStatusCode=529)]))

    assert (await ask()).error.startswith("529 ModelStreamErrorException: Overloaded")


async def test_a_bad_checksum_is_an_error_and_keeps_the_text(ask, server):
    frames = list(message(text("some", "more")).pieces)
    frames[2] = frames[2][:-1] + bytes([frames[2][-1] ^ 1])
    server.answers(stream(frames))
    reply = await ask()

    assert reply.message.text == "some"
    assert reply.error.startswith("Bedrock stream is broken: the checksum of a frame is wrong\n")


async def test_half_a_frame_is_an_error(ask, server):
    body = message(text("some")).body
    server.answers(stream([body[:-50]]), stream([*message_events(text("some"))[:2], body[:20]]))

    assert (await ask()).message.text == "some"
    assert "ended before a frame was complete" in (await ask()).error


async def test_a_frame_that_is_not_json_is_reported(ask, server):
    server.answers(stream([frame({":event-type": "messageStart", ":message-type": "event"}, b"{no json")]))

    assert "'{no json' is not JSON" in (await ask()).error


async def test_the_token_never_shows(ask, server):
    server.answers(error(403, f"Wrong: {TOKEN}"), stream([exception("validationException", f"Wrong: {TOKEN}")]))
    for _ in range(2):
        reply = await ask()

        assert TOKEN not in repr(reply.events)
        assert "Wrong: " in reply.error


async def test_an_error_frame_is_reported(ask, server):
    headers = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": "It broke."}
    server.answers(stream([frame(headers, b"")]))

    assert (await ask()).error.startswith("InternalFailure: It broke.")
