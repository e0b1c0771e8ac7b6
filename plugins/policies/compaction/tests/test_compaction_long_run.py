"""A tool loop of 200 turns in a window of 16,000 tokens: with the plugin it finishes, without it ends in an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

import pi_compaction
from pi_core import estimate_tokens
from pi_testing import error, make_tool, text, tool_call, usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import AgentSession
    from pi_testing import EventRecorder, FakeTool, Request, ScriptedProvider, Step

pytestmark = pytest.mark.slow

WINDOW = 16_000
TURNS = 200
GOAL = "Rename every module of the project and keep the tests green."


def size_of(request: Request) -> int:
    return len(request.system_prompt) // 4 + sum(map(estimate_tokens, request.messages))


def is_summary(request: Request) -> bool:
    return not request.tools and "<conversation>" in request.user_text


class LongRun:
    """Answers as a model would: calls a tool for so many turns, sums up when asked, refuses what does not fit."""

    def __init__(self, *, counts_tokens: bool) -> None:
        self.turns = 0
        self.sizes: list[int] = []
        self._counts = counts_tokens

    def __call__(self, request: Request) -> Sequence[Step]:
        size = size_of(request)
        self.sizes.append(size)
        if size > WINDOW:
            return [error(f"prompt is too long: {size} tokens > {WINDOW} maximum")]
        usages = [usage(input=size, output=50)] if self._counts else []
        if is_summary(request):
            goals = re.findall(r"(?:\[User\]|goal): (.*)", request.user_text)
            return [text(f"## Goal\ngoal: {goals[0] if goals else 'unknown'}"), *usages]
        self.turns += 1
        if self.turns > TURNS:
            return [text("All modules are renamed."), *usages]
        name = "edit" if self.turns % 2 else "read"
        return [text(f"Turn {self.turns}."), tool_call(name, path=f"src/module_{self.turns:03}.py"), *usages]


def output_of(arguments: dict[str, Any]) -> str:
    return f"{arguments['path']}: " + "a line of source\n" * 60


@pytest.fixture
def fake_tools() -> dict[str, FakeTool]:
    return {name: make_tool(name, output_of) for name in ("read", "edit")}


async def run(session: AgentSession, script: ScriptedProvider, model: LongRun) -> Any:
    await session.set_model(evolve(script.model, context_window=WINDOW, max_tokens=4_000))
    for _ in range(2 * TURNS):
        script.turn(model)
    return await session.prompt(GOAL)


@pytest.mark.parametrize("counts_tokens", [True, False], ids=["usage", "no-usage"])
@pytest.mark.pi(plugins={"compaction": pi_compaction})
async def test_two_hundred_turns_fit_a_small_window(
    counts_tokens: bool, pi_session: AgentSession, script: ScriptedProvider
) -> None:
    model = LongRun(counts_tokens=counts_tokens)

    answer = await run(pi_session, script, model)

    assert answer.text == "All modules are renamed."
    assert max(model.sizes) < WINDOW
    compactions = [entry for entry in pi_session.session_manager.get_branch() if entry.type == "compaction"]
    assert len(compactions) > 3
    last = compactions[-1]
    assert GOAL in last.summary
    gone = script.requests[-1].messages[0].text
    changed = {f"src/module_{turn:03}.py" for turn in range(1, TURNS + 1, 2)}
    still_sent = {
        call.arguments["path"]
        for message in script.requests[-1].messages
        if message.role == "assistant"
        for call in message.tool_calls
    }
    listed = set(last.summary.split("<modified-files>\n")[1].split("\n</modified-files>")[0].splitlines())
    assert changed - still_sent <= listed <= changed
    assert last.summary in gone


@pytest.mark.pi(plugins=[])
async def test_without_the_plugin_the_run_ends_in_a_clear_error(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    model = LongRun(counts_tokens=True)

    answer = await run(pi_session, script, model)

    assert answer.stop_reason == "error"
    assert "prompt is too long" in answer.error_message
    assert len([size for size in model.sizes if size > WINDOW]) == 1


@pytest.mark.pi(plugins={"compaction": pi_compaction})
async def test_calls_and_results_stay_together_in_every_request(
    pi_session: AgentSession, script: ScriptedProvider, recorder: EventRecorder
) -> None:
    pi_session.subscribe(recorder)

    await run(pi_session, script, LongRun(counts_tokens=False))

    for request in script.requests:
        calls = [call.id for each in request.messages if each.role == "assistant" for call in each.tool_calls]
        results = [each.tool_call_id for each in request.messages if each.role == "toolResult"]
        assert calls == results
    reasons = {event.reason for event in recorder.events if event.type == "compaction_end" and event.result}
    assert reasons == {"threshold"}
