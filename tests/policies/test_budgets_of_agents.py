"""Budgets of what agents do: the tool ``task`` starts child sessions, which use the budgets of their parent."""

from __future__ import annotations

import json

import pytest

from pi_testing import text, tool_call, usage

pytestmark = pytest.mark.pi(entry_points=["agents", "budgets"], plugins={})


@pytest.mark.pi(
    settings={"agents": {"enabled": True}, "budgets": {"by": {"agent:general": {"run": {"dollars": 0.5}}}}},
    session={"ui": None},
    tools=["task"],
)
async def test_agents_have_a_budget_by_their_name(pi_session, script, pi_agent_dir):
    task = {"prompt": "look", "description": "look around"}
    script.turn(tool_call("task", arguments=task)).turn(text("found"), usage(cost=0.6))
    script.turn(tool_call("task", arguments=task)).turn(text("done"))

    answer = await pi_session.prompt("go")

    lines = [json.loads(line) for line in (pi_agent_dir / "usage" / "ledger.jsonl").read_text().splitlines()]
    results = [message.text for message in pi_session.messages if message.role == "toolResult"]
    assert [line["agent"] for line in lines] == [None, "general", None, None]
    assert "found" in results[0]
    assert "Budget of agent:general: this run has used $0.60 of $0.50" in results[1]
    assert answer.text == "done"
