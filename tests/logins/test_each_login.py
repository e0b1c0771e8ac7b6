"""Each login of the default plugins, run as a user runs it: ``pi auth login``, a browser, ``check``, ``logout``."""

from __future__ import annotations

import re
import stat

import pytest

from pi_testing.fake_servers import closed_url
from pi_testing.fake_servers.oauth import unsigned_jwt

pytestmark = pytest.mark.slow  # each starts programs that take seconds

WITH_A_BROWSER = ["anthropic", "openai-codex", "google-gemini-cli"]
EVERY = [*WITH_A_BROWSER, "github-copilot"]
PAGES = {"google-gemini-cli": "/o/oauth2/v2/auth"}

EXPIRED = {"type": "oauth", "access": "old", "refresh": "secret-old-refresh", "expires": 1}


def token(number):
    """Return a token that every provider's plugin can use."""
    return unsigned_jwt({"jti": f"sk-ant-oat-{number}", "https://api.openai.com/auth": {"chatgpt_account_id": "a-7"}})


@pytest.fixture(autouse=True)
def _tokens(server):
    server.make_token = token


@pytest.mark.parametrize("provider", WITH_A_BROWSER)
async def test_a_login_with_a_browser(pi, server, provider):
    done = await pi.run("auth", "login", provider)
    mode = stat.S_IMODE(pi.auth.stat().st_mode)
    checked = await pi.run("auth", "check", provider)
    printed = await pi.run("auth", "print-bearer-token", provider)
    removed = await pi.run("auth", "logout", provider)

    assert done.code == 0, done.err
    assert f"{server.url}{PAGES.get(provider, '/oauth/authorize')}?" in done.err
    assert f"Signed in to {provider}." in done.err
    assert token(1) not in done.out + done.err
    assert mode == 0o600
    assert (checked.code, checked.out) == (0, f"{provider}: ready (signed in, token valid for 54 min)\n")
    assert (printed.code, printed.out) == (0, f"{token(1)}\n")
    assert (removed.code, pi.stored) == (0, {})
    assert "You can close this window" in pi.visited.read_text()


async def test_a_login_with_a_code(pi, server):
    server.device_answers.extend(["authorization_pending", "slow_down"])
    server.models = [{"id": "new", "policy": {"state": "unconfigured"}}]

    done = await pi.run("auth", "login", "github-copilot", stdin=b"\ny\n")
    checked = await pi.run("auth", "check")

    assert done.code == 0, done.err
    assert "FAKE-CODE" in done.err
    assert pi.stored["github-copilot"]["refresh"] == "gho_fake1"
    assert server.enabled == ["new"]
    assert (checked.code, checked.out.split(" (")[0]) == (0, "github-copilot: ready")


@pytest.mark.parametrize("provider", EVERY)
async def test_what_is_stored_is_kept_when_the_user_declines(pi, server, provider):
    pi.store(**{provider: EXPIRED, "other": {"type": "api_key", "key": "k", "more": 1}})
    before = pi.auth.read_text()
    server.consents = False
    server.device_answers.append("access_denied")

    answers = b"\n" if provider == "github-copilot" else b""
    done = await pi.run("auth", "login", provider, stdin=answers)

    assert done.code == 1
    assert "Consent was denied in the browser" in done.err
    assert f"pi auth login {provider}" in done.err
    assert pi.auth.read_text() == before


async def test_the_page_is_not_opened_if_the_user_disables_it(pi, server):
    done = await pi.run("auth", "login", "anthropic", "--no-browser", stdin=b"")

    assert done.code == 1
    assert re.search(r"redirect_uri=https%3A%2F%2Fconsole\.anthropic\.com", done.err)
    assert "no code was pasted" in done.err
    assert not pi.visited.exists()


async def test_a_code_of_chatgpt_needs_no_browser_and_no_terminal(pi, server):
    server.interval = 0
    server.device_answers.append("authorization_pending")

    done = await pi.run("auth", "login", "openai-codex", "--no-browser")

    assert done.code == 0, done.err
    assert "FAKE-CODE" in done.err
    assert pi.stored["openai-codex"]["accountId"] == "a-7"


@pytest.mark.parametrize("provider", EVERY)
async def test_an_expired_login_is_renewed_by_a_check(pi, server, provider):
    server.refresh_tokens.add("secret-old-refresh")
    pi.store(**{provider: {**EXPIRED, "account": "kept"}})

    checked = await pi.run("auth", "check", provider)

    assert checked.code == 0, checked.out
    assert pi.stored[provider]["access"] != "old"
    assert pi.stored[provider]["account"] == "kept"


@pytest.mark.parametrize("provider", EVERY)
async def test_a_revoked_login_is_invalid_kept_and_reported_without_its_token(pi, server, provider):
    pi.store(**{provider: EXPIRED})
    before = pi.auth.read_text()

    checked = await pi.run("auth", "check", provider)

    assert checked.code == 2
    assert checked.out.startswith(f"{provider}: invalid: ")
    assert f"run pi auth login {provider}" in checked.out
    assert "secret-old-refresh" not in checked.out + checked.err
    assert pi.auth.read_text() == before


async def test_a_server_that_is_away_makes_a_login_not_ready_but_not_invalid(pi):
    pi.store(anthropic=EXPIRED)

    checked = await pi.run("auth", "check", "anthropic", PI_OAUTH_URL_ANTHROPIC=closed_url())

    assert checked.code == 1
    assert "connection refused" in checked.out
