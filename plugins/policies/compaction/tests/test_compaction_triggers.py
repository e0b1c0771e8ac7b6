"""When a session is compacted without being asked, and when it is not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

import pi_compaction
from pi_compaction.limits import Limits, limits_of
from pi_compaction.triggers import OVERFLOWED_AGAIN
from pi_hookspecs import AssistantMessage, SessionBeforeCompactResult, hookimpl
from pi_testing import error, make_tool, stall, stop, text, tool_call, usage

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import EventRecorder, FakeTool, ScriptedProvider, Step

WINDOW = 10_000
FULL = 8_000
SETTINGS = {"compaction": {"reserveTokens": 2_000, "keepRecentTokens": 100}}
LONG = "All of the words that were said. " * 40
TOO_LONG = "prompt is too long: 10001 tokens > 10000 maximum"

pytestmark = pytest.mark.pi(plugins={"compaction": pi_compaction}, settings=SETTINGS)


@pytest.fixture
def script(script: ScriptedProvider) -> ScriptedProvider:
    script.model = evolve(script.model, context_window=WINDOW, max_tokens=1_000)
    script.info = evolve(script.info, models=(script.model,))
    return script


@pytest.fixture
def recorded(pi_session: AgentSession, recorder: EventRecorder) -> EventRecorder:
    pi_session.subscribe(recorder)
    return recorder


def compactions(recorder: EventRecorder) -> list[tuple[Any, ...]]:
    """The end events of compactions: reason, whether one was made, whether the prompt continues, the error."""
    ends = [event for event in recorder.events if event.type == "compaction_end"]
    return [(end.reason, end.result is not None, end.will_retry, end.error_message) for end in ends]


def sums_up(request: Any) -> Step:
    assert request.tools == ()
    return text("Short.")


async def talk(session: AgentSession, script: ScriptedProvider, tokens: int = 1000) -> None:
    script.turn(text(f"Yes. {LONG}"), usage(input=tokens, output=300))
    await session.prompt(f"Say. {LONG}")


async def test_a_small_context_is_left_alone(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script, FULL - 300)

    assert compactions(recorded) == []


async def test_a_full_context_is_compacted_after_the_run(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(text(LONG), usage(input=FULL, output=300)).turn(sums_up).turn(sums_up)

    answer = await pi_session.prompt(LONG)

    assert answer.text == LONG
    assert compactions(recorded) == [("threshold", True, False, None)]
    assert recorded.events[-1].type == "agent_settled"


async def test_the_window_is_not_known_full_again_before_the_next_answer(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await test_a_full_context_is_compacted_after_the_run(pi_session, script, recorded)

    assert pi_session.ctx.context_usage().tokens is None
    await talk(pi_session, script)
    assert len(compactions(recorded)) == 1


async def test_a_full_context_is_compacted_before_the_prompt(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    pi_session.set_auto_compaction_enabled(False)
    await talk(pi_session, script)
    await talk(pi_session, script, FULL)
    pi_session.set_auto_compaction_enabled(True)
    pi_session.agent.set_model(evolve(script.model, context_window=WINDOW - 1))
    script.turn(sums_up).turn(sums_up).turn(text("Here."))

    answer = await pi_session.prompt("And now? " + "word " * 3000)

    assert answer.text == "Here."
    assert compactions(recorded)[-1] == ("threshold", True, False, None)
    assert "<summary>" in script.requests[-1].messages[0].text


async def test_a_full_context_is_compacted_after_an_aborted_answer(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script, FULL - 700)
    script.turn(text(LONG), stall())
    prompting = asyncio.create_task(pi_session.prompt(LONG))
    await script.stalled()
    await pi_session.abort()
    await prompting
    before = compactions(recorded)
    script.turn(sums_up).turn(sums_up).turn(text("Here."))

    await pi_session.prompt("Go on.")

    assert before == []
    assert script.requests[-1].user_text == "Go on."
    assert compactions(recorded) == [("threshold", True, False, None)]


@pytest.fixture
def fake_tools() -> dict[str, FakeTool]:
    return {"read": make_tool("read", "x" * 2000)}


async def test_a_full_context_is_compacted_between_turns(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(tool_call("read", path="a"), usage(input=1000, output=10))
    script.turn(tool_call("read", path="b"), usage(input=FULL, output=10))
    script.turn(sums_up).turn(text("Done."), usage(input=900, output=10))

    answer = await pi_session.prompt("Read them.")

    assert answer.text == "Done."
    assert compactions(recorded) == [("threshold", True, False, None)]
    assert [message.role for message in script.requests[-1].messages] == ["user", "assistant", "toolResult"]


async def test_messages_that_are_queued_meanwhile_are_delivered_afterwards(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    def sums_up_slowly(request: Any) -> Step:
        pi_session.steer("Also c.")
        return sums_up(request)

    script.turn(tool_call("read", path="a"), usage(input=1000, output=10))
    script.turn(tool_call("read", path="b"), usage(input=FULL, output=10))
    script.turn(sums_up_slowly).turn(text("Done."), usage(input=900, output=10))

    await pi_session.prompt("Read them.")

    assert script.requests[-1].user_text == "Also c."
    assert len(compactions(recorded)) == 1


async def test_without_usage_everything_is_estimated(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    for _ in range(2):
        script.turn(text("x" * 7000))
        await pi_session.prompt("x" * 7000)
    assert compactions(recorded) == []
    script.turn(sums_up).turn(text("Here."))

    await pi_session.prompt("x" * 7000)

    assert compactions(recorded) == [("threshold", True, False, None)]


@pytest.mark.pi(settings={"compaction": {"enabled": False}})
async def test_the_setting_turns_all_of_it_off(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    await talk(pi_session, script, FULL)
    script.turn(error(TOO_LONG))

    await pi_session.prompt("more")

    assert compactions(recorded) == []


def overrides(name: str) -> Any:
    own = {"reserveTokens": 4_900, "keepRecentTokens": 7, "enabled": False}
    return pytest.param(marks=pytest.mark.pi(settings={"compaction": {"modelOverrides": {name: own}}}), id=name)


@pytest.mark.parametrize((), [overrides("scripted/model"), overrides("model")])
async def test_a_model_has_limits_of_its_own(pi_session: AgentSession) -> None:
    limits = limits_of(pi_session.ctx)

    assert limits == Limits(enabled=False, window=WINDOW, reserve=4_900, keep=7)


@pytest.mark.pi(settings={})
async def test_a_small_window_reserves_no_more_than_half(pi_session: AgentSession) -> None:
    limits = limits_of(pi_session.ctx)

    assert limits is not None
    assert (limits.reserve, limits.keep, limits.full) == (WINDOW // 2, 20_000, WINDOW // 2)


# Overflow


async def test_an_overflow_is_compacted_and_tried_again(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(error(TOO_LONG)).turn(sums_up).turn(text("Here."))

    answer = await pi_session.prompt(LONG)

    assert answer.text == "Here."
    assert compactions(recorded) == [("overflow", True, True, None)]
    assert [message.role for message in script.requests[-1].messages] == ["user", "user"]
    kinds = [entry.type for entry in pi_session.session_manager.get_branch()]
    assert kinds[-3:] == ["compaction", "context_edit", "message"]


async def test_a_second_overflow_ends_the_prompt(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(error(TOO_LONG)).turn(sums_up).turn(error(TOO_LONG))

    answer = await pi_session.prompt(LONG)

    assert answer.error_message == TOO_LONG
    assert compactions(recorded) == [("overflow", True, True, None), ("overflow", False, False, OVERFLOWED_AGAIN)]
    assert script.remaining == 0


async def test_the_next_prompt_may_recover_again(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    for _ in range(2):
        script.turn(error(TOO_LONG)).turn(sums_up).turn(text(LONG), usage(input=1000, output=300))
        await pi_session.prompt(LONG)

    assert [each[:3] for each in compactions(recorded)] == [("overflow", True, True)] * 2


async def test_an_overflow_with_nothing_to_compact_is_the_providers_error(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(error(TOO_LONG))

    answer = await pi_session.prompt("x" * 50_000)

    assert answer.error_message == TOO_LONG
    assert compactions(recorded) == [("overflow", False, False, None)]
    assert len(script.requests) == 1


async def test_an_overflow_text_in_a_429_is_no_overflow(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(error("429 Too many requests: prompt is too long for your tokens per minute"))

    await pi_session.prompt(LONG)

    assert compactions(recorded) == []


async def test_an_answer_beyond_the_window_is_kept_and_its_context_compacted(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(text(LONG), usage(input=WINDOW + 1, output=300)).turn(sums_up).turn(sums_up)

    answer = await pi_session.prompt(LONG)

    assert answer.text == LONG
    assert compactions(recorded) == [("overflow", True, False, None)]


async def test_a_truncated_answer_is_given_again_once(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(text("Half an"), usage(input=9_900, output=100), stop("length"))
    script.turn(sums_up).turn(text("A whole answer."), usage(input=500, output=10))

    answer = await pi_session.prompt(LONG)

    assert answer.text == "A whole answer."
    assert compactions(recorded) == [("overflow", True, True, None)]
    assert "Half an" not in [getattr(message, "text", "") for message in script.requests[-1].messages]


async def test_an_answer_as_long_as_the_model_can_is_not_given_again(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(text("Much"), usage(input=3_000, output=1_000), stop("length"))

    await pi_session.prompt(LONG)

    assert compactions(recorded) == []


async def test_an_overflow_of_another_model_does_not_affect_this_one(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    pi_session.set_auto_compaction_enabled(False)
    await talk(pi_session, script)
    script.turn(error(TOO_LONG))
    await pi_session.prompt(LONG)
    pi_session.set_auto_compaction_enabled(True)
    await pi_session.set_model(evolve(script.model, id="other", name="Other"))
    script.turn(text("Here."))

    await pi_session.prompt("again")

    assert compactions(recorded) == []


# Failures


async def test_a_failed_compaction_is_reported_once_and_the_run_continues(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(tool_call("read", path="a"), usage(input=1000, output=10))
    script.turn(tool_call("read", path="b"), usage(input=FULL, output=10))
    script.turn(error("500 no summary today"))
    script.turn(tool_call("read", path="c"), usage(input=FULL + 20, output=10)).turn(text("Done."))

    answer = await pi_session.prompt("Read them.")

    assert answer.text == "Done."
    reported = [each for each in compactions(recorded) if each[3]]
    assert reported == [
        ("threshold", False, False, "Compaction failed: Turn prefix summarization failed: 500 no summary today")
    ]


class Cancels:
    @hookimpl
    def session_before_compact(self) -> Any:
        return SessionBeforeCompactResult(cancel=True)


@pytest.mark.pi(plugins={"compaction": pi_compaction, "cancels": Cancels()}, settings=SETTINGS)
async def test_a_plugin_may_cancel_and_the_prompt_goes_on(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    await talk(pi_session, script, FULL)
    await talk(pi_session, script, FULL)

    ends = [event for event in recorded.events if event.type == "compaction_end"]
    assert [end.aborted for end in ends] == [True]


async def test_what_was_undone_is_not_done_again_at_once(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await test_a_full_context_is_compacted_after_the_run(pi_session, script, recorded)
    await pi_session.prompt("/compact undo")
    script.turn(text("Here."), usage(input=FULL + 350, output=10))

    await pi_session.prompt("And?")

    assert len(compactions(recorded)) == 1
    answers = [message for message in script.requests[-1].messages if isinstance(message, AssistantMessage)]
    assert len(answers) == 2


async def test_a_compaction_by_hand_takes_the_place_of_one_that_runs(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    await talk(pi_session, script)
    script.turn(text(LONG), usage(input=FULL, output=300)).turn(text("Sh"), stall()).turn(sums_up).turn(sums_up)
    prompting = asyncio.create_task(pi_session.prompt(LONG))
    await script.stalled()

    made = await pi_session.compact()
    await prompting

    assert made.summary.endswith("Short.")
    ends = [(end.reason, end.aborted) for end in recorded.events if end.type == "compaction_end"]
    assert ends == [("threshold", True), ("manual", False)]


async def test_two_by_hand_at_once_are_one_after_the_other(pi_session: AgentSession, script: ScriptedProvider) -> None:
    await talk(pi_session, script)
    await talk(pi_session, script)
    script.turn(sums_up).turn(sums_up)

    first, second = await asyncio.gather(pi_session.compact(), pi_session.compact(), return_exceptions=True)

    assert first.summary.endswith("Short.")
    assert str(second) == "Already compacted"


async def test_an_overflow_right_after_a_compaction_keeps_less(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    for _ in range(4):
        await talk(pi_session, script)
    script.turn(sums_up).turn(sums_up)
    await pi_session.compact()
    kept = len(pi_session.messages)
    script.turn(error(TOO_LONG)).turn(sums_up).turn(text("Here."))

    answer = await pi_session.prompt("And?")

    assert answer.text == "Here."
    assert len(script.requests[-1].messages) <= kept
    assert compactions(recorded)[-1] == ("overflow", True, True, None)


async def test_a_compaction_that_points_nowhere_is_compacted_anew(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    await talk(pi_session, script)
    pi_session.session_manager.append_compaction("So far.", "deadbeef", 10)
    await talk(pi_session, script)
    script.turn(sums_up)

    made = await pi_session.compact()

    assert made.summary.startswith("So far.\n\n---")
