"""Signing in with a Claude plan, end to end: page, browser or paste, exchange, refresh."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest

import pi_provider_anthropic
from pi_core import AuthStorage
from pi_hookspecs import Login, RequestFailed, UserError, now_ms
from pi_provider_anthropic.login import AnthropicLogin
from pi_testing.fake_servers.oauth import FakeAuthorization, browse
from pi_testing.fake_ui import FakeUI

CLIENT_ID = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"


class BrowserUI(FakeUI):
    """A user with a browser on the computer that pi runs on."""

    def open_url(self, url):
        self.visit = asyncio.ensure_future(browse(url))
        return True


class PastingUI(FakeUI):
    """A user whose browser is elsewhere: he pastes what ``form`` makes of where it ended up."""

    open_url = None

    def __init__(self, form):
        super().__init__()
        self.form = form

    async def input(self, title, placeholder=None, **options):
        visit = await browse(page_of(self))
        return self.form(visit.url, {name: values[0] for name, values in parse_qs(urlsplit(visit.url).query).items()})


def page_of(ui):
    return next(word for notice in ui.notices for word in notice.message.split() if "/oauth/authorize" in word)


@pytest.fixture
async def server(monkeypatch):
    async with FakeAuthorization(make_token="sk-ant-oat01-{}".format) as server:
        monkeypatch.setenv("PI_OAUTH_URL_ANTHROPIC", server.url)
        monkeypatch.setenv("PI_OAUTH_PORT_ANTHROPIC", "0")
        yield server


def test_the_plugin_registers_it():
    (login,) = pi_provider_anthropic.register_logins()

    assert isinstance(login, Login)
    assert login.name == "anthropic"


async def test_the_browser_comes_back_with_the_code(server):
    ui = BrowserUI().never_answers("Paste")
    before = now_ms()

    credential = await AnthropicLogin().login(ui)

    assert {**credential, "expires": 0} == {
        "type": "oauth",
        "access": "sk-ant-oat01-1",
        "refresh": "fake-refresh-1",
        "expires": 0,
    }
    assert before <= credential["expires"] - 3600_000 + 300_000 <= now_ms()
    assert "You can close this window" in (await ui.visit).text


@pytest.mark.parametrize(
    "form",
    [
        lambda url, values: url,
        lambda url, values: f"{values['code']}#{values['state']}",
        lambda url, values: values["code"],
    ],
    ids=["address", "code-and-state", "code"],
)
async def test_without_a_browser_here_the_code_is_pasted_from_anthropic_s_page(server, form):
    ui = PastingUI(form)

    credential = await AnthropicLogin().login(ui)

    assert credential["access"] == "sk-ant-oat01-1"
    query = {name: values[0] for name, values in parse_qs(urlsplit(page_of(ui)).query).items()}
    verifier = query.pop("state")
    assert query.pop("code_challenge")
    assert query == {
        "code": "true",
        "client_id": CLIENT_ID,
        "response_type": "code",
        "redirect_uri": "https://console.anthropic.com/oauth/code/callback",
        "scope": "org:create_api_key user:profile user:inference",
        "code_challenge_method": "S256",
    }
    assert server.request.json == {
        "grant_type": "authorization_code",
        "client_id": CLIENT_ID,
        "code": "fake-code-1",
        "state": verifier,
        "redirect_uri": "https://console.anthropic.com/oauth/code/callback",
        "code_verifier": verifier,
    }


async def test_a_taken_port_falls_back_to_pasting_from_anthropic_s_page(server, monkeypatch):
    class Both(PastingUI):
        open_url = BrowserUI.open_url

    taken = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    monkeypatch.setenv("PI_OAUTH_PORT_ANTHROPIC", str(taken.sockets[0].getsockname()[1]))
    ui = Both(lambda url, values: values["code"])

    credential = await AnthropicLogin().login(ui)

    assert credential["access"] == "sk-ant-oat01-1"
    assert "cannot be used" in ui.notices[0].message
    taken.close()


async def test_denied_consent_stores_nothing_and_says_what_to_do(server):
    server.consents = False

    with pytest.raises(UserError, match=r"Consent was denied .* Run pi auth login anthropic"):
        await AnthropicLogin().login(BrowserUI().never_answers("Paste"))
    assert server.exchanges == 0


async def test_a_code_for_another_request_is_not_exchanged(server):
    with pytest.raises(RequestFailed, match=r"^400 invalid_grant: unknown code"):
        await AnthropicLogin().login(FakeUI().answers("made-up-code"))


async def test_an_expired_login_is_refreshed_and_stored(server, tmp_path):
    file = tmp_path / "auth.json"
    storage = AuthStorage.create(file, login=lambda _provider: AnthropicLogin())
    server.refresh_tokens.add("old-refresh")
    await storage.set("anthropic", {"type": "oauth", "access": "old", "refresh": "old-refresh", "expires": 1})

    keys = [await storage.get_api_key("anthropic") for _ in range(2)]

    assert keys == ["sk-ant-oat01-1"] * 2
    assert server.refreshes == 1
    assert server.request.json == {
        "grant_type": "refresh_token",
        "client_id": CLIENT_ID,
        "refresh_token": "old-refresh",
    }
    assert AuthStorage.create(file).get("anthropic")["refresh"] == "fake-refresh-1"


async def test_a_revoked_login_is_kept_and_the_command_named(server, tmp_path):
    file = tmp_path / "auth.json"
    storage = AuthStorage.create(file, login=lambda _provider: AnthropicLogin())
    stored = {"type": "oauth", "access": "old", "refresh": "secret-revoked", "expires": 1}
    await storage.set("anthropic", stored)

    with pytest.raises(UserError, match=r"400 invalid_grant: .*login is kept; run pi auth login anthropic") as caught:
        await storage.get_api_key("anthropic")

    assert "secret-revoked" not in str(caught.value)
    assert storage.get("anthropic") == stored
