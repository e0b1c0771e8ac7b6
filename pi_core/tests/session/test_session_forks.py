"""New sessions from a session: branches, forks, replacement, export and import."""

from __future__ import annotations

import json

import pytest

from pi_core import SessionManager
from pi_core.wire import dumps, entry_from_wire, header_from_wire
from pi_hookspecs import AssistantMessage, UnknownEntry, UserError, UserMessage

ANSWER = AssistantMessage(api="x", provider="p", model="m", timestamp=1)


def ids(manager):
    return [entry.id for entry in manager.get_entries()]


@pytest.fixture(params=["stored", "in memory"])
def manager(request, host):
    return SessionManager.create("/work", host=host) if request.param == "stored" else SessionManager.in_memory("/work")


@pytest.fixture
def saved(host):
    manager = SessionManager.create("/work", host=host)
    manager.append_message(UserMessage(content="one"))
    manager.append_message(ANSWER)
    manager.append_message(UserMessage(content="two"))
    manager.append_message(ANSWER)
    return manager


class TestBranchedSession:
    def test_holds_the_path_to_an_entry(self, manager):
        first = manager.append_message(UserMessage(content="one"))
        second = manager.append_message(ANSWER)
        manager.append_message(UserMessage(content="two"))
        old = manager.id

        manager.create_branched_session(second)

        assert manager.id != old
        assert ids(manager) == [first, second]
        assert manager.leaf_id == second
        assert manager.header.parent_session == (old if manager.is_persisted else None)

    def test_is_stored_at_once_and_the_old_one_stays(self, saved, store, host):
        path, old = ids(saved)[:2], saved.id

        saved.create_branched_session(path[1])
        more = saved.append_custom_entry("todo")

        assert ids(SessionManager.open(saved.id, host=host)) == [*path, more]
        assert len(store.sessions[old].lines) == 4

    def test_without_an_answer_is_stored_with_the_first(self, saved, store):
        first = ids(saved)[0]

        saved.create_branched_session(first)
        assert store.sessions[saved.id].lines == []
        assert not saved.is_saved
        saved.append_message(ANSWER)

        assert len(store.sessions[saved.id].lines) == 2

    def test_of_one_that_was_never_stored_names_no_parent(self, host):
        manager = SessionManager.create("/work", host=host)
        first = manager.append_custom_entry("todo")

        manager.create_branched_session(first)

        assert manager.header.parent_session is None
        assert ids(manager) == [first]

    def test_of_one_that_cannot_be_stored_goes_on_in_memory(self, saved, store, full):
        saved.writer.stored.failure = full
        last = saved.append_message(ANSWER)

        saved.create_branched_session(last)

        assert len(ids(saved)) == 5
        assert saved.get_leaf_entry().id == last
        saved.append_custom_entry("todo")
        assert len(store.sessions[saved.id].lines) == 6

    def test_that_the_store_refuses_leaves_this_one_in_place(self, saved, store, full, monkeypatch):
        def refuse(*_):
            raise full

        monkeypatch.setattr(store, "fork", refuse)
        before = saved.id

        with pytest.raises(OSError, match="No space left"):
            saved.create_branched_session(ids(saved)[1])

        assert saved.id == before
        assert saved.append_custom_entry("todo") == ids(saved)[4]

    def test_has_the_labels_that_its_entries_had(self, manager):
        first = manager.append_message(UserMessage(content="one"))
        manager.append_label_change(first, "old")
        answer = manager.append_message(ANSWER)
        manager.append_message(UserMessage(content="elsewhere"))
        manager.append_label_change(first, "new")
        manager.append_label_change(answer, "answer")

        manager.create_branched_session(answer)

        assert (manager.get_label(first), manager.get_label(answer)) == ("new", "answer")
        assert [entry.type for entry in manager.get_branch()] == ["message", "label", "message", "label", "label"]

    def test_has_no_label_that_was_taken_away(self, manager):
        first = manager.append_message(UserMessage(content="one"))
        label = manager.append_label_change(first, "old")
        manager.append_label_change(first, None)

        manager.create_branched_session(label)

        assert manager.get_label(first) is None


class TestFork:
    def test_ends_before_an_entry_or_with_it(self, saved, host):
        entries, old = ids(saved), saved.id

        saved.fork(entries[2])
        assert ids(saved) == entries[:2]

        again = SessionManager.open(old, host=host)
        again.fork(entries[2], "at")
        assert ids(again) == entries[:3]

    def test_before_the_first_entry_is_empty(self, saved):
        saved.fork(ids(saved)[0])

        assert ids(saved) == []
        assert saved.leaf_id is None

    def test_from_another_project_copies_all_branches(self, saved, host):
        saved.branch(ids(saved)[0])
        saved.append_message(ANSWER)

        copy = SessionManager.fork_from(saved.id, "/other", id="copy", host=host)

        assert (copy.id, copy.cwd, copy.header.parent_session) == ("copy", "/other", saved.id)
        assert copy.get_entries() == list(saved.get_entries())

    def test_from_what_is_no_session_is_refused(self, host):
        with pytest.raises(UserError, match=r"Cannot fork: source session file is empty or invalid: /x\.jsonl"):
            SessionManager.fork_from("/x.jsonl", "/other", host=host)


def test_a_new_session_takes_the_place_of_this_one(manager):
    manager.append_message(ANSWER)
    manager.append_session_info("old")
    old = manager.id

    assert manager.new_session(parent_session="/parent.jsonl") is None  # the store of these tests has no files

    assert manager.id != old
    assert (manager.cwd, manager.name, ids(manager)) == ("/work", None, [])
    assert manager.header.parent_session == "/parent.jsonl"
    assert manager.build_session_context().messages == ()


def test_another_session_takes_the_place_of_this_one(saved, host):
    manager = SessionManager.create("/work", host=host)
    before = manager.writer.stored

    manager.set_session_file(saved.id)

    assert before.closed
    assert manager.id == saved.id
    assert len(manager.build_session_context().messages) == 4
    with pytest.raises(UserError):
        manager.set_session_file("nothing")
    assert manager.id == saved.id


class TestExport:
    def test_writes_header_and_branch(self, manager, tmp_path):
        first = manager.append_message(UserMessage(content="one"))
        manager.append_message(UserMessage(content="left"))
        manager.branch(first)
        unknown = manager.append_entry(UnknownEntry(type="later", id="", parent_id=None, extra={"x_y": [None]}))
        answer = manager.append_message(ANSWER)

        path = manager.export_jsonl(tmp_path / "out.jsonl")

        lines = path.read_bytes().splitlines()
        assert header_from_wire(json.loads(lines[0])) == manager.header
        entries = [entry_from_wire(json.loads(line)) for line in lines[1:]]
        assert [entry.id for entry in entries] == [first, unknown, answer]
        assert entries == list(manager.get_branch())
        assert [each.name for each in tmp_path.iterdir()] == ["out.jsonl"]

    def test_replaces_a_file(self, saved, tmp_path):
        path = tmp_path / "out.jsonl"
        path.write_text("old " * 1000)

        saved.export_to_jsonl(str(path))

        assert path.read_text().startswith('{"type":"session"')

    def test_of_nothing_is_refused(self, manager, tmp_path):
        manager.append_model_change("p", "m")

        with pytest.raises(UserError, match="Nothing to export yet - start a conversation first"):
            manager.export_jsonl(tmp_path / "out.jsonl")

    def test_to_where_nothing_can_be_written_is_refused(self, saved, tmp_path):
        with pytest.raises(UserError, match=r"Cannot export to .*No such file or directory"):
            saved.export_jsonl(tmp_path / "gone" / "out.jsonl")

    def test_chains_an_entry_whose_parent_is_missing(self, store, host, tmp_path):
        manager = SessionManager.create("/work", host=host)
        manager.append_message(ANSWER)
        line = json.loads(store.sessions[manager.id].lines[0]) | {"parentId": "gone"}
        store.sessions[manager.id].lines[0] = dumps(line)

        path = SessionManager.open(manager.id, host=host).export_jsonl(tmp_path / "out.jsonl")

        assert json.loads(path.read_bytes().splitlines()[1])["parentId"] is None


class TestImport:
    @pytest.fixture
    def jsonl(self, host_of, store):
        """A host whose store is the one for files of JSON lines."""
        store.name = "jsonl"
        return host_of(store, sessionStore="jsonl")

    @pytest.fixture
    def source(self, store, host_of, jsonl):
        """A session that is stored under a path."""
        manager = SessionManager.create("/elsewhere", host=jsonl)
        manager.append_message(ANSWER)
        store.sessions["/in.jsonl"] = store.sessions.pop(manager.id)
        return manager

    def test_keeps_id_and_working_directory(self, source, jsonl, store):
        manager = SessionManager.import_jsonl("/in.jsonl", host=jsonl)

        assert (manager.id, manager.cwd) == (source.id, "/elsewhere")
        assert ids(manager) == ids(source)
        assert source.id in store.sessions

    def test_goes_into_whatever_store_is_chosen(self, source, store, store_class, host_of, jsonl):
        other = store_class()
        host = host_of(store, sessionStore="other")
        other.name = "other"
        host_of.add(host, other)

        manager = SessionManager.import_jsonl("/in.jsonl", host=host)

        assert other.sessions[source.id].appends == [ids(source)]
        assert ids(manager) == ids(source)

    def test_of_a_session_that_is_there_is_refused(self, source, jsonl, store, monkeypatch):
        def taken(*_):
            raise FileExistsError(17, "File exists", "/sessions/there.jsonl")

        monkeypatch.setattr(store, "fork", taken)

        with pytest.raises(UserError, match=r"is already stored: '/sessions/there\.jsonl'"):
            SessionManager.import_jsonl("/in.jsonl", host=jsonl)

    def test_that_cannot_be_stored_is_refused(self, source, jsonl, store, monkeypatch, full):
        monkeypatch.setattr(store, "fork", lambda *_: (_ for _ in ()).throw(full))

        with pytest.raises(UserError, match=r"Cannot import '/in\.jsonl': No space left on device"):
            SessionManager.import_jsonl("/in.jsonl", host=jsonl)
