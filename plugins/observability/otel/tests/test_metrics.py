"""What is measured, and that no session or path is part of it."""

from __future__ import annotations

import pytest

import pi_otel
from pi_hookspecs import tool
from pi_testing import error, slow_hook, text, tool_call, usage

pytestmark = pytest.mark.usefixtures("seen")


@tool
async def shelf(name: str) -> str:
    """List a shelf."""
    return name


@pytest.fixture
def measured(seen):
    """Return what was measured in this test, with no test before it."""
    seen.metrics()
    return seen.metrics


def points(measured, name, **attributes):
    found = measured.get(name, [])
    return [each for each in found if attributes.items() <= dict(each.attributes).items()]


@pytest.mark.pi(
    plugins={"otel": pi_otel, "lazy": slow_hook("turn_end", 0.02)},
    settings={"otel": {"hookThreshold": 60_000}},
    tools=[shelf],
)
async def test_tokens_money_and_the_bill_of_each_plugin(pi_session, script, measured, seen):
    script.turn(tool_call("shelf", name="a"), usage(input=20, output=7, cost=0.5)).turn(text("Done."))

    await pi_session.prompt("What is there?")

    await seen.spans()
    found = measured()
    (input_tokens,) = points(found, "gen_ai.client.token.usage", **{"gen_ai.token.type": "input"})
    assert input_tokens.sum >= 20
    assert input_tokens.explicit_bounds[:4] == (1, 4, 16, 64)
    assert points(found, "pi.cost")[0].value >= 0.5
    assert points(found, "gen_ai.execute_tool.duration", **{"gen_ai.tool.name": "shelf"})
    assert points(found, "gen_ai.invoke_agent.duration")
    (bill,) = points(found, "pi.hook.duration", **{"pi.plugin": "lazy", "pi.hook": "turn_end"})
    assert bill.sum >= 0.03


async def test_a_failed_request_is_counted_as_one(pi_session, script, measured, seen):
    script.turn(error("overloaded"))

    await pi_session.prompt("Hi")

    await seen.spans()
    assert points(measured(), "gen_ai.client.operation.duration", **{"error.type": "_OTHER"})


async def test_no_attribute_names_a_session_or_a_path(pi_session, script, measured, seen, tmp_path):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    await seen.spans()
    values = {str(value) for found in measured().values() for each in found for value in each.attributes.values()}
    assert values
    assert not any(pi_session.session_id in each or str(tmp_path) in each for each in values)
