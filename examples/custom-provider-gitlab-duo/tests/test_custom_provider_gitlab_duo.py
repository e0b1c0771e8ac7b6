"""The login asks for a token, and each request goes with a fresh one that GitLab gave for it."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_testing.fake_servers import FakeServer, json_answer
from pi_testing.fake_servers.anthropic import FakeAnthropic, message, text

pytestmark = pytest.mark.pi(entry_points=["provider-anthropic"])

SHORT = {"token": "short-1", "headers": {"X-Gitlab-Global-User-Id": "7"}}


@pytest.fixture
async def gitlab():
    async with FakeServer() as server:
        yield server


@pytest.fixture
async def gateway():
    async with FakeAnthropic(check=False) as server:
        yield server


@pytest.fixture
def sign_in(pi_session, gitlab, fake_ui):
    async def login():
        fake_ui.answers(gitlab.url, "glpat-secret")
        gitlab.answers(json_answer(201, SHORT))
        return await pi_session.host.find("register_logins", "gitlab-duo").thing.login(fake_ui)

    return login


@pytest.fixture
def ask(pi_session, gateway):
    async def prompt(credential):
        gateway.answers(message(text("Hello.")))
        await pi_session.models.auth.set("gitlab-duo", {"type": "oauth", **credential})
        model = pi_session.models.find("gitlab-duo/claude-sonnet-4-5")
        await pi_session.set_model(evolve(model, base_url=gateway.url))
        return await pi_session.prompt("hi")

    return prompt


async def test_requests_go_with_the_short_token_and_its_headers(sign_in, ask, gitlab, gateway):
    answer = await ask(await sign_in())

    assert answer.text == "Hello."
    assert gitlab.request.path == "/api/v4/ai/third_party_agents/direct_access"
    assert gitlab.request.headers["private-token"] == "glpat-secret"
    sent = gateway.request.headers
    assert (sent["authorization"], sent["x-gitlab-global-user-id"]) == ("Bearer short-1", "7")


async def test_a_token_that_has_expired_is_exchanged_for_another(sign_in, ask, gitlab, gateway):
    credential = await sign_in()
    gitlab.answers(json_answer(201, {**SHORT, "token": "short-2"}))

    await ask({**credential, "expires": 1})

    assert gateway.request.headers["authorization"] == "Bearer short-2"
