"""The API's own words stay first and unchanged; the advice behind them changes nothing for the retry rules."""

from __future__ import annotations

import json
import re

import pytest
from attrs import evolve

from pi_core.models.overflow import is_context_overflow, is_throttling
from pi_hookspecs import RequestFailed, StreamOptions
from pi_provider_kit import AnswerBuilder, HttpFailed, answer_failure, explain, explained
from pi_provider_kit.explaining import _BY_KIND, _BY_STATUS

STATUSES = (400, 401, 402, 403, 404, 407, 408, 413, 429, 500, 502, 503, 504, 529)
KINDS = sorted({*_BY_KIND, "event", "status"})

# Words of retryable, never retryable and overflow errors, as far as a sentence might hold them.
PATTERNS = re.compile(
    r"overloaded|rate.?limit|too many requests|429|50[0-4]|service.?unavailable|server error|internal error"
    r"|connection.?error|connection.?refused|other side closed|fetch failed|upstream.?connect|reset before headers"
    r"|terminated|retry delay|quota|billing|usage limit|please retry|capacity|busy|timeout|socket|websocket"
    r"|too long|context window|context length|context size|too many tokens|token limit|\(no body\)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("status", STATUSES)
def test_advice_on_a_status_keeps_out_of_the_patterns(model, status):
    for wait in (None, 7200):
        advice = explain(RequestFailed("words", status=status, retry_after_ms=wait), model, 1000)

        assert not PATTERNS.search(advice), advice


@pytest.mark.parametrize("kind", KINDS)
def test_advice_on_a_kind_keeps_out_of_the_patterns(model, kind):
    advice = explain(HttpFailed("words", kind=kind), model)
    if kind in ("timeout", "stalled", "stuck"):  # those are tried again anyway
        advice = advice.replace("httpIdleTimeoutMs", "").replace("httpProgressTimeoutMs", "")

    assert not PATTERNS.search(advice), advice


@pytest.mark.parametrize("status", [*STATUSES, 409, 418, 422, 520, 599])
def test_every_status_that_is_an_error_has_advice(model, status):
    assert explain(RequestFailed("words", status=status), model)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "status"])
def test_every_kind_has_advice(model, kind):
    assert explain(HttpFailed("words", kind=kind, status=200), model)
    assert explain(HttpFailed("words", kind=kind), model)


def test_an_error_of_ours_speaks_for_itself(model):
    assert explained(RequestFailed("Say where Azure is."), model) == "Say where Azure is."


def test_no_template_is_left_unfilled(model):
    for template in (*_BY_STATUS.values(), *_BY_KIND.values()):
        assert set(re.findall(r"{(\w+)", template)) <= {"provider", "model", "base_url", "wait", "wait_lower"}


def test_the_raw_text_comes_first(model):
    failure = RequestFailed('429 {"error":"slow down"}', status=429, retry_after_ms=6500)

    assert explained(failure, model) == ('429 {"error":"slow down"}\nWait 7 s, or choose another model.')
    assert explained(RequestFailed("503 down", status=503), model) == (
        "503 down\nThe provider has problems: wait a moment, or choose another model."
    )


def test_the_raw_text_is_one_line_that_programs_can_parse(model):
    body = {"error": {"message": "First.\nSecond.", "details": ["x" * 20_000]}}
    failure = answer_failure(429, {}, json.dumps(body, indent=2).encode())
    first, advice = explained(failure, model).split("\n")
    in_words = explained(HttpFailed("one\r\ntwo", kind="event"), model)

    assert (first[:4], json.loads(first[4:])) == ("429 ", body)
    assert advice == "Wait a moment, or choose another model."
    assert in_words.startswith("one two\n")


def test_a_retry_delay_beyond_the_users_limit_is_reported(model):
    failure = RequestFailed("429 slow down", status=429, retry_after_ms=700_000)
    message = AnswerBuilder(model).end_for(failure, StreamOptions(max_retry_delay_ms=60_000)).error.error_message

    assert message == (
        "429 slow down\nWait 700 s, which is longer than pi waits by itself (retry.provider.maxRetryDelayMs), "
        "or choose another model."
    )
    assert explain(failure, model, 700_000) == explain(failure, model, 0) == explain(failure, model)


@pytest.mark.parametrize(
    ("words", "too_much"),
    [
        ("400 prompt is too long: 213462 tokens > 200000 maximum", True),
        ("400: This model's maximum context length is 8192 tokens.", True),
        ("422 the image exceeds 5 MB", False),
        ("400 messages.0: unexpected field", False),
        ("400 field 'tokenizer' is unknown", False),
    ],
)
def test_a_request_that_is_too_large_is_to_be_compacted_another_mended(model, words, too_much):
    advice = explain(RequestFailed(words, status=int(words[:3])), model)

    assert ("Compact the conversation" in advice) is too_much
    assert ("correct what the message names" in advice or "fewer or smaller images" in advice) is not too_much


@pytest.mark.parametrize(
    ("api", "base_url", "hint"),
    [
        ("openai-completions", "http://localhost:8080", True),
        ("openai-responses", "http://localhost:8080/", True),
        ("openai-completions", "http://localhost:8080/v1", False),
        ("anthropic-messages", "http://localhost:8080", False),
        ("openai-completions", "http://[::1/", False),
    ],
)
def test_a_base_url_without_a_path_may_lack_the_version(model, api, base_url, hint):
    advice = explain(RequestFailed("404 Not Found", status=404), evolve(model, api=api, base_url=base_url))

    assert (".../v1" in advice) is hint


@pytest.mark.parametrize(
    ("status", "words", "advice"),
    [
        (400, "Your credit balance is too low to access the API", "has to be topped up"),
        (429, "insufficient_quota: You exceeded your current quota", "has to be topped up"),
        (400, "API key not valid. Please pass a valid API key.", "was not accepted"),
        (429, "Rate limit reached", "Wait a moment"),
        (200, 'The server sent no events: {"error":{"message":"Insufficient balance"}}', "has to be topped up"),
        (200, 'The server sent no events: {"error":{"message":"Invalid API key"}}', "was not accepted"),
        (200, 'The server sent no events: {"error":{"code":"content_filter","message":"Modify it."}}', "Rephrase"),
        (400, "The requested model 'm9' does not exist.", "--list-models"),
        (400, '{"error":{"message":"Invalid model: m9","type":"invalid_model"}}', "--list-models"),
        (400, "The provided model identifier is invalid.", "--list-models"),
        (400, "m9 is not a valid model ID", "--list-models"),
        (400, "Unsupported parameter: 'stop' is not supported with this model.", "correct what the message names"),
        (400, "This model does not support effort level 'xhigh'.", "correct what the message names"),
        (401, "Access denied due to invalid subscription key or wrong API endpoint.", "was not accepted"),
        (400, "Too many strict tools (21). The maximum number of strict tools supported is 20.", "supportsStrictTools"),
        (400, "The compiled grammar is too large.", "supportsStrictTools"),
        (500, "tools param requires --jinja flag", "was not started for this"),
        (500, "image input is not supported - you may need to provide the mmproj", "was not started for this"),
        (400, "messages.0.content.1.image: image exceeds 5 MB maximum", "fewer or smaller images"),
        (400, "max_tokens: 64000 > 32000, the maximum number of output tokens", "correct what the message names"),
    ],
)
def test_the_hosts_message_counts_more_than_its_status(model, status, words, advice):
    assert advice in explain(RequestFailed(words, status=status), model)


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_an_html_page_in_place_of_a_refusal_blames_neither_key_nor_model(model, status):
    page = answer_failure(status, {}, b"<html><title>Blocked</title></html>")
    plain = answer_failure(status, {}, b'{"error":"no"}')

    assert explain(page, model) == (
        "Check the base URL of provider 'acme', 'https://api.acme.test/v1', and what is between pi and it."
    )
    assert explain(plain, model) != explain(page, model)


def test_a_host_that_says_when_to_come_back_need_not_be_paid_first(model):
    failure = RequestFailed("429 check your plan and billing details", status=429, retry_after_ms=7000)

    assert explain(failure, model).startswith("Wait 7 s")


def test_an_answer_that_broke_off_needs_no_advice_on_its_status(model):
    assert explained(HttpFailed("terminated: cut", kind="dropped", status=200), model) == (
        "terminated: cut\nSend the prompt again; if that does not help, check what is between pi and "
        "'https://api.acme.test/v1'."
    )


def test_a_password_in_the_base_url_is_not_repeated(model):
    model = evolve(model, base_url="https://me:pass-0123@api.acme.test/v1?key=k-0123")
    for kind, status in (("dropped", None), ("unexpected", 200), ("status", 404)):
        advice = explain(HttpFailed("words", kind=kind, status=status), model)

        assert "'https://api.acme.test/v1'" in advice


@pytest.mark.parametrize(
    ("words", "status", "overflows"),
    [
        ("400 prompt is too long: 213462 tokens > 200000 maximum", 400, True),
        ("413 Request exceeds the maximum size", 413, True),
        ("400 status code (no body)", 400, False),
        *((f"{status} words", status, False) for status in STATUSES if status != 413),
    ],
)
def test_advice_changes_nothing_for_overflow_detection(model, words, status, overflows):
    for failure in (RequestFailed(words, status=status), HttpFailed(words, kind="event", status=status)):
        message = AnswerBuilder(model).end_for(failure).error

        assert is_context_overflow(message) is overflows
        assert is_throttling(message.error_message) is (status == 429)


@pytest.mark.parametrize("kind", KINDS)
def test_advice_on_a_kind_changes_nothing_for_overflow_detection(model, kind):
    message = AnswerBuilder(model).end_for(HttpFailed("words", kind=kind)).error

    assert not is_context_overflow(message)
    assert not is_throttling(message.error_message)


def test_what_is_secret_is_taken_out_of_every_failure(model):
    model = evolve(model, headers={"X-Gateway-Token": "gw-abcdefgh", "x-team": "the-platform-team"})
    options = StreamOptions(api_key="sk-0123456789", headers={"Authorization": "Bearer hdr-0123456789\n"})
    server_text = "not with sk-0123456789, gw-abcdefgh or hdr-0123456789, the-platform-team"
    for problem in (ValueError(server_text), RequestFailed(server_text), HttpFailed(server_text, kind="event")):
        message = AnswerBuilder(model).end_for(problem, options).error.error_message

        assert message.startswith("not with [secret], [secret] or [secret], the-platform-team")
