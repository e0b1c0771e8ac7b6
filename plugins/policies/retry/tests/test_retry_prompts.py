"""A prompt whose requests fail: what is retried, what is reported, and what stays in the session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

import pi_retry
from pi_hookspecs import AssistantMessage, Context, SideRequest, UserMessage, VirtualModel
from pi_testing import error, text, tool_call

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import EventRecorder, FakeUI, ScriptedProvider

QUICK = {"retry": {"baseDelayMs": 1}}
OVERLOADED = "529 Overloaded"

pytestmark = pytest.mark.pi(plugins={"retry": pi_retry}, settings=QUICK)


def retries(recorder: EventRecorder) -> list[tuple[object, ...]]:
    reported: list[tuple[object, ...]] = []
    for event in recorder.events:
        if event.type == "auto_retry_start":
            reported.append(("start", event.attempt, event.max_attempts, event.delay_ms))
        elif event.type == "auto_retry_end":
            reported.append(("end", event.success, event.attempt, event.final_error))
    return reported


@pytest.fixture
def recorded(pi_session: AgentSession, recorder: EventRecorder) -> EventRecorder:
    pi_session.subscribe(recorder)
    return recorder


async def test_an_overloaded_provider_is_asked_again(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(error(OVERLOADED)).turn(error(OVERLOADED)).turn(text("Here I am."))

    answer = await pi_session.prompt("hello")

    assert answer is not None
    assert answer.text == "Here I am."
    assert retries(recorded) == [("start", 1, 3, 1), ("start", 2, 3, 2), ("end", True, 2, None)]


async def test_the_model_never_sees_the_failed_answers(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("half an ans"), error(OVERLOADED)).turn(text("whole"))

    await pi_session.prompt("hello")

    assert [message.role for message in script.requests[1].messages] == ["user"]


async def test_the_session_keeps_the_failed_answers(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(error(OVERLOADED)).turn(text("whole"))

    await pi_session.prompt("hello")

    branch = pi_session.session_manager.get_branch()
    answers = [entry.message for entry in branch if entry.type == "message" and entry.message.role == "assistant"]
    edits = [entry for entry in branch if entry.type == "context_edit"]
    assert [answer.stop_reason for answer in answers] == ["error", "stop"]
    assert [(edit.target_id, edit.replacement) for edit in edits] == [
        (next(entry.id for entry in branch if entry.type == "message" and entry.message == answers[0]), None)
    ]


async def test_what_is_tried_again_comes_without_advice_to_do_so(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    refused = '529 {"error":{"message":"Overloaded"}}'
    script.turn(error(f"{refused}\nSend the prompt again.")).turn(text("fine"))

    await pi_session.prompt("hello")

    assert [event.error_message for event in recorded.events if event.type == "auto_retry_start"] == [refused]


async def test_after_the_last_attempt_the_prompt_ends_with_the_error(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    for _ in range(4):
        script.turn(error(OVERLOADED))

    answer = await pi_session.prompt("hello")

    assert answer is not None
    assert answer.stop_reason == "error"
    assert len(script.requests) == 4
    assert retries(recorded)[-1] == ("end", False, 3, OVERLOADED)


async def test_the_end_of_a_run_says_whether_it_is_tried_again(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(error(OVERLOADED)).turn(text("fine"))

    await pi_session.prompt("hello")

    ends = [event.will_retry for event in recorded.events if event.type == "agent_end"]
    assert ends == [True, False]
    assert [event.type for event in recorded.events].count("agent_settled") == 1


async def test_each_prompt_counts_its_own_attempts(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(error(OVERLOADED)).turn(text("one")).turn(error(OVERLOADED)).turn(text("two"))

    await pi_session.prompt("first")
    await pi_session.prompt("second")

    assert [attempt for kind, attempt, *_ in retries(recorded) if kind == "start"] == [1, 1]


async def test_a_tool_loop_goes_on_after_a_retry(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(tool_call("ls")).turn(error(OVERLOADED)).turn(text("done"))

    answer = await pi_session.prompt("look")

    assert answer is not None
    assert answer.text == "done"
    assert [message.role for message in script.requests[2].messages] == ["user", "assistant", "toolResult"]


@pytest.mark.parametrize(
    "message",
    ["401 invalid x-api-key", "429 insufficient_quota", "400 prompt is too long", "400 no such field"],
)
async def test_what_waiting_does_not_mend_is_not_tried_again(
    message: str, pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(error(message))

    await pi_session.prompt("hello")

    assert len(script.requests) == 1
    assert retries(recorded) == []


@pytest.mark.pi(settings={"retry": {"enabled": False}})
async def test_the_setting_turns_retries_off(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(error(OVERLOADED))

    await pi_session.prompt("hello")

    assert len(script.requests) == 1


async def test_a_session_can_turn_retries_off(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(error(OVERLOADED))
    pi_session.set_auto_retry_enabled(False)

    await pi_session.prompt("hello")

    assert len(script.requests) == 1


@pytest.mark.pi(settings={"retry": {"baseDelayMs": 60_000}})
async def test_a_retry_that_is_waited_for_can_be_given_up(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(error(OVERLOADED))
    waiting = asyncio.create_task(pi_session.prompt("hello"))
    await recorded.wait_for("auto_retry_start")
    await asyncio.sleep(0)  # reported first, then waited for
    assert pi_session.is_retrying

    pi_session.abort_retry()
    answer = await waiting

    assert answer is not None
    assert answer.stop_reason == "error"
    assert retries(recorded)[-1] == ("end", False, 1, "Retry cancelled")


@pytest.mark.pi(settings={"retry": {"baseDelayMs": 60_000}})
async def test_an_abort_ends_the_wait(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    script.turn(error(OVERLOADED))
    waiting = asyncio.create_task(pi_session.prompt("hello"))
    await recorded.wait_for("auto_retry_start")
    await asyncio.sleep(0)  # reported first, then waited for
    assert pi_session.is_retrying

    await pi_session.abort()
    await waiting

    assert retries(recorded)[-1] == ("end", False, 1, "Retry cancelled")
    assert recorded.events[-1].type == "agent_settled"
    assert recorded.events[-1].aborted


@pytest.mark.pi(settings={"retry": {"baseDelayMs": 1000, "maxDelayMs": 5000}})
@pytest.mark.parametrize(("attempt", "delay"), [(1, 1000), (2, 2000), (3, 4000)])
def test_the_wait_doubles(attempt: int, delay: int, pi_session: AgentSession) -> None:
    decision = pi_retry.register_services()[0].decide(failed("503"), attempt, pi_session.ctx)

    assert decision is not None
    assert decision.delay_ms == delay


@pytest.mark.pi(settings={"retry": {"baseDelayMs": 4000, "maxDelayMs": 5000}})
def test_the_wait_is_clamped(pi_session: AgentSession) -> None:
    decision = pi_retry.register_services()[0].decide(failed("503"), 2, pi_session.ctx)

    assert decision is not None
    assert decision.delay_ms == 5000


def test_the_server_says_how_long_to_wait(pi_session: AgentSession) -> None:
    decision = pi_retry.register_services()[0].decide(failed("429 rate limit", 7000), 1, pi_session.ctx)

    assert decision is not None
    assert decision.delay_ms == 7000


@pytest.mark.parametrize(("attempt", "delay"), [(1, 2000), (2, 4000), (3, 8000)])
@pytest.mark.parametrize("hint", [0, 1, 1999])
@pytest.mark.pi(settings={})
def test_a_server_that_asks_for_less_does_not_shorten_the_wait(
    attempt: int, delay: int, hint: int, pi_session: AgentSession
) -> None:
    decision = pi_retry.register_services()[0].decide(failed("503 overloaded", hint), attempt, pi_session.ctx)

    assert decision is not None
    assert decision.delay_ms == delay


@pytest.mark.pi(settings={})
def test_words_of_the_server_do_not_shorten_the_wait_either(pi_session: AgentSession) -> None:
    decision = pi_retry.register_services()[0].decide(failed("429 rate limit, retry in 0s"), 1, pi_session.ctx)

    assert decision is not None
    assert decision.delay_ms == 2000


def test_a_server_that_wants_more_than_a_minute_is_not_waited_for(pi_session: AgentSession) -> None:
    assert pi_retry.register_services()[0].decide(failed("429 rate limit", 61_000), 1, pi_session.ctx) is None


@pytest.mark.pi(settings={"retry": {"provider": {"maxRetryDelayMs": 120_000}}})
def test_how_long_a_server_is_waited_for_is_a_setting(pi_session: AgentSession) -> None:
    decision = pi_retry.register_services()[0].decide(failed("429 rate limit", 61_000), 1, pi_session.ctx)

    assert decision is not None
    assert decision.delay_ms == 61_000


def failed(text: str, retry_after_ms: int | None = None) -> AssistantMessage:
    extra = {} if retry_after_ms is None else {"requestFailure": {"retryAfterMs": retry_after_ms}}
    return AssistantMessage(
        api="scripted", provider="scripted", model="m", stop_reason="error", error_message=text, extra=extra
    )


@pytest.mark.pi(settings={"retry": {"maxRetries": 1, "baseDelayMs": 1, "failover": ["scripted/second"]}})
async def test_another_model_goes_on_where_the_first_gave_up(
    pi_session: AgentSession, script: ScriptedProvider, recorded: EventRecorder
) -> None:
    offer_second(pi_session, script)
    refused = '529 {"error":{"message":"Overloaded"}}\nSend the prompt again.'
    script.turn(error(refused)).turn(error(refused)).turn(text("from the second"))

    answer = await pi_session.prompt("hello")

    assert answer is not None
    assert answer.text == "from the second"
    assert script.requests[2].model.id == "second"
    starts = [event.error_message for event in recorded.events if event.type == "auto_retry_start"]
    assert starts[-1].endswith("failed (overload: Overloaded); continuing with scripted/second")


def offer_second(pi_session: AgentSession, script: ScriptedProvider) -> None:
    pi_session.models.register_provider(
        "scripted", evolve(pi_session.models.provider("scripted"), models=(script.model, second(script)))
    )


@pytest.mark.pi(settings={"retry": {"maxRetries": 0, "failover": ["museum/gone", "Second", "scripted/second"]}})
async def test_the_models_that_go_on_come_to_an_end_however_they_are_named(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    offer_second(pi_session, script)
    script.turn(error(OVERLOADED)).turn(error(OVERLOADED))

    answer = await pi_session.prompt("hello")

    assert answer is not None
    assert answer.stop_reason == "error"
    assert [request.model.id for request in script.requests] == [script.model.id, "second"]
    assert any("museum/gone" in notice.message for notice in fake_ui.notices)


@pytest.mark.pi(settings={"retry": {"maxRetries": 1, "baseDelayMs": 1, "failover": ["scripted/second"]}})
async def test_a_side_request_changes_no_model_and_ends(pi_session: AgentSession, script: ScriptedProvider) -> None:
    offer_second(pi_session, script)
    script.turn(error(OVERLOADED)).turn(error(OVERLOADED))

    answer = await pi_session.complete(Context(messages=(UserMessage(content="sum"),)), SideRequest(purpose="title"))

    assert answer.stop_reason == "error"
    assert len(script.requests) == 2
    assert pi_session.model == script.model


@pytest.mark.pi(settings={"retry": {"maxRetries": 0, "failover": ["scripted/model", "scripted/second"]}})
async def test_after_a_virtual_model_the_model_behind_the_one_that_failed_goes_on(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    offer_second(pi_session, script)
    auto = VirtualModel(provider="router", id="auto", name="Auto", route=lambda request, ctx: (script.model, None))
    pi_session.models.register_provider("router", auto)
    await pi_session.set_model(pi_session.models.find("router/auto"))
    script.turn(error(OVERLOADED)).turn(text("from the second"))

    answer = await pi_session.prompt("hello")

    assert answer is not None
    assert answer.text == "from the second"
    assert [request.model.id for request in script.requests] == ["model", "second"]


def second(script: ScriptedProvider) -> object:
    return evolve(script.model, id="second", name="Second")
