"""Creating, opening, continuing, listing and looking up sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from pi_core import SessionManager
from pi_hookspecs import AssistantMessage, SessionInfo, UserError, UserMessage

USER = UserMessage(content="hi", timestamp=1)
ANSWER = AssistantMessage(api="x", provider="p", model="m", timestamp=1)
DAY = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def saved(host):
    manager = SessionManager.create("/work", host=host)
    manager.append_message(USER)
    manager.append_message(ANSWER)
    return manager


def info(session_id, cwd="/work"):
    return SessionInfo(path=f"/s/{session_id}", id=session_id, cwd=cwd, created=DAY, modified=DAY, name="a name")


def test_a_stored_session_is_opened_by_its_reference(saved, host):
    again = SessionManager.open(saved.reference, host=host)

    assert again.id == saved.id
    assert again.get_entries() == list(saved.get_entries())
    assert again.leaf_id == saved.leaf_id


def test_a_path_under_which_nothing_is_stored_is_kept_for_a_new_session(tmp_path, store, host):
    path = tmp_path / "new.jsonl"

    manager = SessionManager.open(path, host=host)
    manager.append_message(ANSWER)

    assert len(store.sessions[str(path)].lines) == 1


def test_an_unknown_id_makes_no_new_session(host):
    with pytest.raises(UserError, match="nothing is stored under 'abc'"):
        SessionManager.open("abc", host=host)


def test_a_file_that_is_no_session_is_left_alone(tmp_path, store, host):
    path = tmp_path / "notes.txt"
    path.write_text("my notes")

    with pytest.raises(UserError, match="nothing is stored"):
        SessionManager.open(path, host=host)

    assert store.sessions == {}


def test_continuing_opens_the_latest_of_the_working_directory(saved, host):
    SessionManager.create("/elsewhere", host=host).append_message(ANSWER)

    assert SessionManager.continue_recent("/work", host=host).id == saved.id


def test_continuing_where_nothing_was_begins_anew(saved, host):
    assert SessionManager.continue_recent("/nowhere", host=host).cwd == "/nowhere"


@pytest.mark.parametrize(("cwd", "which"), [("/work", "the one before"), ("/nowhere", "a new one")])
def test_continuing_a_session_that_cannot_be_opened_takes_the_one_before_and_says_so(
    saved, store, host, monkeypatch, cwd, which
):
    monkeypatch.setattr(store, "latest", lambda self, cwd: "gone")
    store.infos = [evolve(info(each), path=each) for each in ("gone", "gone, too", saved.reference)]

    manager = SessionManager.continue_recent(cwd, host=host)

    assert (manager.id == saved.id) is (which == "the one before")
    assert manager.cwd == cwd
    assert manager.notices == [f"The last session could not be opened; this is {which}. nothing is stored under 'gone'"]


def test_without_a_store_a_new_session_is_in_memory_and_says_what_to_install(host_of):
    manager = SessionManager.create("/work", host=host_of(None, sessionStore="jsonl"))

    assert not manager.is_persisted
    assert "Install pluggypi-session-jsonl" in manager.notices[0]


def test_without_a_store_nothing_can_be_opened(host_of):
    with pytest.raises(UserError, match=r"Cannot open session '/s\.jsonl'.*Install pluggypi-session-jsonl"):
        SessionManager.open("/s.jsonl", host=host_of(None, sessionStore="jsonl"))


def test_a_store_of_another_name_is_missed_by_that_name(host_of, store):
    with pytest.raises(UserError, match=r"No plugin provides the session store 'sqlite'.*'listed', 'memory'"):
        SessionManager.list("/work", host=host_of(store, sessionStore="sqlite"))


def test_a_store_that_cannot_be_made_is_reported_with_its_plugin(host_of, store, monkeypatch):
    monkeypatch.setattr(store, "__init__", lambda self, place: 1 / 0)

    manager = SessionManager.create("/work", host=host_of(store))

    assert "store 'listed' of plugin 'listed' cannot be used: ZeroDivisionError" in manager.notices[0]


def test_memory_can_be_chosen(host_of):
    assert not SessionManager.create("/work", host=host_of(None, sessionStore="memory")).is_persisted


@pytest.mark.parametrize(
    ("argument", "environ", "setting", "expected"),
    [
        ("/a", {"PI_CODING_AGENT_SESSION_DIR": "/b"}, "/c", "/a"),
        (None, {"PI_CODING_AGENT_SESSION_DIR": "/b"}, "/c", "/b"),
        (None, {}, "/c", "/c"),
        (None, {}, "inside", "/work/inside"),
        (None, {}, None, None),
    ],
    ids=["argument", "environment", "setting", "relative", "none"],
)
def test_the_folder_is_the_arguments_then_the_environments_then_the_settings(
    host_of, store, argument, environ, setting, expected
):
    chosen = {"sessionDir": setting} if setting else {}

    manager = SessionManager.create("/work", argument, host=host_of(store, **chosen), environ=environ)

    assert manager.get_session_dir() == (Path(expected) if expected else None)


def test_without_a_host_the_installed_plugins_are_asked(tmp_path):
    environ = {"PI_CODING_AGENT_DIR": str(tmp_path)}

    assert list(SessionManager.list(tmp_path, environ=environ)) == []


def test_sessions_are_listed_by_the_store(store, host):
    store.infos = (info("a"), info("b", "/elsewhere"))

    assert [each.id for each in SessionManager.list("/work", host=host)] == ["a"]
    assert [each.id for each in SessionManager.list_all(host=host)] == ["a", "b"]


class TestByTheBeginningOfItsId:
    @pytest.fixture(autouse=True)
    def sessions(self, store):
        store.infos = (
            info("abc1"),
            info("abd2"),
            info("abd3", "/elsewhere"),
            info("abc", "/elsewhere"),
            info("x9", "/y"),
        )

    @pytest.mark.parametrize(("partial", "found"), [("abc", "abc1"), ("abd", "abd2"), ("x", "x9"), ("abd3", "abd3")])
    def test_one_is_found_here_before_elsewhere(self, host, partial, found):
        assert SessionManager.find(partial, "/work", host=host).id == found

    def test_several_are_listed(self, host):
        with pytest.raises(UserError) as caught:
            SessionManager.find("ab", "/work", host=host)

        assert str(caught.value) == (
            "2 sessions match 'ab'; give more of the id: "
            "abc1 (2026-01-02 00:00, a name); abd2 (2026-01-02 00:00, a name)"
        )

    def test_of_files_with_one_id_the_one_stored_to_last_is_found(self, host, store):
        repaired, original = info("same1"), info("same1")
        store.infos = (repaired, original)

        assert SessionManager.find("same", "/work", host=host) is repaired

    @pytest.mark.parametrize("partial", ["zz", ""])
    def test_none_is_an_error(self, host, partial):
        with pytest.raises(UserError, match=f"No session found matching '{partial}'"):
            SessionManager.find(partial, "/work", host=host)

    def test_a_whole_id_is_looked_up(self, host):
        assert SessionManager.find_by_id("abc", host=host).cwd == "/elsewhere"
        assert SessionManager.find_by_id("ab", host=host) is None


def test_a_plugin_host_is_made_of_the_settings_of_the_working_directory(tmp_path):
    (tmp_path / "settings.json").write_text('{"sessionStore": "memory"}')

    manager = SessionManager.create(tmp_path, environ={"PI_CODING_AGENT_DIR": str(tmp_path)})

    assert not manager.is_persisted
    assert manager.notices == []
