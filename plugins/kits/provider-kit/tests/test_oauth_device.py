"""Signing in on another screen."""

from __future__ import annotations

import pytest

from pi_hookspecs import RequestFailed, UserError
from pi_provider_kit import HttpFailed
from pi_provider_kit.oauth import DeviceCode, TokenRefused, poll_device, show_code
from pi_testing.fake_ui import FakeUI

CODE = DeviceCode(
    device_code="secret-device", user_code="AB-12", verification_uri="https://a.test/device", expires_in=100
)


class Server:
    """Gives the scripted answers, one per request."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.waits = []

    async def ask(self):
        answer = self.answers.pop(0) if self.answers else "authorization_pending"
        if isinstance(answer, dict):
            return answer
        raise answer if isinstance(answer, Exception) else TokenRefused(answer, error=answer)

    async def sleep(self, seconds):
        self.waits.append(seconds)

    async def poll(self, code=CODE):
        return await poll_device(self.ask, code, provider="acme", sleep=self.sleep)


async def test_the_server_is_asked_at_its_own_pace_until_the_user_is_done():
    server = Server("authorization_pending", "authorization_pending", {"access_token": "t"})

    assert await server.poll() == {"access_token": "t"}
    assert server.waits == [5, 5, 5]


async def test_slow_down_adds_five_seconds_or_the_servers_interval():
    refusal = TokenRefused("slow_down", error="slow_down", answer={"interval": 20})
    many = TokenRefused("429 too many requests", status=429)
    server = Server("slow_down", refusal, many, {"access_token": "t"})

    await server.poll()

    assert server.waits == [5, 10, 20, 25]


async def test_a_servers_retry_delay_is_limited():
    refusal = TokenRefused("slow_down", error="slow_down", answer={"interval": 10**9})
    server = Server(refusal, "authorization_pending")

    with pytest.raises(UserError, match="has expired"):
        await server.poll()

    assert server.waits == [5, 95]


async def test_denial_ends_it_and_says_what_to_do():
    with pytest.raises(UserError, match=r"Consent was denied in the browser. Run pi auth login acme again"):
        await Server("authorization_pending", "access_denied").poll()


@pytest.mark.parametrize("answers", [["authorization_pending", "expired_token"], []], ids=["told", "counted"])
async def test_an_expired_code_ends_it_and_says_what_to_do(answers):
    server = Server(*answers)

    with pytest.raises(UserError, match=r"The code AB-12 has expired.*Run pi auth login acme again"):
        await server.poll()
    assert sum(server.waits) <= 100


async def test_a_network_or_server_that_fails_for_a_moment_is_asked_again():
    server = Server(HttpFailed("gone", kind="dropped"), TokenRefused("502", status=502), {"access_token": "t"})

    assert await server.poll() == {"access_token": "t"}


@pytest.mark.parametrize(
    "failure", [TokenRefused("no such client", error="invalid_client"), HttpFailed("bad", kind="tls")]
)
async def test_what_will_not_pass_is_not_asked_again(failure):
    server = Server(failure)

    with pytest.raises(HttpFailed) as caught:
        await server.poll()
    assert caught.value is failure
    assert len(server.waits) == 1


def test_the_user_sees_the_code_and_the_page_but_not_the_secret():
    ui = FakeUI()

    show_code(ui, "acme", CODE)

    assert "AB-12" in ui.notices[0].message
    assert "https://a.test/device" in ui.notices[0].message
    assert "secret-device" not in f"{ui.notices} {CODE!r}"


@pytest.mark.parametrize(
    "change",
    [{"user_code": ""}, {"device_code": None}, {"verification_uri": 5}, {"verification_uri": "file:///etc/passwd"}],
    ids=str,
)
def test_an_answer_without_what_is_needed_is_refused(change):
    answer = {"device_code": "d", "user_code": "u", "verification_uri": "https://a.test/", **change}

    with pytest.raises(RequestFailed, match="has no usable"):
        DeviceCode.of(answer)


def test_times_of_an_answer_are_used_within_reason():
    answer = {"device_code": "d", "user_code": "u", "verification_uri": "https://a.test/"}

    assert DeviceCode.of(answer).interval == 5
    assert DeviceCode.of({**answer, "interval": 1, "expires_in": 10**9}).expires_in == 1800
    assert DeviceCode.of({**answer, "interval": "7"}).interval == 7
    assert DeviceCode.of({**answer, "interval": "soon", "expires_in": True}).expires_in == 900
