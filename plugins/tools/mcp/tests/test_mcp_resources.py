"""Resources and prompts of servers, for the model and for the user."""

from __future__ import annotations

from typing import Any

import pytest

import pi_mcp
from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(plugins={"mcp": pi_mcp})


async def test_the_model_lists_and_reads_resources(started, script, fault) -> None:
    session = await started({"fault": fault()})
    script.turn(tool_call("list_mcp_resources"), tool_call("list_mcp_resource_templates"))
    script.turn(tool_call("read_mcp_resource", server="fault", uri="tide://brest"))
    script.turn(tool_call("read_mcp_resource", server="other", uri="tide://brest")).turn(text("ok"))

    await session.prompt("go")
    results: list[Any] = [request.tool_results for request in script.requests]

    assert all("written by strangers" in each.text.partition("\n")[0] for each in (*results[1], *results[2]))
    assert [each.text.partition("\n")[2] for each in results[1]] == [
        "fault  tide://brest  brest  Tides of Brest",
        "fault  tide://{port}  tide",
    ]
    assert results[2][-1].text.endswith("]\nHigh water at noon")
    assert results[3][-1].is_error
    assert "these have: fault" in results[3][-1].text


async def test_a_mentioned_resource_is_part_of_the_prompt(started, script, fault) -> None:
    session = await started({"fault": fault()})
    script.turn(text("At noon."))

    await session.prompt("When, by @fault:tide://brest? Not @other:x, nor me@fault:tide://brest.")
    sent = script.requests[0].user_text

    assert sent.startswith("When, by @fault:tide://brest? Not @other:x, nor me@fault:tide://brest.")
    assert sent.count("High water at noon") == 1


async def test_mentions_are_completed_with_servers_and_their_resources(started, script, fault) -> None:
    session = await started({"fault": fault()})
    script.turn(text("ok"))
    await session.prompt("go")

    servers = await session.completions.mentions("fau")
    resources = await session.completions.mentions("fault:tide://b")

    assert [each.value for each in servers] == ["fault:"]
    assert [(each.value, each.description) for each in resources] == [("fault:tide://brest", "Tides of Brest")]


async def test_a_prompt_of_a_server_is_a_command_with_arguments(started, script, fake_ui, fault) -> None:
    session = await started({"fault": fault()})
    script.turn(text("ok")).turn(text("At noon.")).turn(text("At one."))
    await session.prompt("go")

    listed = {each.name: each.argument_hint for each in await session.get_commands()}
    await session.prompt("/mcp__fault__tide Brest")
    await session.prompt("/mcp__fault__tide day=tomorrow 'Saint Malo'")
    await session.prompt("/mcp__fault__tide")

    assert listed["mcp__fault__tide"] == "port [day]"
    assert script.requests[1].user_text == "When is high water at Brest today?"
    assert script.requests[2].user_text == "When is high water at Saint Malo tomorrow?"
    assert len(script.requests) == 3
    assert "needs port" in fake_ui.notices[-1].message


async def test_arguments_of_a_prompt_are_completed_by_its_server(started, script, fault) -> None:
    session = await started({"fault": fault()})
    script.turn(text("ok"))
    await session.prompt("go")

    async def completed(typed: str) -> list[str]:
        return [each.value for each in await session.completions.arguments("mcp__fault__tide", typed)]

    assert await completed("") == ["brest", "'st malo'"]
    assert await completed("br") == ["brest"]
    assert await completed("brest when") == ["brest 'when brest floods'"]
    assert await completed("day=to") == ["day=today"]
    assert await completed("brest today x") == []
