"""How long a server asks to wait, in every form that servers use."""

from __future__ import annotations

from pi_provider_kit import retry_after_ms
from pi_testing import for_each

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def wait(headers, body="", status=429):
    return retry_after_ms(headers, body, status, NOW)


@for_each(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7000),
        ({"retry-after": "0.5"}, 500),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30_000),
        ({"retry-after": "Wed, 31 Dec 2025 00:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1500),
        ({"x-ratelimit-reset": "1767225620"}, 20_000),
        ({"x-ratelimit-reset": "1767225620000"}, 20_000),
        ({"x-ratelimit-reset": "12"}, 12_000),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360_000),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "5",
            },
            1000,
        ),
        (
            {
                "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:45Z",
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-01-01T01:00:00Z",
                "anthropic-ratelimit-requests-remaining": "3",
            },
            45_000,
        ),
        ({"x-ratelimit-reset": "later"}, None),
        ({"retry-after": "3", "x-ratelimit-reset": "12"}, 3000),
    ],
)
def test_headers(headers, expected):
    assert wait(headers) == expected


@for_each(
    ("body", "expected"),
    [
        ("Your quota will reset after 18h31m10s.", 66_670_000),
        ("Please retry in 12.5s.", 12_500),
        ('{"retryDelay": "34s"}', 34_000),
        ('{"retryDelay":"34.074824224s"}', 34_075),
        ("Please try again in 456ms.", 456),
        ("Please try again in 1m2.5s. Visit ...", 62_500),
        ("retry after 20 seconds", 20_000),
        ("try again in a moment", None),
        ("reset after all", None),
    ],
)
def test_words(body, expected):
    assert wait({}, body) == expected


def test_a_limit_that_resets_is_no_reason_to_wait_after_another_error():
    assert wait({"x-ratelimit-reset": "12"}, status=400) is None
