"""Deferred tools that were activated belong to the branch of the session."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_testing import for_each, make_tool, text

DEFERRED = ("one", "two")


@pytest.fixture
async def session_with(tmp_path, pi_agent_dir, script):
    """Start a session with the tool ``look`` and these deferred ones; ``pi`` of the plugin that has them is ``.pi``."""
    made = []

    async def start(*deferred, **options):
        def activate(pi):
            start.pi = pi
            for name in deferred:
                pi.register_tool(make_tool(name, exposure="deferred"))

        settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
        session = create_agent_session(
            cwd=tmp_path,
            settings=settings,
            host=PluginHost(settings, installed=False),
            plugins={"script": script},
            extension_factories=[activate],
            custom_tools=[make_tool("look")],
            model=script.model,
            **options,
        )
        made.append(session)
        await session.start()
        return session

    yield start
    for session in made:
        await session.dispose()


@pytest.fixture
async def stored(session_with, script, tmp_path):
    """The file of a session in which the tool ``one`` was activated."""
    session = await session_with(*DEFERRED, session_manager=SessionManager.create(tmp_path, tmp_path / "sessions"))
    session.set_active_tools(["look", "one"])
    script.turn(text("Hello."))
    await session.prompt("hi")
    await session.dispose()
    return session.session_file


async def test_a_resumed_session_has_its_tools(session_with, stored):
    session = await session_with(*DEFERRED, session_manager=SessionManager.open(stored))

    assert session.get_active_tools() == ["look", "one"]


async def test_a_tool_that_is_registered_later_is_offered_then(session_with, stored):
    session = await session_with(session_manager=SessionManager.open(stored))
    assert session.get_active_tools() == ["look"]

    session_with.pi.register_tool(make_tool("one", exposure="deferred"))

    assert session.get_active_tools() == ["look", "one"]


async def test_choosing_tools_does_not_forget_one_that_is_not_registered_yet(session_with, stored):
    session = await session_with("two", session_manager=SessionManager.open(stored))
    session.set_active_tools([*session.get_active_tools(), "two"])

    session_with.pi.register_tool(make_tool("one", exposure="deferred"))

    assert set(session.get_active_tools()) == {"look", "one", "two"}


async def test_what_the_user_excludes_stays_excluded(session_with, stored):
    session = await session_with(*DEFERRED, session_manager=SessionManager.open(stored), exclude_tools=["one"])

    assert session.get_active_tools() == ["look"]


async def test_another_session_begins_without_them_and_the_stored_one_brings_them_back(session_with, stored):
    session = await session_with(*DEFERRED, session_manager=SessionManager.open(stored))

    await session.new_session()
    fresh = session.get_active_tools()
    await session.switch_session(stored)

    assert fresh == ["look"]
    assert session.get_active_tools() == ["look", "one"]


async def test_a_fork_has_the_tools_of_its_branch(session_with, stored):
    session = await session_with(*DEFERRED, session_manager=SessionManager.open(stored))
    ((entry_id, _),) = session.get_user_messages_for_forking()

    await session.fork(entry_id, "at")

    assert session.get_active_tools() == ["look", "one"]


async def test_a_place_in_the_tree_has_the_tools_that_were_active_there(session_with, script):
    session = await session_with(*DEFERRED, session_manager=SessionManager.in_memory())
    script.turn(text("First.")).turn(text("Second."))
    await session.prompt("first")
    before = session.session_manager.leaf_id
    session.set_active_tools(["look", "two"])
    await session.prompt("second")
    after = session.session_manager.leaf_id

    await session.navigate_tree(before)
    there = session.get_active_tools()
    await session.navigate_tree(after)

    assert there == ["look"]
    assert set(session.get_active_tools()) == {"look", "two"}


async def test_selecting_the_active_tools_stores_nothing(session_with):
    session = await session_with(session_manager=SessionManager.in_memory())
    before = session.session_manager.leaf_id

    session.set_active_tools(["look"])

    assert session.session_manager.leaf_id == before


@pytest.fixture
async def switched(session_with, script, tmp_path):
    """The file of a session in which ``write`` was switched off and ``late`` on, of five tools of a plugin."""
    session = await session_with(session_manager=SessionManager.create(tmp_path, tmp_path / "sessions"))
    for name in ("read", "write"):
        session_with.pi.register_tool(make_tool(name))
    session_with.pi.register_tool(make_tool("late", default_active=False))
    session.set_active_tools(["read", "late"])
    script.turn(text("Hello."))
    await session.prompt("hi")
    await session.dispose()
    return session.session_file


@for_each(
    "options, active",
    [
        ({}, ["read", "late"]),
        ({"tools": ["+write"]}, ["read", "late", "write"]),
        ({"tools": ["-late"]}, ["read"]),
        ({"tools": ["write"]}, ["write", "look"]),
        ({"exclude_tools": ["late"]}, ["read"]),
    ],
)
async def test_a_resumed_session_has_the_tools_that_were_selected(options, active, session_with, switched):
    session = await session_with(session_manager=SessionManager.open(switched), **options)
    for name in ("read", "write"):
        session_with.pi.register_tool(make_tool(name))
    session_with.pi.register_tool(make_tool("late", default_active=False))

    assert session.get_active_tools() == active


async def test_a_new_session_keeps_the_selection_and_stores_it(session_with, switched, script):
    session = await session_with("one", session_manager=SessionManager.open(switched))
    await session.new_session()
    script.turn(text("Hello."))
    await session.prompt("hi")
    await session.dispose()

    again = await session_with(session_manager=SessionManager.open(session.session_file))

    assert again.get_active_tools() == []


@pytest.mark.parametrize("data", [None, 5, {}, {"names": "one"}, {"names": [1, None]}], ids=str)
async def test_an_entry_that_another_program_wrote_wrongly_activates_nothing(session_with, data):
    manager = SessionManager.in_memory()
    manager.append_custom_entry("loaded_tools", data)

    session = await session_with(*DEFERRED, session_manager=manager)

    assert session.get_active_tools() == ["look"]
