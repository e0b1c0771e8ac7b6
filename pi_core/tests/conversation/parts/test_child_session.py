"""``create_child_session`` alone: what a child session inherits, and when none is created."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core.conversation.children import MAX_DEPTH, create_child_session
from pi_core.conversation.toolbox import Toolbox
from pi_core.create import create_agent_session
from pi_hookspecs import AbortController, PiError


@pytest.fixture
def parent_and_made(runtime):
    """A runtime, and the sessions that were made of it."""
    made = []

    def create(**options):
        made.append(create_agent_session(**options))
        return made[-1]

    return evolve(runtime, create_session=create), made


async def test_a_child_has_the_model_and_folder_and_a_conversation_of_its_own(parent_and_made):
    parent, _ = parent_and_made
    async with create_child_session(parent, {}, None) as child:
        assert (child.model, child.cwd) == (parent.agent.state.model, parent.cwd)
        assert child.session_manager is not parent.manager
        assert child.ctx.depth == 1


async def test_options_take_precedence_over_what_is_inherited(parent_and_made, tmp_path):
    parent, _ = parent_and_made
    (tmp_path / "below").mkdir()
    async with create_child_session(parent, {"cwd": tmp_path / "below", "thinking_level": "off"}, None) as child:
        assert (child.cwd, child.thinking_level) == (tmp_path / "below", "off")


async def test_a_tool_that_is_excluded_in_the_parent_is_excluded_in_the_child(parent_and_made):
    parent, made = parent_and_made
    parent = evolve(parent, toolbox=Toolbox(parent.host, excluded=["bash"]))
    async with create_child_session(parent, {"exclude_tools": ["ls"]}, None):
        assert made[0].toolbox.excluded == ("bash", "ls")


async def test_an_aborted_call_makes_no_session(parent_and_made):
    parent, made = parent_and_made
    abort = AbortController()
    abort.abort("Operation aborted")

    with pytest.raises(PiError, match="Operation aborted"):
        create_child_session(parent, {}, abort.signal)
    assert made == []


async def test_children_cannot_be_nested_without_end(parent_and_made):
    parent, made = parent_and_made
    parent.front_end.depth = MAX_DEPTH

    with pytest.raises(PiError, match="deeper"):
        create_child_session(parent, {}, None)
    assert made == []
