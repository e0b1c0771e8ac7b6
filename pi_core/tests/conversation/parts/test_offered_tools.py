"""``OfferedTools`` alone: what the next request offers."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core.conversation.offered_tools import OfferedTools


@pytest.fixture
def offered(runtime_of, tool):
    return OfferedTools(runtime_of(tools=[tool("tide"), tool("wind")]))


async def test_unknown_names_of_a_selection_are_ignored(offered):
    offered.select(["wind", "rain"])

    assert offered.names() == ["wind"]


async def test_the_system_prompt_changes_with_the_tools_while_idle(runtime_of, tool):
    runtime = runtime_of(tools=[tool("tide", prompt_guidelines=("Ask the harbour master.",)), tool("wind")])
    offered = OfferedTools(runtime)
    offered.offer()
    before = runtime.agent.state.system_prompt
    offered.select(["wind"])

    assert "harbour master" in before
    assert "harbour master" not in runtime.agent.state.system_prompt


async def test_a_tool_added_at_run_time_can_be_removed_again(offered, tool):
    offered.offer()
    remove = offered.add(tool("rain"), "weather")
    during = offered.names()
    remove()

    assert ("rain" in during, "rain" in offered.names()) == (True, False)


async def test_all_tools_are_listed_with_their_plugin_and_whether_they_are_active(offered, tool):
    offered.add(tool("rain"), "weather")
    offered.select(["wind"])

    assert [(each.name, each.plugin, each.active) for each in offered.infos()] == [
        ("rain", "weather", False),
        ("tide", None, False),
        ("wind", None, True),
    ]


async def test_many_tools_are_offered_once(runtime_of, tool):
    runtime = runtime_of(tools=[tool("tide")])
    offered = OfferedTools(runtime)
    offers = []
    runtime.agent.set_tools = lambda tools: offers.append([each.name for each in tools])

    with offered.held():
        offered.add(tool("rain"), "weather")
        offered.add(tool("snow"), "weather")()

    assert [sorted(names) for names in offers] == [["rain", "tide"]]


async def test_only_tools_that_can_be_active_make_pi_determine_the_active_ones(runtime_of, tool, monkeypatch):
    runtime = runtime_of(tools=[tool("tide")])
    offered = OfferedTools(runtime)
    offered.offer()
    determined = []
    active = runtime.toolbox.active
    monkeypatch.setattr(runtime.toolbox, "active", lambda: determined.append(1) or active())

    removers = [offered.add(evolve(tool(f"rain{number}"), exposure="deferred"), "weather") for number in range(40)]
    for remove in removers:
        remove()

    assert determined == []


async def test_a_deferred_tool_that_takes_the_name_of_an_active_one_replaces_it(runtime_of, tool):
    runtime = runtime_of(tools=[])
    offered = OfferedTools(runtime)
    offered.add(tool("rain"), "weather")
    before = [each.name for each in runtime.agent.state.tools]
    remove = offered.add(evolve(tool("rain"), exposure="deferred"), "climate")
    during = [each.name for each in runtime.agent.state.tools]
    remove()
    after = [each.name for each in runtime.agent.state.tools]

    assert ("rain" in before, "rain" in during, "rain" in after) == (True, False, True)
