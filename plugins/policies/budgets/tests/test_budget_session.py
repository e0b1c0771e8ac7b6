"""Budgets in a session: what is refused, asked and reported, and what child sessions share."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

import pi_budgets
from pi_hookspecs import (
    Context,
    Cost,
    ModelCost,
    PiContext,
    ProviderInfo,
    SideRequest,
    TextContent,
    ToolResult,
    Usage,
    UserMessage,
    hookimpl,
    tool,
)
from pi_testing import error, image, stall, text, tool_call, usage
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_core import AgentSession
    from pi_testing import EventRecorder, FakeTool, FakeUI, ScriptedProvider, Step

pytestmark = pytest.mark.pi(plugins={"budgets": pi_budgets})

TOTAL = Context(system_prompt="", messages=[UserMessage(content="sum it up")], tools=())


@tool
async def nap() -> str:
    """Sleep for a moment."""
    await asyncio.sleep(2.2)
    return "slept"


@tool
async def delegate(ctx: PiContext) -> str:
    """Let a child session answer."""
    async with ctx.create_session(tools=[], label="scout") as child:
        answer = await child.prompt("go")
    return answer.error_message or answer.text


def limited(**budget: Any) -> pytest.MarkDecorator:
    return pytest.mark.pi(settings={"budgets": budget})


def alone(flags: dict[str, str] | None = None, **budget: Any) -> pytest.MarkDecorator:
    """Limits of a session without a user."""
    return pytest.mark.pi(settings={"budgets": budget} if budget else {}, session={"ui": None, "flags": flags or {}})


def ledger(agent_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (agent_dir / "usage" / "ledger.jsonl").read_text().splitlines()]


# Refusals


@alone(run={"dollars": 1})
async def test_without_a_user_the_run_ends_with_code_4_and_an_event(
    pi_session: AgentSession, script: ScriptedProvider, recorder: EventRecorder
) -> None:
    pi_session.subscribe(recorder)
    script.turn(tool_call("read", path="a"), usage(cost=0.7)).turn(tool_call("read", path="a"), usage(cost=0.4))

    answer = await pi_session.prompt("go")

    message = (
        "Budget: this run has used $1.10 of $1.00."
        " Raise budgets.run.dollars in the settings to continue (see pi help budgets)."
    )
    assert answer is not None
    assert answer.error_message == message
    assert pi_session.exit_code == 4
    (event,) = [event for event in recorder.events if event.type == "budget_exceeded"]
    assert (event.setting, event.scope, event.measure, event.limit) == ("budgets.run.dollars", "run", "dollars", 1)
    assert (event.used, event.message) == (pytest.approx(1.1), message)


PRICED = ModelCost(input=3, output=15, cache_read=0, cache_write=0)


@alone(total={"dollars": 1, "tokens": 1_000_000})
@pytest.mark.parametrize(
    "reported",
    [usage(), usage(input=10**300, cost=1e308), usage(cost=float("nan")), usage(input=3, cost=float("inf"))],
    ids=["nothing", "absurd", "nan", "infinite"],
)
async def test_an_answer_without_usage_counts_with_what_was_reserved(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path, reported: Step
) -> None:
    await pi_session.set_model(evolve(script.model, cost=PRICED, max_tokens=20_000))
    for _ in range(30):
        script.turn(text("ok"), reported)

    answers = [await pi_session.prompt("go") for _ in range(30)]

    assert len(script.requests) == 4  # 0.30 dollars each
    assert answers[-1] is not None
    assert "all sessions have used $1.2" in (answers[-1].error_message or "")
    assert sum(line["dollars"] for line in ledger(pi_agent_dir)) == pytest.approx(1.2, rel=0.01)


@limited(session={"dollars": 9})
async def test_there_is_one_notice_that_a_model_reports_no_usage(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    await pi_session.set_model(evolve(script.model, cost=PRICED, max_tokens=20_000))
    for _ in range(3):
        script.turn(text("ok"))
        await pi_session.prompt("go")

    (notice,) = [each.message for each in fake_ui.notices if "does not report" in each.message]
    assert "each of its requests counts as the most that it may use: 20," in notice


@alone(total={"requests": 9})
@pytest.mark.parametrize("name", ["ledger.jsonl", "reservations.sqlite"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
async def test_what_is_no_file_is_no_ledger(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path, name: str, make: Callable[[Path], None]
) -> None:
    (pi_agent_dir / "usage").mkdir(exist_ok=True)
    make(pi_agent_dir / "usage" / name)

    answer = await asyncio.wait_for(pi_session.prompt("go"), PATIENCE)

    assert script.requests == []
    assert answer is not None
    assert f"{name} is not a file. Move it away" in (answer.error_message or "")


@alone(run={"requests": 1}, session={"requests": 2})
async def test_a_run_begins_anew_and_a_session_does_not(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("one")).turn(text("two"))

    answers = [await pi_session.prompt("go") for _ in range(3)]

    assert [answer.stop_reason for answer in answers if answer is not None] == ["stop", "stop", "error"]
    assert answers[-1] is not None
    assert "this session has used 2 of 2 requests" in (answers[-1].error_message or "")


@alone(session={"requests": 2})
async def test_a_failed_request_counts(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(error("400 no")).turn(text("two"))
    await pi_session.prompt("go")
    await pi_session.prompt("go")

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert "2 of 2 requests" in (answer.error_message or "")


@alone(run={"toolCalls": 2})
async def test_tool_calls_beyond_the_limit_are_refused_and_end_the_run(
    pi_session: AgentSession, script: ScriptedProvider, fake_tools: dict[str, FakeTool]
) -> None:
    script.turn(*(tool_call("read", path="a") for _ in range(3)))

    answer = await pi_session.prompt("go")

    assert len(fake_tools["read"].calls) == 2
    assert answer is not None
    assert "2 of 2 tool calls" in (answer.error_message or "")
    assert (len(script.requests), pi_session.exit_code) == (1, 4)


@alone(run={"toolCalls": 1})
async def test_an_answer_may_follow_the_last_tool_call(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(tool_call("read", path="a")).turn(text("done"))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert answer.text == "done"


@limited(run={"seconds": 2})
@pytest.mark.pi(tools=[nap])
async def test_time_in_tools_counts(pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI) -> None:
    fake_ui.answers("Stop")
    script.turn(tool_call("nap"))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert "of 2 seconds" in (answer.error_message or "")
    assert len(script.requests) == 1


@tool
async def hang(ctx: PiContext) -> str:
    """Wait for the end of the run."""
    assert ctx.signal is not None
    await ctx.signal.wait()
    return ""


@alone(flags={"max-time": "1"})
@pytest.mark.pi(tools=[hang])
@pytest.mark.parametrize("step", [tool_call("hang"), stall()], ids=["a tool", "a model"])
async def test_what_hangs_is_aborted_when_the_time_is_up(
    pi_session: AgentSession, script: ScriptedProvider, recorder: EventRecorder, step: Step
) -> None:
    pi_session.subscribe(recorder)
    script.turn(step)

    await pi_session.prompt("go")

    assert pi_session.exit_code == 4
    (event,) = [event for event in recorder.events if event.type == "budget_exceeded"]
    assert (event.setting, event.measure, event.limit) == ("--max-time", "seconds", 1)


@alone(by={"summary": {"session": {"requests": 1}}})
async def test_requests_of_one_plugin_have_a_limit_of_their_own(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    answers = []

    class Summary:
        @hookimpl
        async def agent_settled(self, ctx: PiContext) -> None:
            answers.append(await ctx.complete(TOTAL, SideRequest(purpose="sum")))

    pi_session.host.add(Summary(), "summary")
    await pi_session.reload()
    for _ in range(4):
        script.turn(text("ok"))

    for _ in range(2):
        answer = await pi_session.prompt("go")

    assert answer is not None
    assert answer.stop_reason == "stop"
    assert [each.error_message for each in answers] == [
        None,
        (
            "Budget of summary: this session has used 1 of 1 requests. Raise budgets.by.summary.session.requests in"
            " the settings to continue (see pi help budgets)."
        ),
    ]
    assert [line["plugin"] for line in ledger(pi_agent_dir)] == [None, "summary", None]


# Options


@alone(flags={"max-cost": "0.5"})
async def test_max_cost_ends_the_run(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(tool_call("read", path="a"), usage(cost=0.6))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert answer.error_message == (
        "Budget: pi has used $0.60 of $0.50 since it was started. Raise --max-cost to continue (see pi help budgets)."
    )
    assert pi_session.exit_code == 4


@alone(flags={"max-turns": "2"})
async def test_max_turns_counts_answers_of_the_conversation(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(tool_call("read", path="a")).turn(text("done"))
    await pi_session.prompt("go")

    answer = await pi_session.prompt("more")

    assert answer is not None
    assert answer.error_message == (
        "Budget: pi has used 2 of 2 turns since it was started. Raise --max-turns to continue (see pi help budgets)."
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"max-cost": "much"}, "--max-cost must be dollars, such as 2.50, not 'much'"),
        ({"max-cost": "nan"}, "--max-cost must be dollars, such as 2.50, not 'nan'"),
        ({"max-cost": "-1"}, "--max-cost must be dollars, such as 2.50, not '-1'"),
        ({"max-time": "soon"}, "--max-time must be a time, such as 90s, 10m or 1h30m, not 'soon'"),
        ({"max-turns": "0"}, "--max-turns must be a whole number of at least 1, not '0'"),
    ],
)
@pytest.mark.pi(session={"ui": None})
async def test_an_option_that_cannot_be_used_ends_with_code_2(
    pi_session: AgentSession, flags: dict[str, str], message: str
) -> None:
    pi_session.runtime.front_end.flags.update(flags)
    await pi_session.reload()

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert (answer.error_message, pi_session.exit_code) == (message, 2)


# The user


@limited(session={"requests": 4})
async def test_the_user_may_allow_25_percent_more_or_lift_the_limit(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    fake_ui.answers("Allow 25 % more", "No limit in this session")
    for _ in range(8):
        script.turn(text("ok"))
        await pi_session.prompt("go")

    assert len(script.requests) == 8
    assert [dialog.text.partition(".")[0] for dialog in fake_ui.asked] == [
        "Budget: this session has used 4 of 4 requests",
        "Budget: this session has used 5 of 5 requests",
    ]


@limited(session={"requests": 1})
async def test_a_user_who_stops_is_asked_again_by_the_next_prompt(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    script.turn(text("ok")).turn(text("on"))
    await pi_session.prompt("go")
    fake_ui.answers("Stop", "No limit in this session")

    refused = await pi_session.prompt("more")
    answer = await pi_session.prompt("more")

    assert refused is not None
    assert refused.stop_reason == "error"
    assert answer is not None
    assert answer.text == "on"


@limited(session={"requests": 5}, run={"dollars": 1})
async def test_there_is_one_notice_at_80_percent(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    for _ in range(5):
        script.turn(text("ok"))
        await pi_session.prompt("go")

    assert [notice.message for notice in fake_ui.notices] == [
        "Budget: this session has used 4 of 5 requests (budgets.session.requests)."
    ]


@limited(run={"dollars": 2}, by={"agent:scout": {"day": {"requests": 3}}})
async def test_the_command_shows_every_limit(
    pi_session: AgentSession, script: ScriptedProvider, fake_ui: FakeUI
) -> None:
    script.turn(text("ok"), usage(cost=0.25))
    await pi_session.prompt("go")

    await pi_session.prompt("/budget")

    assert fake_ui.notices[-1].message.splitlines() == [
        "This session has used $0.25.",
        "budgets.run.dollars: $0.00 of $2.00",
        "budgets.by.agent:scout.day.requests: 0 of 3 requests",
    ]


# Tools


@tool
async def consult() -> ToolResult:
    """Ask a service that costs something."""
    return ToolResult(content=(TextContent("ok"),), usage=Usage(input=5, cost=Cost(total=0.6)))


@alone(session={"dollars": 1})
@pytest.mark.pi(tools=[consult])
async def test_what_a_tool_reports_counts(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(tool_call("consult"), tool_call("consult"))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert "this session has used $1.20 of $1.00" in (answer.error_message or "")


# Prices


class Paid:
    """A provider whose models cost something that is not known."""

    @hookimpl
    def register_models(self) -> list[ProviderInfo]:
        return [ProviderInfo(id="paid", name="Paid", api="scripted", key_variables=("PAID_KEY",))]


@pytest.mark.parametrize(
    ("choice", "refused", "noticed"), [("refuse", True, False), ("tokens", False, True), ("ignore", False, False)]
)
@pytest.mark.pi(plugins={"budgets": pi_budgets, "paid": Paid()}, settings={"budgets": {"run": {"dollars": 1}}})
async def test_a_model_without_prices(
    pi_session: AgentSession,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    monkeypatch: pytest.MonkeyPatch,
    choice: str,
    refused: bool,
    noticed: bool,
) -> None:
    monkeypatch.setenv("PAID_KEY", "k")
    pi_session.settings.set("budgets.unknownPrice", choice)
    await pi_session.set_model(evolve(script.model, provider="paid", id="new"))
    script.turn(text("ok"))

    answer = await pi_session.prompt("go")

    sentence = "The prices of paid/new are unknown, so budgets.run.dollars cannot limit it"
    assert answer is not None
    assert (sentence in (answer.error_message or "")) == refused
    assert any(sentence in notice.message for notice in fake_ui.notices) == noticed


# Child sessions


@alone(session={"dollars": 1})
@pytest.mark.pi(tools=[delegate])
async def test_a_child_session_uses_the_budget_of_its_parent(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    script.turn(tool_call("delegate"), usage(cost=0.3)).turn(text("found"), usage(cost=0.8))

    answer = await pi_session.prompt("go")

    assert answer is not None
    assert "this session has used $1.10 of $1.00" in (answer.error_message or "")
    assert [(line["agent"], line["dollars"]) for line in ledger(pi_agent_dir)] == [(None, 0.3), ("scout", 0.8)]


@alone(by={"agent:scout": {"run": {"dollars": 0.5}}})
@pytest.mark.pi(tools=[delegate])
async def test_agents_of_a_name_have_a_limit_of_their_own(pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(tool_call("delegate"), usage(cost=3)).turn(text("found"), usage(cost=0.6))
    script.turn(tool_call("delegate"), usage(cost=3)).turn(text("ok"))

    answer = await pi_session.prompt("go")

    results = [message.text for message in pi_session.messages if message.role == "toolResult"]
    assert answer is not None
    assert answer.text == "ok"
    assert results[0] == "found"
    assert "Budget of agent:scout: this run has used $0.60 of $0.50" in results[1]


@alone(day={"dollars": 1})
async def test_eight_child_sessions_at_once_overshoot_by_one_request_each_at_most(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    dear = evolve(script.model, max_tokens=1000, cost=ModelCost(input=1, output=100))  # at most 0.1 dollars
    await pi_session.set_model(dear)
    for _ in range(60):
        script.turn(text("ok"), usage(output=700, cost=0.07))

    async def work(number: int) -> None:
        async with pi_session.ctx.create_session(tools=[], label=f"worker{number}") as child:
            while (answer := await child.prompt("go")) is not None and answer.stop_reason == "stop":
                pass

    await pi_session.start()
    await asyncio.gather(*map(work, range(8)))

    spent = sum(line["dollars"] for line in ledger(pi_agent_dir))
    assert 1 <= spent <= 1.1  # one request more than allowed, as what others may cost is reserved
    assert spent == pytest.approx(pi_session.ctx.totals.cost.total)


# Images and classifiers


@tool
async def draw(ctx: PiContext) -> str:
    """Draw."""
    return f"{len((await ctx.models.generate_image('painter', 'A boat')).images)} image"


@pytest.mark.pi(plugins={"budgets": pi_budgets}, tools=[draw], session={"ui": None})
@limited(session={"dollars": 0.05}, unknownPrice="ignore")
async def test_an_image_counts_and_none_is_drawn_when_the_budget_is_used_up(
    pi_session: AgentSession, script: ScriptedProvider, pi_agent_dir: Path
) -> None:
    script.turn(tool_call("draw")).turn(image(), usage(input=10, output=20, cost=0.06)).turn(text("Done."))
    await pi_session.prompt("draw")
    script.turn(text("never sent"))
    refused = await pi_session.prompt("again")

    drawn = [row for row in ledger(pi_agent_dir) if row["model"].endswith("painter")]
    assert [row["dollars"] for row in drawn] == [0.06]
    assert refused.stop_reason == "error"
    assert "painter" not in [request.model.id for request in script.requests[2:]]
