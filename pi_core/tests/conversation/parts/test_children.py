"""``Children`` alone: the sessions that work for a conversation, and where their usage goes."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core.conversation.children import Children
from pi_core.create import create_agent_session
from pi_hookspecs import PiError
from pi_testing import text, usage


class Lifecycle:
    """Keeps what is to be called at the end."""

    def __init__(self):
        self.ends = []

    def call_at_end(self, function):
        self.ends.append(function)


@pytest.fixture
def lifecycle():
    return Lifecycle()


@pytest.fixture
def children(runtime, lifecycle):
    return Children(evolve(runtime, create_session=create_agent_session), lifecycle)


async def test_what_a_child_used_becomes_an_entry_of_the_conversation(children, runtime, script):
    script.turn(text("Four."), usage(input=30, output=2))
    async with children.create({"label": "tides"}, None) as child:
        await child.prompt("2 + 2?")
        assert [(each.status, each.usage.input) for each in children.infos] == [("running", 30)]
        assert children.unaccounted().input == 30

    entry = runtime.manager.entries()[-1]
    assert (entry.type, entry.kind, entry.usage.input) == ("usage", "agent:tides", 30)
    assert ([each.status for each in children.infos], children.unaccounted().input) == (["done"], 0)


async def test_a_child_that_still_runs_ends_with_the_conversation(children, lifecycle):
    child = children.create({}, None)
    await child.start()
    for end in lifecycle.ends:
        await end()

    assert [each.status for each in children.infos] == ["failed"]  # it never answered


def test_a_child_is_stored_or_has_a_session_of_its_own_but_not_both(children, runtime):
    with pytest.raises(PiError, match="not both"):
        children.create({"persist": True, "session_manager": runtime.manager}, None)
