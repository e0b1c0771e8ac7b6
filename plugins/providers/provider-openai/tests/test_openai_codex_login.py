"""Signing in with a ChatGPT plan, end to end."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest

import pi_provider_openai
from pi_hookspecs import Login, RequestFailed, UserError
from pi_provider_openai.codex_login import CodexLogin
from pi_testing.fake_servers import json_answer
from pi_testing.fake_servers.oauth import FakeAuthorization, browse, unsigned_jwt
from pi_testing.fake_ui import FakeUI

CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann"


class BrowserUI(FakeUI):
    def open_url(self, url):
        self.page = url
        self.visit = asyncio.ensure_future(browse(url))
        return True


def token(number, account="account-7"):
    return unsigned_jwt({"jti": number, "https://api.openai.com/auth": {"chatgpt_account_id": account}})


@pytest.fixture
async def server(monkeypatch):
    async with FakeAuthorization(make_token=token) as server:
        monkeypatch.setenv("PI_OAUTH_URL_OPENAI_CODEX", server.url)
        monkeypatch.setenv("PI_OAUTH_PORT_OPENAI_CODEX", "0")
        yield server


def test_the_plugin_registers_it():
    (login,) = pi_provider_openai.register_logins()

    assert isinstance(login, Login)
    assert login.name == "openai-codex"


async def test_the_browser_comes_back_and_the_token_names_the_account(server):
    ui = BrowserUI().never_answers("Paste")

    credential = await CodexLogin().login(ui)

    assert {**credential, "expires": 0} == {
        "type": "oauth",
        "access": token(1),
        "refresh": "fake-refresh-1",
        "expires": 0,
        "accountId": "account-7",
    }
    query = {name: values[0] for name, values in parse_qs(urlsplit(ui.page).query).items()}
    redirect = query.pop("redirect_uri")
    assert redirect.startswith("http://localhost:")
    assert redirect.endswith("/auth/callback")
    assert query.pop("state") != query.pop("code_challenge")
    assert query == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "scope": "openid profile email offline_access",
        "code_challenge_method": "S256",
        "id_token_add_organizations": "true",
        "codex_cli_simplified_flow": "true",
        "originator": "pi",
    }
    sent = {name: values[0] for name, values in parse_qs(server.request.body.decode()).items()}
    assert sent.pop("code_verifier")
    assert sent == {
        "grant_type": "authorization_code",
        "client_id": CLIENT_ID,
        "code": "fake-code-1",
        "redirect_uri": redirect,
    }


async def test_the_address_of_a_browser_elsewhere_can_be_pasted(server):
    class Elsewhere(FakeUI):
        async def select(self, title, options, **more):
            return options[1]

        async def input(self, title, placeholder=None, **options):
            page = next(word for word in self.notices[-1].message.split() if word.startswith("http"))
            query = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
            server._codes["elsewhere"] = query
            return f"{query['redirect_uri']}?code=elsewhere&state={query['state']}"

    assert (await CodexLogin().login(Elsewhere()))["accountId"] == "account-7"


class NoBrowser(FakeUI):
    """A front end that cannot open pages."""

    open_url = None


@pytest.mark.parametrize("choice", ["Enter a code on another screen", None])
async def test_without_a_browser_here_a_code_is_entered_elsewhere(server, choice):
    server.interval = 0
    server.device_answers.extend(["authorization_pending", "slow_down_is_not_known_here"])
    ui = NoBrowser().answers(choice)

    credential = await CodexLogin().login(ui)

    assert (credential["accountId"], credential["refresh"]) == ("account-7", "fake-refresh-1")
    assert "FAKE-CODE" in ui.notices[0].message
    assert f"{server.url}/codex/device" in ui.notices[0].message
    assert [request.path.rpartition("/")[2] for request in server.requests] == ["usercode", *["token"] * 4]


async def test_a_code_that_was_refused_elsewhere_ends_the_login(server):
    server.interval = 0
    server.device_answers.extend(["authorization_pending", "access_denied"])

    with pytest.raises(UserError, match="Consent was denied"):
        await CodexLogin().login(NoBrowser().answers(None))


async def test_an_account_that_may_not_use_codes_gets_an_alternative(server):
    server.answers(json_answer(404, {"error": {"message": "Not found"}}))

    with pytest.raises(UserError, match=r"does not let this account .* pi auth login openai-codex where there is"):
        await CodexLogin().login(NoBrowser().answers(None))


async def test_an_answer_without_a_code_is_refused(server):
    server.interval = 0
    device = {"device_auth_id": "d", "usercode": "U", "interval": "0"}
    server.answers(json_answer(200, device), json_answer(200, {"authorization_code": ""}))

    with pytest.raises(RequestFailed, match="no usable 'authorization_code'"):
        await CodexLogin().login(NoBrowser().answers(None))


async def test_a_refresh_keeps_the_account_current(server):
    server.refresh_tokens.add("old")
    server.make_token = lambda number: token(number, "account-8")

    credential = await CodexLogin().refresh({"refresh": "old", "accountId": "account-7"})

    assert (credential["accountId"], credential["refresh"]) == ("account-8", "fake-refresh-1")
    assert CodexLogin().api_key(credential) == credential["access"]
    assert server.refreshes == 1


async def test_a_token_for_no_account_is_refused_and_not_shown(server):
    server.make_token = "opaque-token-{}".format

    with pytest.raises(RequestFailed, match="accountId") as caught:
        await CodexLogin().login(BrowserUI().never_answers("Paste"))
    assert "opaque-token" not in str(caught.value)
