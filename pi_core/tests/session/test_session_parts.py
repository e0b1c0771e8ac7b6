"""The parts of a session, each without the manager and without the parts that depend on it."""

from __future__ import annotations

import pytest

from pi_core.session.context import BranchContext
from pi_core.session.forks import fork_path, fork_stored
from pi_core.session.instructions import BranchRecords
from pi_core.session.lookup import find_by_prefix, new_header, open_latest, open_or_create
from pi_core.session.memory import MemorySession
from pi_core.session.nodes import Names, roots
from pi_core.session.open_session import OpenSession
from pi_core.session.stores import memory_store, resolve_store, store_or_memory
from pi_core.session.tree import SessionTree
from pi_core.session.writer import SessionWriter
from pi_hookspecs import (
    AssistantMessage,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SystemMessage,
    UserError,
    UserMessage,
)

HEADER = new_header("/work", "zebra")
ANSWER = AssistantMessage(api="x", provider="p", model="m", timestamp=1)


def entry(entry_id, parent_id, message=None):
    message = message or UserMessage(content=entry_id, timestamp=1)
    return MessageEntry(id=entry_id, parent_id=parent_id, timestamp="", message=message)


@pytest.fixture
def tree():
    """Two branches: a - b, and a - c, which is the leaf."""
    return SessionTree([entry("a", None), entry("b", "a"), entry("c", "a")])


class TestTree:
    def test_entries_are_found_by_id(self, tree):
        assert tree.get("b").id == "b"
        assert tree.get("zz") is None
        assert [each.id for each in tree.get_children("a")] == ["b", "c"]
        assert [each.id for each in tree.get_children(None)] == ["a"]
        assert tree.get_children("zz") == []

    def test_the_leaf_moves_to_an_entry_and_to_the_start(self, tree):
        assert tree.leaf_entry().id == "c"

        tree.move_to("b")
        assert [each.id for each in tree.branch()] == ["a", "b"]

        tree.move_to_start()
        assert tree.leaf_entry() is None

    def test_an_id_that_no_entry_has_moves_nothing(self, tree):
        with pytest.raises(UserError, match="Entry ID not found: 'zz'"):
            tree.move_to("zz")

        assert tree.leaf_entry().id == "c"


class TestContext:
    def test_it_follows_the_leaf_of_its_tree(self, tree):
        context = BranchContext(tree, HEADER)
        assert [each.content for each in context.get().messages] == ["a", "c"]

        tree.move_to("b")

        assert [each.content for each in context.get().messages] == ["a", "b"]
        assert [each.content for each in context.get("c").messages] == ["a", "c"]

    def test_an_appended_entry_extends_it(self, tree):
        context = BranchContext(tree, HEADER)
        before = context.get()
        change = ModelChangeEntry(id="d", parent_id="c", timestamp="", provider="p", model_id="m")

        context.appended(tree.append(change), change, tree.number("c"))

        assert (before.model, context.get().model.model_id) == (None, "m")

    def test_records_are_kept_apart(self, tree):
        record = entry("d", "c", SystemMessage(sections={"cwd": "/work"}, timestamp=1))
        tree.append(record)

        records = BranchRecords(tree)

        assert records.instructions().sections == {"cwd": "/work"}
        assert [tree.id(number) for number in records.others()] == ["a", "c"]
        assert [each.content for each in BranchContext(tree, HEADER).get().messages] == ["a", "c"]


def test_labels_and_nodes_need_a_tree_alone(tree):
    tree.append(LabelEntry(id="d", parent_id="c", timestamp="", target_id="b", label="here"))
    names = Names(tree)

    [root] = roots(tree, names)

    assert [(node.id, node.label) for node in root.children] == [("b", "here"), ("c", None)]
    assert names.name is None


class TestWriter:
    def test_it_stores_nothing_before_a_conversation_begins(self):
        stored, reports = MemorySession(HEADER), []
        writer = SessionWriter(stored, reports.append, begun=False)

        writer.add(ModelChangeEntry(id="a", parent_id=None, timestamp="", provider="p", model_id="m"))
        assert stored.entries == []
        writer.add(entry("b", "a"))

        assert [each.id for each in stored.entries] == ["a", "b"]
        assert (writer.begun, writer.waiting, reports) == (True, [], [])

    def test_a_stopped_writer_does_not_use_the_store(self):
        stored = MemorySession(HEADER)
        writer = SessionWriter(stored, print, begun=True)

        writer.stop()
        writer.add(entry("a", None))
        writer.close()

        assert (stored.entries, len(writer.waiting)) == ([], 1)


class TestTranscript:
    @pytest.fixture
    def transcript(self):
        return OpenSession(memory_store(), MemorySession(HEADER))

    def test_an_entry_goes_through_all_parts(self):
        stored, appended = MemorySession(HEADER), []
        transcript = OpenSession(memory_store(), stored)
        transcript.on_append = appended.append

        first = transcript.append_message(UserMessage(content="hi", timestamp=1))
        transcript.append_label_change(first, "start")
        last = transcript.append_message(ANSWER)

        assert transcript.leaf_id == last
        assert [each.role for each in transcript.context.get().messages] == ["user", "assistant"]
        assert transcript.names.label(first) == "start"
        assert stored.entries == appended == list(transcript.tree.entries())

    def test_entries_that_are_not_stored_yet_follow_those_that_are(self):
        stored = MemorySession(HEADER, [entry("a", None)])

        transcript = OpenSession(memory_store(), stored, begun=True, waiting=[entry("b", "a")])
        transcript.append_message(ANSWER)

        assert [each.id for each in stored.entries] == ["a", "b", transcript.leaf_id]

    def test_labels_are_set_where_they_differ(self, transcript):
        first, second = (transcript.append_message(UserMessage(content=text)) for text in "ab")
        transcript.append_label_change(first, "same")
        before = len(transcript.tree)

        transcript.set_labels({first: "same", second: "new"})

        assert transcript.labels_of([0, 1]) == {first: "same", second: "new"}
        assert len(transcript.tree) == before + 1


class TestFinding:
    def test_without_a_plugin_that_stores_there_is_a_store_in_memory_and_a_notice(self, host_of):
        chosen, [notice] = store_or_memory("/work", None, host=host_of(None))

        assert chosen.in_memory
        assert notice.endswith("Until then this session is kept in memory only.")

    def test_a_path_without_a_session_makes_one(self, host, store, tmp_path):
        chosen, path = resolve_store("/work", host=host), tmp_path / "new"

        stored, begun = open_or_create(chosen, path, "/work")

        assert (store.sessions[str(path)], begun) == (stored, False)

    def test_where_nothing_is_stored_there_is_no_latest_session_and_nothing_to_find(self):
        assert open_latest(memory_store(), "/work") == (None, ())
        with pytest.raises(UserError, match="No session found matching 'zeb'"):
            find_by_prefix("zeb", [], "/work")


class TestForks:
    def test_a_path_without_an_answer_waits_to_be_stored(self):
        transcript = OpenSession(memory_store(), MemorySession(HEADER))
        transcript.append_message(UserMessage(content="hi", timestamp=1))
        transcript.append_message(ANSWER)

        short = fork_path(memory_store(), transcript, [0])
        whole = fork_path(memory_store(), transcript, [0, 1])

        assert (short.begun, len(short.stored.entries), len(short.waiting)) == (False, 0, 1)
        assert (whole.begun, len(whole.stored.entries), len(whole.waiting)) == (True, 2, 0)

    def test_what_is_not_a_session_cannot_be_forked(self):
        with pytest.raises(UserError, match="Cannot fork: source session file is empty or invalid: gone"):
            fork_stored(memory_store(), "gone", HEADER)
