"""``ModelSelection`` alone: what is stored, what becomes the default, and what there is to cycle through."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core.conversation.model_selection import ModelSelection, ScopedModel
from pi_hookspecs import NoModel


@pytest.fixture
def selection(runtime):
    return ModelSelection(runtime)


@pytest.fixture
def thinker(script):
    return evolve(script.model, id="thinker", reasoning=True)


def changes(runtime):
    return [entry.type for entry in runtime.manager.get_branch()]


async def test_the_model_in_use_is_not_stored_again(runtime, selection, script):
    await selection.set_model(script.model)

    assert changes(runtime) == []


async def test_a_restored_model_is_not_stored_in_the_session_that_it_comes_from(runtime, selection, thinker):
    await selection.set_model(thinker, "restore")

    assert (runtime.agent.state.model, changes(runtime)) == (thinker, [])


async def test_a_model_without_reasoning_turns_thinking_off(runtime, selection, thinker, script):
    await selection.set_model(thinker)
    await selection.set_level("high")
    await selection.set_model(evolve(script.model, reasoning=False))

    assert runtime.agent.state.thinking_level == "off"


async def test_a_choice_becomes_the_default_only_where_that_is_asked_for(runtime, selection, thinker):
    await selection.set_model(thinker)
    without = runtime.settings.get("defaultModel")
    await selection.set_model(thinker, persist=True)

    assert (without, runtime.settings.get("defaultModel")) == (None, "thinker")


async def test_a_scope_of_the_present_model_alone_is_no_choice(selection, script):
    selection.set_scope([ScopedModel(script.model)])

    assert await selection.cycle_model() is None


async def test_cycling_back_from_the_first_model_reaches_the_last(selection, script, thinker):
    selection.set_scope([ScopedModel(script.model), ScopedModel(thinker, "low")])
    cycle = await selection.cycle_model("backward")

    assert (cycle.model, cycle.thinking_level, cycle.is_scoped) == (thinker, "low", True)


async def test_without_a_model_there_are_no_levels(runtime_of):
    selection = ModelSelection(runtime_of(model=None))

    with pytest.raises(NoModel, match="--model"):
        selection.levels()
    assert (selection.supports_thinking(), selection.supports_xhigh()) == (False, False)
