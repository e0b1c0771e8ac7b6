"""An expensive model is refused; every request that was made has a row."""

from __future__ import annotations

import csv

import pytest
from attrs import evolve

from pi_hookspecs import Context, ModelCost, SideRequest, UserMessage
from pi_testing import error, text, usage

LIMITED = {"priceLimit": {"perMillion": 5}}


def rows(folder):
    with (folder / "usage.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.pi(settings=LIMITED)
async def test_an_expensive_model_is_refused_with_an_exit_code(pi_session, script, pi_agent_dir):
    expensive = evolve(script.model, cost=ModelCost(input=3, output=15))
    await pi_session.set_model(expensive)

    answer = await pi_session.prompt("Hi")

    assert "costs 15 dollars per million tokens, and 5 are allowed" in answer.error_message
    assert pi_session.exit_code == 4
    assert script.requests == []
    assert not (pi_agent_dir / "usage.csv").exists()


@pytest.mark.pi(settings=LIMITED)
async def test_a_plugin_may_not_ask_an_expensive_model_either(pi_session, script):
    await pi_session.start()
    expensive = evolve(script.model, cost=ModelCost(input=6, output=1))
    question = Context(messages=(UserMessage(content="Name it"),))

    answer = await pi_session.complete(question, SideRequest(purpose="title", model=expensive))

    assert "costs 6 dollars" in answer.error_message
    assert script.requests == []


@pytest.mark.pi(settings=LIMITED)
async def test_requests_that_were_made_have_a_row(pi_session, script, pi_agent_dir):
    script.turn(text("Hello."), usage(input=10, output=5, cost=0.25)).turn(text("Half"), error("400 bad, request"))

    await pi_session.prompt("Hi")
    await pi_session.prompt("And again")

    first, second = rows(pi_agent_dir)
    assert (first["purpose"], first["input"], first["output"], first["dollars"]) == ("conversation", "10", "5", "0.25")
    assert second["error"] == "400 bad, request"
