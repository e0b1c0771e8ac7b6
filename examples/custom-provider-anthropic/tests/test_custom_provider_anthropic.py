"""A session is answered over the plugin's own stream, by a server that checks requests as the real one does."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_testing.fake_servers.anthropic import FakeAnthropic, error, message, text, tool_use


@pytest.fixture
async def server(monkeypatch):
    monkeypatch.setenv("CUSTOM_ANTHROPIC_API_KEY", "sk-test")
    async with FakeAnthropic() as fake:
        yield fake


@pytest.fixture
def ask(pi_session, server):
    async def prompt(message_text):
        model = pi_session.models.find("custom-anthropic/claude-sonnet-4-5")
        await pi_session.set_model(evolve(model, base_url=server.url))
        return await pi_session.prompt(message_text)

    return prompt


async def test_a_tool_is_called_and_its_result_goes_back(ask, server, fake_tools):
    server.answers(message(tool_use("toolu_1", "read", path="a.txt")), message(text("It is empty.")))

    answer = await ask("What is in a.txt?")

    assert answer.text == "It is empty."
    assert (answer.provider, answer.stop_reason) == ("custom-anthropic", "stop")
    assert fake_tools["read"].calls == [{"path": "a.txt"}]
    assert server.request.headers["x-api-key"] == "sk-test"
    assert server.request.json["messages"][-1]["content"][0]["tool_use_id"] == "toolu_1"


async def test_a_refusal_is_reported(ask, server):
    server.answers(error(400, "too many tokens"))

    answer = await ask("hi")

    assert answer.stop_reason == "error"
    assert "too many tokens" in answer.error_message


async def test_an_answer_that_is_cut_off_is_no_answer(ask, server):
    server.answers(message(text("Hello, you there")).cut(b"Hello"))

    answer = await ask("hi")

    assert answer.stop_reason == "error"
