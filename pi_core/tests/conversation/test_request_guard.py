"""A guard of requests: it is asked before anything is spent, and what it refuses is not made."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pi_core import UsageLimits
from pi_core.conversation.prompt_call import PromptCall
from pi_hookspecs import (
    BeforeModelRequestResult,
    Context,
    ContextResult,
    RetryDecision,
    SideRequest,
    UserMessage,
    hookimpl,
)
from pi_testing import error, for_each, stall, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core import AgentSession
    from pi_hookspecs import AssistantMessage, BeforeModelRequestEvent, PiContext
    from pi_testing import ScriptedProvider


class Guard:
    """Refuses the requests that the test selects, and keeps all of them."""

    def __init__(self, refuses: Callable[[BeforeModelRequestEvent], object]) -> None:
        self.refuses = refuses
        self.asked: list[BeforeModelRequestEvent] = []

    @hookimpl
    def before_model_request(self, event: BeforeModelRequestEvent) -> object:
        self.asked.append(event)
        return self.refuses(event)


def over_budget(_event: BeforeModelRequestEvent) -> BeforeModelRequestResult:
    return BeforeModelRequestResult(block=True, reason="rate limit: the budget is used up", exit_code=4)


def nothing(_event: BeforeModelRequestEvent) -> None:
    return None


def crash(_event: BeforeModelRequestEvent) -> None:
    raise OSError("no ledger")


@pytest.fixture
def refuses() -> Callable[[BeforeModelRequestEvent], object]:
    return nothing


@pytest.fixture
def guard(refuses: Callable[[BeforeModelRequestEvent], object]) -> Guard:
    return Guard(refuses)


class Repeats:
    """Repeats each failed request."""

    def __init__(self) -> None:
        self.asked = 0

    @hookimpl
    def register_services(self) -> list[object]:
        return [self]

    def decide(self, answer: AssistantMessage, attempt: int, ctx: PiContext) -> RetryDecision | None:
        self.asked += 1
        return RetryDecision(attempt=attempt, max_attempts=2, delay_ms=0) if attempt < 3 else None


@pytest.fixture
def repeats() -> Repeats:
    return Repeats()


@pytest.fixture
def pi_plugins(guard: Guard, repeats: Repeats) -> dict[str, object]:
    return {"guard": guard, "repeats": repeats}


QUESTION = Context(system_prompt="Be brief.", messages=(UserMessage(content="x" * 400),))


async def test_a_guard_is_asked_with_purpose_model_and_estimate(
    pi_session: AgentSession, script: ScriptedProvider, guard: Guard
) -> None:
    script.turn(text("one")).turn(text("two"))
    await pi_session.prompt("first")
    await pi_session.complete(QUESTION, SideRequest(purpose="title"))

    assert [(each.purpose, each.attempt) for each in guard.asked] == [("conversation", 1), ("title", 1)]
    assert [each.model for each in guard.asked] == [script.model] * 2
    assert guard.asked[1].estimated_tokens == 103


@pytest.mark.parametrize("refuses", [over_budget])
async def test_a_guard_refuses_a_request_of_the_conversation_before_it_is_made(
    pi_session: AgentSession, script: ScriptedProvider, repeats: Repeats
) -> None:
    answer = await pi_session.prompt("first")

    assert answer is not None
    assert (answer.stop_reason, answer.error_message) == ("error", "rate limit: the budget is used up")
    assert (script.requests, repeats.asked) == ([], 0)
    assert pi_session.exit_code == 4


@pytest.mark.parametrize("refuses", [over_budget])
async def test_a_guard_refuses_a_request_of_a_plugin_before_it_is_made(
    pi_session: AgentSession, script: ScriptedProvider, repeats: Repeats
) -> None:
    await pi_session.start()
    answer = await pi_session.complete(QUESTION, SideRequest(purpose="title"))

    assert (answer.stop_reason, answer.error_message) == ("error", "rate limit: the budget is used up")
    assert (script.requests, repeats.asked) == ([], 0)


@pytest.mark.parametrize("refuses", [over_budget])
async def test_a_refused_request_counts_for_no_limit(pi_session: AgentSession) -> None:
    call = PromptCall(UsageLimits(requests=1))
    await pi_session.parts.turns.prompt("first", call=call)

    assert call.meter.requests == 0


@pytest.mark.parametrize("refuses", [crash])
async def test_a_guard_that_crashes_refuses(pi_session: AgentSession, script: ScriptedProvider) -> None:
    answer = await pi_session.prompt("first")

    assert answer is not None
    assert answer.error_message is not None
    assert "plugin 'guard' failed in before_model_request" in answer.error_message
    assert script.requests == []
    assert pi_session.exit_code == 1


@pytest.mark.parametrize(("exit_code", "expected"), [(5, 5), (None, 1)])
async def test_who_aborts_a_run_chooses_the_exit_code(
    pi_session: AgentSession, script: ScriptedProvider, exit_code: int | None, expected: int
) -> None:
    script.turn(stall()).turn(text("done"))
    prompt = asyncio.create_task(pi_session.prompt("first"))
    await script.stalled()

    pi_session.ctx.abort("The time is up", exit_code=exit_code)
    await prompt

    assert pi_session.exit_code == expected

    await pi_session.prompt("second")

    assert pi_session.exit_code == 0


async def test_each_attempt_is_asked_about(pi_session: AgentSession, script: ScriptedProvider, guard: Guard) -> None:
    script.turn(error("overloaded")).turn(text("done"))
    await pi_session.prompt("first")

    assert [each.attempt for each in guard.asked] == [1, 2]


async def test_an_answer_after_a_refusal_ends_with_no_exit_code(
    pi_session: AgentSession, script: ScriptedProvider, guard: Guard
) -> None:
    script.turn(text("done")).turn(error("400 wrong")).turn(error("400 wrong")).turn(error("400 wrong"))
    guard.refuses = over_budget
    await pi_session.prompt("first")
    guard.refuses = nothing
    await pi_session.prompt("second")

    assert pi_session.exit_code == 0

    await pi_session.prompt("third")

    assert pi_session.exit_code == 1


@for_each(
    ("code", "fits"), [(None, True), (1, True), (255, True), (0, False), (256, False), (True, False), ("4", False)]
)
@for_each("result", [BeforeModelRequestResult, ContextResult])
def test_an_exit_code_is_one_of_a_failure(result: Any, code: object, fits: bool) -> None:
    assert (result(block=True, exit_code=code).problem(None) is None) == fits
