"""``ctx.sessions``: other sessions are listed, read and searched, and stay as they are."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, SessionManager, Settings
from pi_hookspecs import SearchableStore, SessionMatch, Sessions, UserError, hookimpl
from pi_testing import text


@pytest.fixture
def host(installed_host):
    return installed_host


@pytest.fixture
async def earlier(session_of, script, host, tmp_path):
    """A stored session that is over."""
    session = session_of(session_manager=SessionManager.create(tmp_path, host=host))
    script.turn(text("The sea."))
    await session.prompt("What is at noon?")
    await session.dispose()
    return session.session_manager


@pytest.fixture
def present(session_of, host, tmp_path, earlier):
    """Another stored session, after that one."""
    return session_of(session_manager=SessionManager.create(tmp_path, host=host))


async def test_a_plugin_lists_the_sessions_of_a_folder(present, earlier, tmp_path):
    here = await present.ctx.sessions.list(tmp_path)
    elsewhere = await present.ctx.sessions.list(tmp_path / "other")

    assert isinstance(present.ctx.sessions, Sessions)
    assert [each.id for each in here] == [earlier.id]
    assert list(elsewhere) == []
    assert [each.id for each in await present.ctx.sessions.list()] == [earlier.id]


@pytest.mark.parametrize("by", [lambda it: it.reference, lambda it: it.id, lambda it: it.id[:13]])
async def test_a_plugin_reads_a_session_by_its_path_or_the_beginning_of_its_id(present, earlier, by):
    view = await present.ctx.sessions.open(by(earlier))

    assert (view.id, view.file) == (earlier.id, earlier.file)
    assert [message.text for message in view.context().messages if message.role != "system"] == [
        "What is at noon?",
        "The sea.",
    ]


async def test_reading_changes_neither_the_file_nor_the_present_session(present, earlier):
    before = earlier.file.read_bytes()
    await present.ctx.sessions.open(earlier.reference)

    assert earlier.file.read_bytes() == before
    assert present.session_id != earlier.id


async def test_a_session_that_is_not_there_is_named(present, tmp_path):
    with pytest.raises(UserError, match="No session found matching 'feed'"):
        await present.ctx.sessions.open("feed")
    with pytest.raises(UserError, match="no session file"):
        await present.ctx.sessions.open(str(tmp_path / "gone.jsonl"))


async def test_a_store_that_cannot_search_is_named(session_of, tmp_path, pi_agent_dir, earlier):
    session = session_of(session_manager=SessionManager.create(tmp_path, host=shelf_host(pi_agent_dir, earlier)))

    with pytest.raises(UserError, match="The session store 'shelf' cannot search, and no plugin searches it"):
        await session.ctx.sessions.search("sea")


async def test_a_service_searches_the_stores_that_it_knows(session_of, tmp_path, pi_agent_dir, earlier):
    class Knows:
        def __init__(self, name):
            self.name = name

        def search_sessions(self, store, place, query, cwd, limit):
            if store.name != self.name:
                return None
            assert place.agent_dir == pi_agent_dir
            return [SessionMatch(session=store.list()[0], snippet=f"{query} {cwd} {limit}")]

    class Plugin:
        @hookimpl
        def register_services(self):
            return [Knows("other"), Knows("shelf")]

    host = shelf_host(pi_agent_dir, earlier)
    host.add(Plugin(), "searches")
    session = session_of(session_manager=SessionManager.create(tmp_path, host=host))
    (found,) = await session.ctx.sessions.search("sea", limit=3)

    assert (found.session.id, found.snippet) == (earlier.id, "sea None 3")


def files(earlier):
    """Return the class of the store that keeps a session in a file."""
    return earlier.shared_store().host.find("register_session_stores", "jsonl").thing


def shelf_host(agent_dir, earlier):
    """Return a host with the store ``shelf``, which cannot search."""
    kind = files(earlier)

    class Plugin:
        @hookimpl
        def register_session_stores(self):
            return [type("Shelf", (kind,), {"name": "shelf"})]

    host = PluginHost(Settings.in_memory({"sessionStore": "shelf"}, agent_dir=agent_dir), installed=False)
    host.add(Plugin(), "shelf")
    return host


def test_next_to_a_session_in_memory_the_stored_ones_are_those_of_the_settings(host, earlier):
    store = SessionManager.in_memory().shared_store(host).store

    assert [each.id for each in store.list()] == [earlier.id]


async def test_a_store_that_can_search_is_asked_with_the_folder(session_of, tmp_path, pi_agent_dir, earlier):
    asked = []

    class Indexed(files(earlier)):
        name = "indexed"

        def search(self, query, cwd=None, limit=50):
            asked.append((query, cwd, limit))
            return [SessionMatch(session=self.list()[0], snippet="The sea.", entry_id="0000000a", score=1.0)]

    class Plugin:
        @hookimpl
        def register_session_stores(self):
            return [Indexed]

    host = PluginHost(Settings.in_memory({"sessionStore": "indexed"}, agent_dir=pi_agent_dir), installed=False)
    host.add(Plugin(), "indexed")
    session = session_of(session_manager=SessionManager.create(tmp_path, host=host))
    (found,) = await session.ctx.sessions.search("sea", tmp_path, limit=3)

    assert isinstance(session.session_manager.shared_store().store, SearchableStore)
    assert asked == [("sea", str(tmp_path), 3)]
    assert (found.session.id, found.snippet) == (earlier.id, "The sea.")
