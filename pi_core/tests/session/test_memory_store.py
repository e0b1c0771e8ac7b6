"""The built-in store in memory."""

from __future__ import annotations

import pytest

from pi_core.session.lookup import new_header
from pi_core.session.memory import MemoryStore
from pi_hookspecs import (
    AssistantMessage,
    MessageEntry,
    SessionInfoEntry,
    SessionStore,
    StoredSession,
    UserError,
    UserMessage,
)


def entry(number, message):
    return MessageEntry(id=f"{number:08x}", parent_id=None, timestamp="2026-01-02T03:04:05.678Z", message=message)


def hi(seconds, text="hi"):
    return entry(seconds, UserMessage(content=text, timestamp=seconds * 1000))


@pytest.fixture
def store():
    return MemoryStore()


def test_it_implements_the_session_store_protocol(store):
    session = store.create(new_header("/work", "a"))

    assert isinstance(store, SessionStore)
    assert isinstance(session, StoredSession)
    assert (session.reference, session.file, list(session.notices)) == ("a", None, [])


def test_what_was_appended_is_there_when_it_is_opened_again(store):
    session = store.create(new_header("/work", "a"))
    session.append([hi(1)])
    session.sync()
    session.close()

    assert store.open("a").entries == [hi(1)]
    with pytest.raises(UserError, match="No session 'b' in memory"):
        store.open("b")


def test_sessions_are_listed_with_the_newest_message_first(store):
    older, newer = (store.create(new_header("/work", name)) for name in "ab")
    older.append([hi(2_000_000_000), SessionInfoEntry(id="n", parent_id=None, timestamp="", name="old one")])
    answer = AssistantMessage(api="x", provider="p", model="m", timestamp=2_100_000_001_000)
    newer.append([hi(2_100_000_000, "look"), entry(1, answer)])
    store.create(new_header("/elsewhere", "c"))
    seen = []

    found = store.list("/work", lambda done, total: seen.append((done, total)))

    assert [each.id for each in found] == ["b", "a"]
    assert {each.id: (each.message_count, each.first_message, each.name) for each in found} == {
        "a": (1, "hi", "old one"),
        "b": (2, "look", None),
    }
    assert seen == [(2, 2)]
    assert len(store.list()) == 3
    assert store.list("/elsewhere")[0].first_message == "(no messages)"
    assert found[1].all_messages_text == "hi"


def test_the_latest_is_the_one_with_the_newest_message(store):
    for name, seconds in (("a", 2_100_000_000), ("b", 2_000_000_000)):
        store.create(new_header("/work", name)).append([hi(seconds)])

    assert store.latest("/work") == "a"
    assert store.latest("/nowhere") is None


def test_a_fork_has_the_entries_that_were_chosen(store):
    source = store.create(new_header("/work", "a"))
    source.append([hi(1), hi(2), hi(3)])

    copy = store.fork(source, new_header("/work", "b", "a"), [2, 0])

    assert copy.entries == [hi(3), hi(1)]
    assert len(source.entries) == 3
