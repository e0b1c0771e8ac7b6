"""Calls that a model writes as text, in a session: they run as any call, and what is none becomes a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from pi_hookspecs import ToolCallResult, hookimpl
from pi_testing import text

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import EventRecorder, FakeTool, FakeUI, ScriptedProvider

CALL = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'


class Guard:
    """Refuses every call of bash."""

    @hookimpl
    def tool_call(self, event):
        return ToolCallResult(block=True, reason="No programs here.")


@pytest.fixture
def local(pi_session: AgentSession) -> AgentSession:
    pi_session.agent.state.model = evolve(pi_session.agent.state.model, base_url="http://127.0.0.1:8080/v1")
    return pi_session


async def test_a_call_that_was_written_as_text_runs_and_the_model_gets_its_result(
    local: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], recorder: EventRecorder
) -> None:
    local.subscribe(recorder)
    script.turn(text(f"I will look.\n{CALL}")).turn(text("There are two files."))

    answer = await local.prompt("which files are here?")

    assert answer is not None
    assert answer.text == "There are two files."
    assert fake_tools["bash"].calls == [{"command": "ls"}]
    assert len(script.requests[1].tool_results) == 1
    assert [block.type for block in script.requests[1].messages[1].content] == ["text", "toolCall"]
    shown = [event.assistant_message_event for event in recorder.events if event.type == "message_update"]
    assert "<tool_call>" not in "".join(event.delta for event in shown if event.type == "text_delta")


async def test_a_model_elsewhere_needs_unmistakable_marks(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    script.turn(text(CALL)).turn(text('[TOOL_CALLS]bash[ARGS]{"command": "pwd"}')).turn(text("Done."))

    first = await pi_session.prompt("go")
    await pi_session.prompt("go on")

    assert first is not None
    assert first.text == CALL
    assert fake_tools["bash"].calls == [{"command": "pwd"}]


@pytest.mark.pi(plugins={"guard": Guard()}, entry_points=["written-calls"])
async def test_a_guard_refuses_a_written_call_like_any_other(
    local: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    script.turn(text(CALL)).turn(text("Then not."))

    await local.prompt("go")

    assert fake_tools["bash"].calls == []
    assert "No programs here." in script.requests[1].tool_results[0].text


@pytest.mark.pi(settings={"writtenCalls": {"mode": "ask"}})
@pytest.mark.parametrize("allowed", [True, False])
async def test_the_user_is_asked_if_the_setting_says_so(
    local: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI, allowed: bool
) -> None:
    fake_ui.answers(allowed)
    script.turn(text(CALL)).turn(text("Done."))

    await local.prompt("go")

    assert [each[:2] for each in fake_ui.asked] == [("confirm", "Run bash?")]
    assert fake_tools["bash"].calls == ([{"command": "ls"}] if allowed else [])


async def test_the_user_is_asked_as_soon_as_the_setting_says_so(
    local: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], fake_ui: FakeUI
) -> None:
    fake_ui.answers(False)
    script.turn(text(CALL)).turn(text("Done.")).turn(text(CALL)).turn(text("Not this time."))

    await local.prompt("go")
    local.settings.set("writtenCalls.mode", "ask")
    await local.prompt("again, with another word")

    assert [each[:2] for each in fake_ui.asked] == [("confirm", "Run bash?")]
    assert len(fake_tools["bash"].calls) == 1


@pytest.mark.pi(settings={"writtenCalls": {"mode": "ask"}}, session={"ui": None})
async def test_without_a_user_to_ask_a_written_call_is_refused(
    local: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    script.turn(text(CALL)).turn(text("Done."))

    await local.prompt("go")

    assert fake_tools["bash"].calls == []
    assert "nobody can be asked" in script.requests[1].tool_results[0].text


@pytest.mark.pi(settings={"writtenCalls": {"mode": "off"}})
async def test_turned_off_a_written_call_is_the_answer(local: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text(CALL))

    answer = await local.prompt("go")

    assert answer is not None
    assert answer.text == CALL


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (CALL.replace("bash", "browser"), "there is no tool 'browser'"),
        ('{"name": "subtract", "arguments": {"a": 1}}', "there is no tool 'subtract'"),
        (CALL.replace('"ls"}}', ""), "the call is incomplete, or its form is wrong"),
        ('```json\n{"name": "bash", "arguments": {"command": "ls\n```', "the call is incomplete, or its form is wrong"),
    ],
)
async def test_a_text_that_means_a_call_and_is_none_becomes_a_hint_for_the_model(
    local: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool], written: str, said: str
) -> None:
    script.turn(text(written)).turn(text(CALL)).turn(text("Two files."))

    answer = await local.prompt("which files are here?")

    assert answer is not None
    assert answer.text == "Two files."
    hint = script.requests[1].messages[-1]
    assert said in str(hint.content)
    assert "bash" in str(hint.content)
    assert fake_tools["bash"].calls == [{"command": "ls"}]


async def test_a_model_that_does_not_understand_the_hint_ends_after_two(
    local: AgentSession, script: ScriptedProvider
) -> None:
    wrong = CALL.replace("bash", "browser")
    script.turn(text(wrong)).turn(text(wrong)).turn(text(wrong))

    answer = await local.prompt("go")

    assert answer is not None
    assert answer.text == wrong
    assert len(script.requests) == 3
