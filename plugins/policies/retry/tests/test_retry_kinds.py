"""Which kind of failure an error text reports."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import AssistantMessage
from pi_retry.kinds import WORTH_WAITING, kind_of, server_hint_ms
from pi_testing import for_each


def failed(text: str, **failure: object) -> AssistantMessage:
    extra = {"requestFailure": failure} if failure else {}
    return AssistantMessage(
        api="scripted", provider="scripted", model="m", stop_reason="error", error_message=text, extra=extra
    )


@for_each(
    ("text", "kind"),
    [
        ('529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "overload"),
        ("503 The model is overloaded. Please try again later.", "overload"),
        ("429 rate limit reached for requests", "throttle"),
        ("429: Too Many Requests", "throttle"),
        ("500 internal server error", "transient"),
        ("502 Bad Gateway", "transient"),
        ("520 status code (no body)", "transient"),
        ("524: A timeout occurred", "transient"),
        ("Connection error. Nothing answers at localhost:1 (connection refused)", "transient"),
        ("terminated: the connection was closed before the answer was complete", "transient"),
        ("Anthropic stream ended before message_stop", "transient"),
        ("Stream ended without finish_reason", "transient"),
        ("OpenAI Responses stream ended before a terminal response event", "transient"),
        ("fetch failed", "transient"),
        ("websocket closed 1006", "transient"),
        ("ResourceExhausted: try later", "transient"),
        ("An error occurred. Please retry your request.", "transient"),
        ('429 {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}', "quota"),
        ("402 Payment Required", "quota"),
        ("Your credit balance is too low to access the API", "quota"),
        ("You have hit your ChatGPT usage limit (plus plan). Try again in ~120 min.", "quota"),
        ("401 invalid x-api-key", "auth"),
        ("403 permission denied for model", "auth"),
        ("400 prompt is too long: 250000 tokens > 200000 maximum", "overflow"),
        ("413 Request Entity Too Large", "overflow"),
        ("400 messages.0: unexpected field", "other"),
        ("The model refused to answer", "other"),
        ("The answer was cut off because it is larger than 64 MB", "other"),
        ("terminated: the answer made no progress for 600 s, only pings or incomplete events", "transient"),
        ("", "other"),
    ],
)
def test_a_failure_is_of_its_kind(text: str, kind: str) -> None:
    assert kind_of(failed(text)) == kind


def test_an_overflow_text_inside_a_429_is_throttling() -> None:
    assert kind_of(failed("429 rate limit: too many tokens per minute, prompt is too long")) == "throttle"


def test_a_quota_that_is_refilled_in_seconds_is_throttling() -> None:
    text = "429 Quota exceeded for requests per minute. Please retry in 12.5s."

    assert kind_of(failed(text)) == "throttle"


def test_a_stored_status_counts_where_the_text_is_unspecific() -> None:
    assert kind_of(failed("the backend is unhappy", status=500)) == "transient"


@for_each("number", ["5000 tokens", "1.500 s", "port 8500", "$429.50", "a5031b"])
def test_a_number_that_only_looks_like_a_status_is_none(number: str) -> None:
    assert kind_of(failed(f"the request was wrong: {number}")) == "other"


@for_each(
    ("text", "milliseconds"),
    [
        ("Please retry in 12.5s.", 12_500),
        ("retry after 7", 7_000),
        ("Your limit resets in 1h 30m", 5_400_000),
        ("try again in 250ms", 250),
        ("try again in 2 minutes", 120_000),
        ("retry soon", None),
    ],
)
def test_a_wait_is_read_from_the_text(text: str, milliseconds: int | None) -> None:
    assert server_hint_ms(failed(text)) == milliseconds


def test_what_the_provider_kept_of_the_wait_counts_before_the_text() -> None:
    assert server_hint_ms(failed("retry after 7", retryAfterMs=1200)) == 1200


@given(st.text(max_size=300))
def test_any_text_has_a_kind(text: str) -> None:
    message = failed(text)

    assert kind_of(message) in WORTH_WAITING | {"quota", "auth", "overflow", "other"}
    assert server_hint_ms(message) is None or server_hint_ms(message) >= 0
