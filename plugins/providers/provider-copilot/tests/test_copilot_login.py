"""Signing in to GitHub Copilot, end to end: device code, exchange, host, models."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pi_provider_copilot
from pi_hookspecs import Login, RequestFailed, UserError, now_ms
from pi_provider_copilot.login import CopilotLogin, enterprise_host
from pi_provider_copilot.tokens import host_of
from pi_testing import for_each
from pi_testing.fake_servers import closed_url, json_answer
from pi_testing.fake_servers.oauth import FakeAuthorization
from pi_testing.fake_ui import FakeUI

DEFAULT = "https://api.individual.githubcopilot.com"


@pytest.fixture
async def server(monkeypatch):
    async with FakeAuthorization(expires_in=1800) as server:
        monkeypatch.setenv("PI_OAUTH_URL_GITHUB_COPILOT", server.url)
        yield server


def test_the_plugin_registers_it():
    (login,) = pi_provider_copilot.register_logins()

    assert isinstance(login, Login)
    assert login.name == "github-copilot"


def test_registering_imports_no_client():
    code = "import sys, pi_provider_copilot as p; p.register_logins(); print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout == "False\n"


async def test_the_code_is_shown_and_asked_about_until_it_was_entered(server):
    server.device_answers.extend(["authorization_pending", "slow_down", "authorization_pending"])
    ui = FakeUI().answers("")
    before = now_ms()

    credential = await CopilotLogin().login(ui)

    assert credential.pop("access").startswith("tid=1;")
    assert before + 1_500_000 <= credential.pop("expires") <= now_ms() + 1_500_000
    assert credential == {"type": "oauth", "refresh": "gho_fake1"}
    assert "FAKE-CODE" in ui.notices[0].message
    polls = [request for request in server.requests if request.path == "/login/oauth/access_token"]
    assert len(polls) == 4
    assert parse_qs(polls[0].body.decode()) == {
        "client_id": ["Iv1.b507a08c87ecfe98"],
        "device_code": ["fake-device-1"],
        "grant_type": ["urn:ietf:params:oauth:grant-type:device_code"],
    }


@pytest.mark.parametrize(
    ("answer", "message"),
    [("access_denied", "Consent was denied"), ("expired_token", "has expired"), ("unsupported", "unsupported")],
)
async def test_denial_expiry_and_refusal_end_it(server, answer, message):
    server.device_answers.extend(["authorization_pending", answer])

    with pytest.raises((UserError, RequestFailed), match=message):
        await CopilotLogin().login(FakeUI().answers(None))
    assert server.copilot_tokens == 0


async def test_an_enterprise_has_its_own_host(server):
    login = CopilotLogin()

    credential = await login.login(FakeUI().answers("https://company.ghe.com/"))

    assert credential["enterpriseUrl"] == "company.ghe.com"
    assert login.base_url(credential, DEFAULT) == "https://api.business.githubcopilot.com"
    assert login.base_url({**credential, "access": "tid=1"}, DEFAULT) == "https://copilot-api.company.ghe.com"


async def test_a_refresh_exchanges_github_s_token_again_and_keeps_the_enterprise(server):
    server.refresh_tokens.add("gho_old")
    stored = {"refresh": "gho_old", "access": "old", "expires": 1, "enterpriseUrl": "company.ghe.com"}

    fresh = {**stored, **await CopilotLogin().refresh(stored)}

    assert fresh["access"].startswith("tid=1;")
    assert (fresh["refresh"], fresh["enterpriseUrl"]) == ("gho_old", "company.ghe.com")
    assert server.request.headers["authorization"] == "Bearer gho_old"
    assert server.request.headers["copilot-integration-id"] == "vscode-chat"


async def test_a_server_s_clock_that_is_wrong_does_not_make_tokens_look_old(server):
    server.clock_ahead = -7200
    server.refresh_tokens.add("gho_old")

    assert (await CopilotLogin().refresh({"refresh": "gho_old"}))["expires"] > now_ms()


async def test_without_a_relative_time_the_absolute_one_counts(server):
    server.answers(json_answer(200, {"token": "tid=1", "expires_at": 2_000_000_000}))

    assert (await CopilotLogin().refresh({"refresh": "gho"}))["expires"] == 2_000_000_000_000 - 300_000


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (json_answer(401, {"message": "Bad credentials: gho_secret"}), "^401 Bad credentials"),
        (json_answer(403, {"message": "no access"}), "gives this account no token for Copilot"),
        (json_answer(200, {"expires_at": 1}), "no usable 'token'"),
        (json_answer(200, {"token": "tid=1"}), "how long"),
    ],
    ids=["revoked", "no-plan", "no-token", "no-time"],
)
async def test_a_failure_is_reported_without_a_token(server, answer, message):
    server.answers(answer)

    with pytest.raises((UserError, RequestFailed), match=message) as caught:
        await CopilotLogin().refresh({"refresh": "gho_secret"})
    assert "gho_secret" not in str(caught.value)


@pytest.mark.parametrize(("accepts", "enabled"), [(True, ["new-model"]), (False, [])])
async def test_terms_of_models_are_accepted_only_by_the_user(server, accepts, enabled):
    states = {"new-model": "unconfigured", "known": "enabled", "refused": "disabled"}
    server.models = [{"id": name, "policy": {"state": state}} for name, state in states.items()]
    server.models += [{"id": "free"}, {"policy": None}, "odd"]
    ui = FakeUI().answers("", accepts)

    await CopilotLogin().login(ui)

    assert server.enabled == enabled
    assert "new-model" in ui.asked[1].text
    assert "known" not in ui.asked[1].text


async def test_a_login_is_kept_although_the_models_cannot_be_enabled(server, monkeypatch):
    def gone(request):
        return json_answer(500, {"message": "broken"})

    monkeypatch.setitem(sys.modules["pi_testing.fake_servers.oauth"]._ROUTES, ("GET", "/models"), lambda _, r: gone(r))
    ui = FakeUI().answers("")

    credential = await CopilotLogin().login(ui)

    assert credential["refresh"] == "gho_fake1"
    assert ui.notices[-1].level == "warning"


async def test_an_unreachable_github_is_reported(monkeypatch):
    monkeypatch.setenv("PI_OAUTH_URL_GITHUB_COPILOT", closed_url())

    with pytest.raises(RequestFailed, match="connection refused"):
        await CopilotLogin().login(FakeUI().answers(""))


@pytest.mark.parametrize("base_url", ["https://gateway.example.com/copilot", "http://127.0.0.1:8080"])
def test_a_base_url_that_the_user_chose_stays(base_url):
    assert CopilotLogin().base_url({"access": "proxy-ep=proxy.business.githubcopilot.com"}, base_url) == base_url


@for_each(
    ("credential", "host"),
    [
        ({"access": "tid=1;proxy-ep=proxy.individual.githubcopilot.com;x=1"}, "api.individual.githubcopilot.com"),
        ({"access": "proxy-ep=other.example.com"}, "other.example.com"),
        ({"access": "tid=1"}, "api.individual.githubcopilot.com"),
        ({}, "api.individual.githubcopilot.com"),
        ({"access": "tid=1", "enterpriseUrl": "c.ghe.com"}, "copilot-api.c.ghe.com"),
        ({"access": "tid=1;proxy-ep=evil.com/path?;x=1"}, "api.individual.githubcopilot.com"),
    ],
)
def test_the_token_names_the_host(credential, host):
    assert host_of(credential) == host


@for_each(
    ("text", "host"),
    [
        ("", None),
        ("  ", None),
        ("github.com", None),
        ("https://www.github.com/", None),
        ("company.ghe.com", "company.ghe.com"),
        ("https://GHE.Company.com/login?x=1", "ghe.company.com"),
    ],
)
def test_an_enterprise_s_host_is_read_from_a_name_or_a_url(text, host):
    assert enterprise_host(text) == host


@given(st.text())
def test_whatever_is_written_as_a_host_is_one_or_refused(text):
    try:
        host = enterprise_host(text)
    except UserError:
        return
    assert host is None or not set(host) & set("/@:?# \n")
