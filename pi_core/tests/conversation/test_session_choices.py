"""Which model answers and how hard it thinks: set, cycled through, noted in the session."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core import ScopedModel
from pi_hookspecs import MissingKey, ProviderInfo, hookimpl
from pi_testing import text


class Zoo:
    """Records model selections, and provides models in addition to the scripted one."""

    def __init__(self, script):
        self.script = script
        self.received = []

    @property
    def lion(self):
        return evolve(self.script.model, id="lion", provider="zoo")

    @property
    def yak(self):
        return evolve(self.script.model, id="yak", provider="zoo", reasoning=False)

    @hookimpl
    def register_models(self):
        models = (self.lion, self.yak)
        locked = evolve(self.script.model, id="bear", provider="locked")
        return [
            ProviderInfo(id="zoo", name="Zoo", api="scripted", keyless=True, models=models),
            ProviderInfo(id="locked", name="Locked", api="scripted", key_variables=("NO_KEY",), models=(locked,)),
        ]

    @hookimpl
    def model_select(self, event):
        self.received.append((event.model.id, event.previous_model.id, event.source))

    @hookimpl
    def thinking_level_select(self, event):
        self.received.append((event.level, event.previous_level))


@pytest.fixture
def zoo(script):
    return Zoo(script)


def changes(session):
    kept = session.session_manager.get_branch()
    models = [entry.model_id for entry in kept if entry.type == "model_change"]
    levels = [entry.thinking_level for entry in kept if entry.type == "thinking_level_change"]
    return models[1:], levels[1:]


class StandIn:
    def __init__(self, script):
        self.model = evolve(script.model, id="rules", provider="stand-in")

    @hookimpl
    def register_models(self):
        return [
            ProviderInfo(id="stand-in", name="S", api="scripted", keyless=True, only_by_name=True, models=(self.model,))
        ]


async def test_a_model_that_is_only_used_by_name_is_not_cycled_to_but_left(session_of, script, zoo):
    stand_in = StandIn(script)
    session = session_of(zoo, stand_in)
    await session.set_model(stand_in.model)

    cycled = [(await session.cycle_model()).model.id for _ in range(4)]

    assert cycled == ["model", "lion", "yak", "model"]


async def test_another_model_answers_from_the_next_run_on(session_of, script, zoo):
    session = session_of(zoo)
    await session.set_model(zoo.lion)
    script.turn(text("roar"))
    await session.prompt("hi")

    assert script.requests[0].model.id == "lion"
    assert changes(session) == (["lion"], [])
    assert zoo.received == [("lion", "model", "set")]


async def test_the_thinking_level_becomes_one_that_the_model_has(session_of, zoo, recorder):
    session = session_of(zoo)
    await session.start()
    await session.set_model(zoo.yak)

    assert session.thinking_level == "off"
    assert changes(session) == (["yak"], ["off"])
    assert [event.level for event in recorder.events if event.type == "thinking_level_changed"] == ["off"]


async def test_a_model_without_a_key_is_refused(session_of, zoo):
    session = session_of(zoo)

    with pytest.raises(MissingKey):
        await session.set_model(session.models.find("locked/bear"))

    assert session.model.id == "model"


async def test_cycling_goes_through_all_that_can_be_used(session_of, zoo):
    session = session_of(zoo)
    await session.start()
    seen = []
    for _ in range(3):
        cycle = await session.cycle_model()
        seen.append(cycle.model.id)

    assert sorted(seen) == ["lion", "model", "yak"]
    assert not cycle.is_scoped


async def test_cycling_stays_inside_the_scope_and_takes_its_levels(session_of, zoo):
    session = session_of(zoo)
    session.set_scoped_models([ScopedModel(zoo.lion, "high"), ScopedModel(session.model, "low")])
    there = await session.cycle_model()
    back = await session.cycle_model("backward")

    assert [(each.model.id, each.thinking_level, each.is_scoped) for each in (there, back)] == [
        ("lion", "high", True),
        ("model", "low", True),
    ]


async def test_with_one_model_there_is_nothing_to_cycle_to(session_of):
    session = session_of()

    assert await session.cycle_model() is None


async def test_levels_are_cycled_through(session_of):
    session = session_of(thinking_level="medium")

    assert session.get_available_thinking_levels() == ("off", "minimal", "low", "medium", "high")
    assert [await session.cycle_thinking_level() for _ in range(2)] == ["high", "off"]
    assert session.supports_thinking()


async def test_the_same_level_again_is_no_change(session_of):
    session = session_of(thinking_level="medium")
    await session.set_thinking_level("medium")

    assert changes(session) == ([], [])


async def test_the_session_gets_a_name(session_of, recorder):
    session = session_of()
    await session.set_session_name("zebras")

    assert session.session_manager.name == "zebras"
    assert [event.name for event in recorder.events if event.type == "session_info_changed"] == ["zebras"]


async def test_models_to_cycle_through_are_an_option(session_of, zoo):
    session = session_of(zoo, scoped_models=[ScopedModel(zoo.yak), ScopedModel(zoo.lion, "low")])
    await session.start()
    await session.cycle_model("backward")

    assert [each.model.id for each in session.scoped_models] == ["yak", "lion"]
    assert (session.model.id, session.thinking_level) == ("yak", "off")
