"""Local models that repeat themselves or say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from pi_hookspecs import ToolAnnotations
from pi_testing import make_tool, text, tool_call

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import FakeTool, ScriptedProvider


@pytest.fixture
def local(pi_session: AgentSession) -> AgentSession:
    pi_session.agent.state.model = evolve(pi_session.agent.state.model, base_url="http://127.0.0.1:8080/v1")
    return pi_session


async def test_the_second_equal_call_with_an_equal_result_gets_a_word(
    local: AgentSession, script: ScriptedProvider
) -> None:
    script.turn(tool_call("bash", command="ls")).turn(tool_call("bash", command="ls")).turn(text("Two files."))

    answer = await local.prompt("go")

    assert answer is not None
    assert answer.text == "Two files."
    assert "the same call of bash before" not in str(script.requests[1].messages)
    assert "the same call of bash before" in str(script.requests[2].messages[-1].content)


async def test_the_third_ends_the_run(
    local: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    for _ in range(5):
        script.turn(tool_call("bash", command="ls"))

    await local.prompt("go")

    assert len(fake_tools["bash"].calls) == 3
    assert len(script.requests) == 3


async def test_a_call_of_a_tool_that_is_not_there_counts_too(local: AgentSession, script: ScriptedProvider) -> None:
    for _ in range(5):
        script.turn(tool_call("nowhere", a=1))

    await local.prompt("go")

    assert len(script.requests) == 3


async def test_calls_that_differ_or_do_not_follow_one_another_do_not_count(
    local: AgentSession, script: ScriptedProvider
) -> None:
    for command in ("ls", "pwd", "ls", "pwd", "ls"):
        script.turn(tool_call("bash", command=command))
    script.turn(text("Done."))

    answer = await local.prompt("go")

    assert answer is not None
    assert answer.text == "Done."
    assert "before" not in str(script.requests[-1].messages)


async def test_a_new_prompt_counts_from_the_beginning(local: AgentSession, script: ScriptedProvider) -> None:
    for _ in range(3):
        script.turn(tool_call("bash", command="ls")).turn(text("Done."))
        answer = await local.prompt("go")
        assert answer is not None
        assert answer.text == "Done."


WAITS = evolve(make_tool("poll"), annotations=ToolAnnotations(waits=True))


@pytest.mark.pi(tools=[WAITS])
async def test_a_tool_that_waits_does_not_count(local: AgentSession, script: ScriptedProvider) -> None:
    for _ in range(5):
        script.turn(tool_call("poll"))
    script.turn(text("Done."))

    answer = await local.prompt("go")

    assert answer is not None
    assert answer.text == "Done."


async def test_a_model_elsewhere_is_left_alone(pi_session: AgentSession, script: ScriptedProvider) -> None:
    for _ in range(4):
        script.turn(tool_call("bash", command="ls"))
    script.turn(text("Done."))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert answer.text == "Done."


async def test_an_empty_answer_is_asked_again_once(local: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("")).turn(text("Here it is."))

    answer = await local.prompt("go")

    assert answer is not None
    assert answer.text == "Here it is."
    assert "Your answer was empty" in str(script.requests[1].messages[-1].content)


async def test_a_second_empty_answer_is_the_answer(local: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("")).turn(text(""))

    await local.prompt("go")

    assert len(script.requests) == 2
