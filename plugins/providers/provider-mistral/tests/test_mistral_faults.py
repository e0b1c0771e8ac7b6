"""Whatever goes wrong on the way, the answer ends with what to do."""

from __future__ import annotations

import pytest

from pi_core.models.overflow import is_context_overflow
from pi_testing.fake_servers.mistral import (
    call,
    chunks,
    closed_url,
    completion,
    error,
    error_body,
    html_page,
    redirect,
    silence,
    text,
)

KEY = "mistral-secret-0123456789"


@pytest.fixture
def failure(server, make_model, chat, reply):
    """The message that the answer to a request becomes."""

    async def message(*answers, **options):
        server.answers(*answers)
        return await reply(make_model(base_url=server.url), chat.user("Hi"), **{"api_key": KEY, **options})

    return message


STATUSES = {
    401: "The key for provider 'mistral' was not accepted",
    403: "may not use model 'mistral-fake'",
    404: "has no model 'mistral-fake'",
    413: "Compact the conversation",
    429: "or choose another model",
    500: "The provider has problems",
    503: "The provider has problems",
}


@pytest.mark.parametrize("status", STATUSES)
async def test_a_status_is_reported_with_the_apis_message_and_what_to_do(failure, status):
    message = await failure(error(status, "Because", code="1300"))

    assert message.error_message.startswith(f'Mistral API error ({status}): {{"object":"error","message":"Because"')
    assert STATUSES[status] in message.error_message
    assert message.extra["requestFailure"]["status"] == status
    assert message.extra["requestFailure"]["requestId"] == "0195fake"


async def test_overflow_is_recognised(failure):
    words = "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length"
    message = await failure(error(400, words, code="3051"))

    assert words in message.error_message
    assert is_context_overflow(message)


async def test_the_servers_retry_delay_is_kept(failure):
    message = await failure(error(429, "Rate limit exceeded", retry_after="7"))

    assert message.extra["requestFailure"]["retryAfterMs"] == 7000


CALLED = {
    "role": "assistant",
    "tool_calls": [{"id": "aB3dE6gH9", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}

REFUSED = {
    "an unknown field": ({"store": False}, "(422)", "Extra inputs are not permitted: ['store']"),
    "an unknown effort": ({"reasoning_effort": "utmost"}, "(422)", "Invalid reasoning_effort"),
    "an unknown mode": ({"prompt_mode": "think"}, "(422)", "Invalid prompt_mode"),
    "an unknown choice": ({"tool_choice": {"type": "any"}}, "(422)", "Invalid tool_choice"),
    "no messages": ({"messages": []}, "(422)", "Field required"),
    "an unknown role": ({"messages": [{"role": "developer", "content": "x"}]}, "(422)", "Unknown role: 'developer'"),
    "a field of another role": ({"messages": [{"role": "user", "content": "x", "name": "y"}]}, "(422)", "['name']"),
    "an unknown part": ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "(422)", "Invalid part"),
    "a long id": (
        {"messages": [{**CALLED, "tool_calls": [{"id": "call_1"}]}]},
        "(422)",
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
    ),
    "a call without a result": (
        {"messages": [CALLED, {"role": "user", "content": "x"}]},
        "(400)",
        "Not the same number",
    ),
    "a result without a call": (
        {"messages": [{"role": "tool", "content": "x", "tool_call_id": "aB3dE6gH9"}]},
        "(400)",
        "Unexpected tool call id aB3dE6gH9",
    ),
    "one id for two calls": (
        {"messages": [{**CALLED, "tool_calls": CALLED["tool_calls"] * 2}]},
        "(400)",
        "Duplicate tool call id",
    ),
    "an answer of nothing": ({"messages": [{"role": "assistant"}]}, "(400)", "must have either content or tool_calls"),
    "an answer last": (
        {"messages": [{"role": "assistant", "content": "x"}]},
        "(400)",
        "Expected last role User or Tool",
    ),
    "a late prompt": (
        {"messages": [{"role": "user", "content": "x"}, {"role": "system", "content": "x"}]},
        "(400)",
        "Unexpected role 'system'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_request_that_the_api_refuses_is_reported(failure, case):
    changed, status, words = REFUSED[case]

    async def change(payload, _):
        return {**payload, **changed}

    message = await failure(on_payload=change)

    assert message.error_message.startswith(f"Mistral API error {status}: ")
    assert words in message.error_message


async def test_without_a_key_the_api_says_so(failure):
    message = await failure(api_key=None)

    assert message.error_message.startswith('Mistral API error (401): {"detail":"Unauthorized"}')


async def test_a_proxys_html_page_is_reported_by_its_title(failure):
    message = await failure(html_page(502, "Bad Gateway"))

    assert "Bad Gateway" in message.error_message
    assert "<html" not in message.error_message


async def test_a_redirect_is_not_followed(failure):
    message = await failure(redirect("http://127.0.0.1:1/elsewhere"))

    assert "The server redirects to 'http://127.0.0.1:1/elsewhere'" in message.error_message


@pytest.mark.parametrize(
    "answer",
    [error(401, f"Bad key {KEY}"), chunks([error_body(401, f"Bad key {KEY}")])],
    ids=["before the answer", "in its midst"],
)
async def test_the_key_is_never_shown(failure, answer):
    message = await failure(answer)

    assert KEY not in message.error_message
    assert "[secret]" in message.error_message


async def test_nothing_answers(make_model, chat, reply):
    message = await reply(make_model(base_url=closed_url()), chat.user("Hi"))

    assert message.error_message.startswith("Connection error.")
    assert "check the base URL" in message.error_message


async def test_a_server_that_never_answers_is_not_waited_for_longer_than_allowed(failure):
    message = await failure(silence(), timeout_ms=150)

    assert message.error_message.startswith("Connection error.")


async def test_a_stalled_stream_ends_with_the_text_so_far(failure):
    message = await failure(completion(text("Hel", "lo")).stalled(after=b'"lo"'), timeout_ms=2000)

    assert message.error_message.startswith("terminated: the answer stalled")
    assert message.text == "Hel"


@pytest.mark.parametrize("after", [b'"Hel"', b"\xc3", b'"arguments"', b"\n\n"])
async def test_a_connection_that_breaks_keeps_the_text_and_runs_no_half_call(failure, after):
    message = await failure(completion(text("Hel", "l\u00f6"), call("aB3dE6gH9", "read", path="a")).cut(after=after))

    assert message.stop_reason == "error"
    assert message.error_message.startswith("terminated")
    assert message.tool_calls == ()
    assert message.text in ("", "Hel", "Hell\u00f6")


async def test_ten_megabytes_in_one_event(failure):
    big = "x" * 10_000_000
    message = await failure(completion(text(big)))

    assert message.text == big
