"""The opinion reaches the model; its session is stored, linked and paid for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_testing import error, text, tool_call, usage

pytestmark = pytest.mark.pi(stored=True)


async def test_the_opinion_is_the_result(pi_session, script):
    script.turn(tool_call("second_opinion", question="Is 2 + 2 = 5?")).turn(text("No.")).turn(text("It is not."))

    await pi_session.prompt("Is it?")

    assert script.requests[1].user_text == "Is 2 + 2 = 5?"
    assert not script.requests[1].tools
    assert script.requests[2].tool_results[0].text == "No."


async def test_its_session_is_stored_and_linked(pi_session, script):
    script.turn(tool_call("second_opinion", question="Well?", call_id="c1")).turn(text("No.")).turn(text("No, then."))

    await pi_session.prompt("Is it?")

    (child,) = pi_session.children
    header = json.loads(Path(child.file).read_text().splitlines()[0])
    assert (child.label, child.parent_call, child.status) == ("second opinion", "c1", "done")
    assert header["parentSession"] == str(pi_session.session_file)
    assert header["parentCall"] == "c1"


async def test_its_cost_is_part_of_the_sessions(pi_session, script):
    script.turn(tool_call("second_opinion", question="Well?"), usage(cost=1))
    script.turn(text("No."), usage(cost=0.5)).turn(text("No, then."), usage(cost=2))

    await pi_session.prompt("Is it?")

    assert pi_session.ctx.totals.cost.total == 3.5


async def test_a_failure_reaches_the_model_with_its_reason(pi_session, script):
    script.turn(tool_call("second_opinion", question="Well?")).turn(error("400 bad")).turn(text("Alone, then."))

    await pi_session.prompt("Is it?")

    (result,) = script.requests[2].tool_results
    assert result.is_error
    assert "There is no second opinion: 400 bad" in result.text


@pytest.mark.pi(settings={"secondOpinion": {"model": "no-such/model"}})
async def test_an_unknown_model_is_named(pi_session, script):
    script.turn(tool_call("second_opinion", question="Well?")).turn(text("Alone, then."))

    await pi_session.prompt("Is it?")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert "no-such/model" in result.text
