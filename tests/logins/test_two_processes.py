"""Two processes whose token has expired ask for a fresh one at the same time."""

from __future__ import annotations

import asyncio
import json

import pytest
from attrs import evolve

from pi_testing.fake_servers.anthropic import FakeAnthropic, message, text

pytestmark = pytest.mark.slow  # each starts programs that take seconds

EXPIRED = {"type": "oauth", "access": "sk-ant-oat-old", "refresh": "old-refresh", "expires": 1}


def slowly(server):
    """Let the server answer its next refresh only when both processes want one."""
    answered = asyncio.Event()
    grant = server._grant

    def held():
        answer = grant()
        asyncio.get_running_loop().call_later(1.0, answered.set)
        return evolve(answer, pieces=(answered, *answer.pieces))

    server._grant = held


async def test_one_refresh_serves_both(pi, server):
    server.make_token = "sk-ant-oat-{}".format
    server.refresh_tokens.add("old-refresh")
    slowly(server)
    pi.store(anthropic=EXPIRED)

    both = await asyncio.gather(*(pi.run("auth", "print-bearer-token", "anthropic") for _ in range(2)))

    assert [(done.code, done.out) for done in both] == [(0, "sk-ant-oat-1\n")] * 2
    assert server.refreshes == 1
    assert pi.stored["anthropic"]["refresh"] == "fake-refresh-1"
    assert [path.name for path in pi.agent_dir.glob("auth.json*")] == ["auth.json"]


async def test_both_prompts_are_answered_with_the_fresh_token(pi, server):
    server.make_token = "sk-ant-oat-{}".format
    server.refresh_tokens.add("old-refresh")
    slowly(server)
    pi.store(anthropic=EXPIRED)
    async with FakeAnthropic() as api:
        api.answers(message(text("Hello")), message(text("Hello")))
        models = {"providers": {"anthropic": {"baseUrl": api.url}}}
        (pi.agent_dir / "models.json").write_text(json.dumps(models))
        ask = ("-p", "hi", "--model", "anthropic/claude-opus-4-8", "--no-tools")
        both = await asyncio.gather(*(pi.run(*ask) for _ in range(2)))

    assert [(done.code, done.out) for done in both] == [(0, "Hello\n")] * 2, both
    assert [request.headers["authorization"] for request in api.requests] == ["Bearer sk-ant-oat-1"] * 2
    assert server.refreshes == 1
