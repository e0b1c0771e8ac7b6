"""Requests to an authorization server, and what becomes of its answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import RequestFailed, now_ms
from pi_provider_kit import HttpFailed
from pi_provider_kit.oauth import TokenRefused, credential_of, token_request, tokens
from pi_testing import for_each
from pi_testing.fake_servers import Answer, closed_url, html_page, json_answer, redirect, silence
from pi_testing.fake_servers.oauth import FakeAuthorization

FIELDS = {"grant_type": "refresh_token", "client_id": "client", "refresh_token": "secret-refresh-token"}


@pytest.fixture
async def server():
    async with FakeAuthorization() as server:
        yield server


async def refresh(http, server, **options):
    return await token_request(http, f"{server.url}/token", FIELDS, **options)


@pytest.mark.parametrize(("form", "kind"), [(True, "application/x-www-form-urlencoded"), (False, "application/json")])
async def test_fields_are_sent_as_the_server_wants_them(http, server, form, kind):
    server.refresh_tokens.add("secret-refresh-token")

    answer = await refresh(http, server, form=form, headers={"x-more": "1"})

    assert answer["access_token"] == "fake-access-1"
    assert server.request.headers["content-type"] == kind
    assert server.request.headers["x-more"] == "1"


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (
            json_answer(400, {"error": "invalid_grant", "error_description": "Gone."}),
            "invalid_grant",
            "400 invalid_grant: Gone",
        ),
        (json_answer(401, {"error": {"type": "auth", "message": "No"}}), "auth", "401 auth: No"),
        (json_answer(200, {"error": "slow_down", "interval": 9}), "slow_down", "slow_down"),
        (json_answer(404, {"message": "Not Found"}), "", "404 Not Found"),
        (json_answer(400, ["odd"]), "", '400 ["odd"]'),
        (html_page(502, "Bad gateway"), "", "502 Bad gateway (an HTML page, not an API response)"),
    ],
    ids=["oauth", "api", "with-200", "github", "no-object", "page"],
)
async def test_a_refusal_is_reported_in_the_servers_words(http, server, answer, error, message):
    server.answers(answer)

    with pytest.raises(TokenRefused) as caught:
        await refresh(http, server)

    assert (caught.value.error, str(caught.value)) == (error, message)


async def test_what_was_sent_is_in_no_message_even_where_the_server_repeats_it(http, server):
    with pytest.raises(TokenRefused) as caught:
        await refresh(http, server)

    output = f"{caught.value} {caught.value!r} {caught.value.body}"
    assert "Refresh token not found or invalid: [secret]" in output
    assert "secret-refresh-token" not in output
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("ahead", "message"), [(7200, "120 minutes behind"), (-7200, "120 minutes ahead of"), (60, "")]
)
async def test_a_large_clock_difference_is_reported_with_a_refusal(http, server, ahead, message):
    server.clock_ahead = ahead

    with pytest.raises(TokenRefused) as caught:
        await refresh(http, server)

    assert message in str(caught.value)
    assert ("clock" in str(caught.value)) is bool(message)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (json_answer(200, ["odd"]), "not a JSON object"),
        (html_page(200, "Sign in to the network"), "no sign-in page of the network"),
        (Answer(headers={"content-type": "text/plain"}, pieces=(b"access_token=gho_secret",)), "not a JSON object"),
        (redirect("https://elsewhere.test/"), "redirects to"),
    ],
    ids=["list", "captive-portal", "form", "redirect"],
)
async def test_an_answer_of_another_kind_is_reported_as_such(http, server, answer, message):
    server.answers(answer)

    with pytest.raises(HttpFailed, match=message) as caught:
        await refresh(http, server)
    assert "gho_secret" not in f"{caught.value} {caught.value.body}"


async def test_an_absent_or_silent_server_is_not_waited_for(http, server, monkeypatch):
    monkeypatch.setattr(tokens, "_SECONDS", 0.05)
    server.answers(silence())

    with pytest.raises(HttpFailed, match=r"within 0.05 s|for 0.05 s"):
        await refresh(http, server)
    with pytest.raises(HttpFailed, match="connection refused"):
        await token_request(http, f"{closed_url()}/token", FIELDS)


def test_a_credential_expires_five_minutes_before_its_token():
    before = now_ms()
    credential = credential_of({"access_token": "a", "refresh_token": "r", "expires_in": 3600})

    assert {**credential, "expires": 0} == {"type": "oauth", "access": "a", "refresh": "r", "expires": 0}
    assert before + 3_300_000 <= credential["expires"] <= now_ms() + 3_300_000


@for_each("seconds", [float("inf"), float("nan"), 1e300, 10**400, "9" * 5000])
def test_a_time_that_is_nonsense_is_refused(seconds):
    with pytest.raises(RequestFailed, match="no usable 'expires_in'"):
        credential_of({"access_token": "a", "expires_in": seconds})


def test_without_a_new_refresh_token_the_old_one_stays():
    assert "refresh" not in credential_of({"access_token": "a", "expires_in": "3600"})


@given(
    st.dictionaries(
        st.sampled_from(["access_token", "refresh_token", "expires_in", "more"]),
        st.none() | st.booleans() | st.integers(-10, 10**6) | st.text() | st.lists(st.integers()),
    )
)
def test_an_answer_is_a_credential_or_refused(answer):
    access, seconds = answer.get("access_token"), answer.get("expires_in")
    usable = type(seconds) is int or (isinstance(seconds, str) and seconds.isdecimal() and len(seconds) <= 12)
    try:
        credential = credential_of(answer)
    except RequestFailed:
        credential = None

    assert (credential is not None) is (isinstance(access, str) and access != "" and usable)
    assert credential is None or (credential["access"] == access and isinstance(credential["expires"], int))
