"""Limits of a run and of a session: a notice before, a refusal at the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pi_guardrails
from pi_testing import text, tool_call, usage

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import FakeTool, FakeUI, ScriptedProvider

pytestmark = pytest.mark.pi(plugins={"guardrails": pi_guardrails}, entry_points=["budgets"])


def limited(scope: str, **limits: Any) -> pytest.MarkDecorator:
    return pytest.mark.pi(settings={"guardrails": {"enabled": True, "limits": {scope: limits}}})


@limited("run", requests=2)
async def test_a_run_ends_at_its_limit_of_requests(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    fake_ui.answers("Stop")
    script.turn(tool_call("ls")).turn(tool_call("ls"))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert answer.stop_reason == "error"
    assert answer.error_message == (
        "Guardrails: this run has used 2 of 2 requests. Raise guardrails.limits.run.requests in the settings to"
        " continue (see pi help budgets)."
    )
    assert len(script.requests) == 2


@limited("run", requests=2)
async def test_the_next_run_begins_anew(pi_session: AgentSession, script: ScriptedProvider) -> None:
    for _ in range(3):
        script.turn(text("ok"))
        await pi_session.prompt("go")

    assert len(script.requests) == 3


@limited("session", requests=5)
async def test_a_session_gets_one_notice_at_80_percent_and_then_a_refusal(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    for _ in range(5):
        script.turn(text("ok"))
        await pi_session.prompt("go")
    fake_ui.answers("Stop")
    answer = await pi_session.prompt("one more")

    assert answer is not None
    assert "5 of 5 requests" in (answer.error_message or "")
    assert [notice.message for notice in fake_ui.notices] == [
        "Guardrails: this session has used 4 of 5 requests (guardrails.limits.session.requests)."
    ]


@limited("session", tokens=1000)
async def test_tokens_are_counted(pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI) -> None:
    fake_ui.answers("Stop")
    script.turn(tool_call("ls"), usage(input=900, output=50, cache_read=50))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert "1000 of 1000 tokens" in (answer.error_message or "")
    assert len(script.requests) == 1


@limited("run", toolCallsPerMinute=2)
async def test_too_many_calls_in_a_minute_are_refused(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    script.turn(*(tool_call("bash", command="ls") for _ in range(3))).turn(text("ok"))

    await pi_session.prompt("go")

    refused = [message for message in pi_session.messages if message.role == "toolResult" and message.is_error]
    assert len(fake_tools["bash"].calls) == 2
    assert "2 of 2 tool calls in the last minute" in refused[0].content[0].text


@limited("run")
async def test_without_limits_no_request_is_looked_at(pi_session: AgentSession) -> None:
    assert not pi_session.hooks.listens("context")


@pytest.mark.pi(entry_points=[], session={"ui": None})
@limited("run", requests=2)
async def test_limits_that_no_plugin_keeps_refuse_every_run(pi_session: AgentSession) -> None:
    answer = await pi_session.prompt("go")

    assert answer is not None
    assert "guardrails.limits are kept by the plugin 'budgets', which is not loaded" in (answer.error_message or "")
