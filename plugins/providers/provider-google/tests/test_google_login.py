"""Signing in to Cloud Code Assist, end to end: page, browser or paste, exchange, project, refresh."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from urllib.parse import parse_qs, urlsplit

import pytest

import pi_provider_google
from pi_core import AuthStorage
from pi_hookspecs import Login, RequestFailed, UserError, now_ms
from pi_provider_google.login import AntigravityLogin, GeminiLogin
from pi_testing.fake_servers import json_answer
from pi_testing.fake_servers.google import error
from pi_testing.fake_servers.oauth import FakeAuthorization, browse
from pi_testing.fake_ui import FakeUI

READY = json_answer(200, {"currentTier": {"id": "free-tier"}, "cloudaicompanionProject": "proj-1"})
NEW = json_answer(200, {"allowedTiers": [{"id": "legacy-tier"}, {"id": "free-tier", "isDefault": True}]})


class FakeGoogleLogin(FakeAuthorization):
    """Google's authorization server, with Cloud Code Assist behind the same address.

    Attributes:
        accounts: What Cloud Code Assist says, in order.
    """

    def __init__(self):
        super().__init__(make_token="ya29.{}".format)
        self.accounts = deque([READY])

    def refusal(self, request):
        if request.path.startswith("/v1internal"):
            return self.accounts.popleft()
        return super().refusal(request)

    def asked(self, what):
        return [request for request in self.requests if request.path.endswith(what)]


class BrowserUI(FakeUI):
    """A user with a browser on the computer that pi runs on."""

    def open_url(self, url):
        self.visit = asyncio.ensure_future(browse(url))
        return True


class Pasted(FakeUI):
    """A user who pastes the address himself, because no page of pi's is there to take the code."""

    def __init__(self, server):
        super().__init__()
        self.server = server

    async def input(self, title, placeholder=None, **options):
        page = next(word for notice in self.notices for word in notice.message.split() if "/o/oauth2/" in word)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        self.server._codes["fake-code-9"] = asked
        return f"{asked['redirect_uri']}?code=fake-code-9&state={asked['state']}"


@pytest.fixture
async def server(monkeypatch):
    async with FakeGoogleLogin() as server:
        for name in ("GOOGLE_GEMINI_CLI", "GOOGLE_ANTIGRAVITY"):
            monkeypatch.setenv(f"PI_OAUTH_URL_{name}", server.url)
            monkeypatch.setenv(f"PI_OAUTH_PORT_{name}", "0")
        yield server


def browser():
    return BrowserUI().never_answers("Paste")


def test_the_plugin_registers_both():
    logins = pi_provider_google.register_logins()

    assert all(isinstance(login, Login) for login in logins)
    assert [login.name for login in logins] == ["google-gemini-cli", "google-antigravity"]


async def test_the_browser_comes_back_with_the_code(server):
    before = now_ms()

    credential = await GeminiLogin().login(browser())

    assert {**credential, "expires": 0} == {
        "type": "oauth",
        "access": "ya29.1",
        "refresh": "fake-refresh-1",
        "expires": 0,
        "projectId": "proj-1",
    }
    assert before <= credential["expires"] - 3600_000 + 300_000 <= now_ms()
    assert json.loads(GeminiLogin().api_key(credential)) == {"token": "ya29.1", "projectId": "proj-1"}


async def test_what_google_is_asked(server):
    await GeminiLogin().login(browser())

    (page,), (exchange,), (account,) = map(server.asked, ("/auth", "/token", ":loadCodeAssist"))
    asked = {name: values[0] for name, values in parse_qs(page.query).items()}
    sent = {name: values[0] for name, values in parse_qs(exchange.body.decode()).items()}
    assert (asked["access_type"], asked["prompt"], asked["response_type"]) == ("offline", "consent", "code")
    assert asked["scope"].split() == [
        "https://www.googleapis.com/auth/cloud-platform",
        "https://www.googleapis.com/auth/userinfo.email",
        "https://www.googleapis.com/auth/userinfo.profile",
    ]
    assert urlsplit(asked["redirect_uri"]).path == "/oauth2callback"
    assert sent["redirect_uri"] == asked["redirect_uri"]
    assert sent["client_id"] == asked["client_id"]
    assert exchange.headers["content-type"] == "application/x-www-form-urlencoded"
    assert account.headers["authorization"] == "Bearer ya29.1"
    assert account.json["metadata"]["pluginType"] == "GEMINI"


async def test_the_address_at_which_a_browser_ends_up_can_be_pasted(server, monkeypatch):
    taken = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    monkeypatch.setenv("PI_OAUTH_PORT_GOOGLE_GEMINI_CLI", str(taken.sockets[0].getsockname()[1]))
    ui = Pasted(server)
    credential = await GeminiLogin().login(ui)
    taken.close()

    assert credential["access"] == "ya29.1"
    assert "cannot be used" in ui.notices[0].message


async def test_denied_consent_stores_nothing_and_says_what_to_do(server):
    server.consents = False

    with pytest.raises(UserError, match=r"Consent was denied .* Run pi auth login google-gemini-cli"):
        await GeminiLogin().login(browser())
    assert server.exchanges == 0


# Projects


async def test_a_new_account_is_set_up(server):
    done = {"done": True, "response": {"cloudaicompanionProject": {"id": "made-for-you"}}}
    waits = json_answer(200, {"name": "operations/1", "done": False})
    server.accounts = deque([NEW, waits, waits, json_answer(200, done)])

    credential = await GeminiLogin(interval=0).login(browser())

    assert credential["projectId"] == "made-for-you"
    (onboarded,) = server.asked(":onboardUser")
    assert onboarded.json["tierId"] == "free-tier"
    assert "cloudaicompanionProject" not in onboarded.json
    assert [request.method for request in server.asked("/v1internal/operations/1")] == ["GET", "GET"]


async def test_an_account_that_needs_its_own_project_gets_an_explanation(server):
    server.accounts = deque([json_answer(200, {"currentTier": {"id": "standard-tier"}})])

    with pytest.raises(UserError, match="Set GOOGLE_CLOUD_PROJECT and sign in again"):
        await GeminiLogin().login(browser())


@pytest.mark.parametrize(
    "message",
    [
        json_answer(200, {"currentTier": {"id": "standard-tier"}}),
        json_answer(403, {"error": {"code": 403, "details": [{"reason": "SECURITY_POLICY_VIOLATED"}]}}),
    ],
    ids=["standard tier", "guarded organisation"],
)
async def test_the_environment_names_the_project(server, monkeypatch, message):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "mine")
    server.accounts = deque([message])

    credential = await GeminiLogin().login(browser())

    assert credential["projectId"] == "mine"
    assert server.asked(":loadCodeAssist")[0].json["cloudaicompanionProject"] == "mine"


async def test_a_new_account_of_another_tier_is_set_up_in_the_project(server, monkeypatch):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT_ID", "mine")
    server.accounts = deque([json_answer(200, {}), json_answer(200, {"done": True})])

    credential = await GeminiLogin().login(browser())

    assert credential["projectId"] == "mine"
    assert server.asked(":onboardUser")[0].json["tierId"] == "legacy-tier"
    assert server.asked(":onboardUser")[0].json["cloudaicompanionProject"] == "mine"


async def test_an_account_that_is_never_ready_is_not_waited_for(server):
    server.accounts = deque([NEW, *[json_answer(200, {"name": "operations/1"})] * 40])

    with pytest.raises(UserError, match="still being set up"):
        await GeminiLogin(interval=0).login(browser())


async def test_a_refusal_is_reported_in_the_services_words(server):
    server.accounts = deque([error(403, "Code Assist is switched off.")])

    with pytest.raises(RequestFailed, match=r"Code Assist is switched off"):
        await GeminiLogin().login(browser())


# Refreshing


async def test_a_refresh_keeps_project_and_refresh_token(server, tmp_path):
    file = tmp_path / "auth.json"
    stored = {"type": "oauth", "access": "old", "refresh": "1//old", "expires": 1, "projectId": "proj-1"}
    server.refresh_tokens.add("1//old")
    storages = [AuthStorage.create(file, login=lambda _: GeminiLogin()) for _ in range(2)]
    await storages[0].set("google-gemini-cli", stored)

    keys = await asyncio.gather(*(storage.get_api_key("google-gemini-cli") for storage in storages))

    assert [json.loads(key) for key in keys] == [{"token": "ya29.1", "projectId": "proj-1"}] * 2
    assert server.refreshes == 1
    assert json.loads(file.read_text("utf-8"))["google-gemini-cli"]["projectId"] == "proj-1"


async def test_a_revoked_login_is_kept_and_names_the_command(server, tmp_path):
    file = tmp_path / "auth.json"
    storage = AuthStorage.create(file, login=lambda _: GeminiLogin())
    stored = {"type": "oauth", "access": "old", "refresh": "1//old", "expires": 1, "projectId": "proj-1"}
    await storage.set("google-gemini-cli", stored)

    with pytest.raises(UserError, match=r"pi auth login google-gemini-cli") as caught:
        await storage.get_api_key("google-gemini-cli")
    assert "1//old" not in str(caught.value)
    assert json.loads(file.read_text("utf-8"))["google-gemini-cli"] == stored


# Antigravity


async def test_antigravity_needs_a_client_of_the_users_own(server):
    with pytest.raises(UserError, match="Set GOOGLE_ANTIGRAVITY_CLIENT_ID and GOOGLE_ANTIGRAVITY_CLIENT_SECRET"):
        await AntigravityLogin().login(browser())


async def test_antigravity_signs_in_with_it(server, monkeypatch):
    monkeypatch.setenv("GOOGLE_ANTIGRAVITY_CLIENT_ID", "mine")
    monkeypatch.setenv("GOOGLE_ANTIGRAVITY_CLIENT_SECRET", "not-secret")

    credential = await AntigravityLogin().login(browser())

    (page,) = server.asked("/auth")
    asked = {name: values[0] for name, values in parse_qs(page.query).items()}
    assert credential["projectId"] == "proj-1"
    assert asked["client_id"] == "mine"
    assert urlsplit(asked["redirect_uri"]).path == "/oauth-callback"
    assert "https://www.googleapis.com/auth/experimentsandconfigs" in asked["scope"]
