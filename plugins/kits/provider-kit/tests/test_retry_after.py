"""How long a server asks to wait, in every form that servers use."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import retry_after_ms
from pi_testing import for_each

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z

SUBSCRIPTION = {
    "anthropic-ratelimit-unified-reset": str(int(NOW) + 60),
    "anthropic-ratelimit-unified-5h-reset": str(int(NOW) + 7200),
    "anthropic-ratelimit-unified-7d-reset": str(int(NOW) + 400_000),
}


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
        ({"retry-after": str(int(NOW) + 3)}, 3000),
        ({"retry-after": str((int(NOW) + 3) * 1000)}, 3000),
        ({"retry-after-ms": str((int(NOW) + 3) * 1000)}, 3000),
        ({"retry-after": "2026-01-01T00:00:30Z"}, 30_000),
        ({"retry-after": "34s"}, 34_000),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "99999999"}, None),
        ({"retry-after": "99999999", "x-ratelimit-reset": "12", "x-ratelimit-remaining": "0"}, 12_000),
        ({"x-ratelimit-reset": "1767225620", "x-ratelimit-remaining": "0"}, 20_000),
        ({"x-ratelimit-reset": "1767225620000", "x-ratelimit-remaining": "0"}, 20_000),
        ({"x-ratelimit-reset": "12", "x-ratelimit-remaining": "0"}, 12_000),
        ({"x-ratelimit-reset": "12"}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, None),
        ({"x-ratelimit-reset-requests-day": "33000"}, None),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "30"}, 30_000),
        ({"ratelimit-reset": "30"}, None),
        ({"ratelimit": '"default";r=0;t=30'}, 30_000),
        ({"ratelimit": '"minute";r=0;t=30, "hour";r=9;t=1800'}, 30_000),
        ({"ratelimit": '"minute";r=1;t=30'}, None),
        ({"ratelimit": '"minute";t=30'}, None),
        ({"ratelimit": "limit=10, remaining=0, reset=30"}, 30_000),
        ({"ratelimit": "limit=10, remaining=4, reset=30"}, None),
        (SUBSCRIPTION | {"anthropic-ratelimit-unified-status": "allowed"}, None),
        (SUBSCRIPTION | {"anthropic-ratelimit-unified-status": "allowed_warning"}, None),
        (SUBSCRIPTION | {"anthropic-ratelimit-unified-status": "rejected"}, 60_000),
        (SUBSCRIPTION | {"anthropic-ratelimit-unified-5h-status": "rejected"}, 7_200_000),
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
        ({"retry-after": "3", "x-ratelimit-reset": "12", "x-ratelimit-remaining": "0"}, 3000),
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
    assert wait({"x-ratelimit-reset": "12", "x-ratelimit-remaining": "0"}, status=400) is None


def test_an_overload_with_the_limits_of_a_subscription_asks_for_no_delay():
    assert wait(SUBSCRIPTION | {"anthropic-ratelimit-unified-status": "allowed"}, status=529) is None


NAMES = st.sampled_from(
    "retry-after retry-after-ms x-ratelimit-reset x-ratelimit-remaining ratelimit ratelimit-reset ratelimit-remaining"
    " anthropic-ratelimit-unified-reset anthropic-ratelimit-unified-status".split()
)
VALUES = st.one_of(
    st.integers(-5, 10**15).map(str), st.sampled_from(["0", "rejected", "allowed", "6m0s", "now"]), st.text()
)


@given(st.dictionaries(NAMES, VALUES), st.text(max_size=40), st.sampled_from([400, 429, 503, 529]))
def test_no_hint_is_negative_or_longer_than_a_month(headers, body, status):
    hint = wait(headers, body, status)

    assert hint is None or 0 <= hint <= 31 * 86_400_000
