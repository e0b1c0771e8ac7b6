"""The tree of a session: what files hold, what is parsed, and where the next entry goes."""

from __future__ import annotations

import pytest

from pi_core import SessionManager
from pi_core.session import ReadOnlySession
from pi_core.session.tree import SessionTree, tree_problems
from pi_hookspecs import AssistantMessage, CustomEntry, LabelEntry, MessageEntry, SessionView, UserError, UserMessage
from pi_testing import for_each

ANSWER = AssistantMessage(api="x", provider="p", model="m", timestamp=1)


def user_entry(entry_id, parent_id, text="x"):
    return MessageEntry(id=entry_id, parent_id=parent_id, timestamp="", message=UserMessage(content=text, timestamp=1))


def outline(manager):
    def node(each):
        return (each.id, [node(child) for child in each.children]) if each.children else each.id

    return [node(each) for each in manager.get_tree()]


@pytest.fixture
def manager():
    return SessionManager.in_memory("/work")


@pytest.fixture
def append_text(manager):
    return lambda text: manager.append_message(UserMessage(content=text))


class TestFilesThatAreNoTree:
    def test_the_last_of_entries_with_one_id_is_meant(self):
        tree = SessionTree(
            [user_entry("a", None, "old"), user_entry("b", "a"), user_entry("a", None, "new"), user_entry("c", "a")]
        )

        assert tree.entry(tree.number("a")).message.text == "new"
        assert [entry.id for entry in tree.branch()] == ["a", "c"]
        assert tree.repeated_ids == 1

    def test_an_entry_without_its_parent_is_a_root(self):
        tree = SessionTree([user_entry("a", "gone"), user_entry("b", "a")])

        assert [entry.id for entry in tree.branch()] == ["a", "b"]
        assert tree.children(-1) == [0]

    @for_each("links", ["aa", "ab ba", "ab bc ca", "aa bb", "ab ba ca"])
    def test_a_cycle_of_parents_is_cut(self, links):
        entries = [user_entry(own, parent) for own, parent in links.split()]

        tree = SessionTree(entries)

        assert len(tree.branch()) <= len(entries)
        assert sum("in a cycle" in each for each in tree_problems(entries)) == (2 if links == "aa bb" else 1)

    def test_problems_are_listed(self):
        problems = tree_problems(
            [user_entry("a", "gone"), user_entry("b", "b"), user_entry("c", None), user_entry("c", "a")]
        )

        assert problems == [
            "Entry 4 has the id 'c' of entry 3.",
            "Entry 'a' follows 'gone', which is missing.",
            "Entry 'b' follows itself, in a cycle.",
        ]

    def test_repeated_ids_are_reported_when_the_session_is_opened(self, host, store):
        manager = SessionManager.create("/work", host=host)
        manager.append_message(ANSWER)
        store.sessions[manager.id].lines *= 2

        again = SessionManager.open(manager.id, host=host)

        assert "1 entry with an id that a later entry has" in again.notices[0]

    def test_an_entry_without_its_parent_is_reported_when_the_session_is_opened(self, host, store):
        manager = SessionManager.create("/work", host=host)
        for text in ("one", "two"):
            manager.append_message(UserMessage(content=text))
        manager.append_message(ANSWER)
        del store.sessions[manager.id].lines[-2]

        again = SessionManager.open(manager.id, host=host)

        assert "1 entry whose parent is not in the file" in again.notices[0]


class TestWhatIsParsed:
    @pytest.fixture
    def opened(self, host):
        manager = SessionManager.create("/work", host=host)
        first = manager.append_message(UserMessage(content="hi"))
        manager.append_custom_entry("todo", [1])
        manager.append_session_info("named")
        manager.append_label_change(first, "start")
        manager.append_message(ANSWER)
        return SessionManager.open(manager.id, host=host)

    def parsed(self, manager):
        return manager.writer.stored.entries.parsed

    def test_nothing_for_the_tree_and_the_branch(self, opened):
        assert [node.type for node in opened.get_tree()] == ["message"]
        assert len(opened.get_branch()) == len(opened.get_entries()) == 5
        assert opened.leaf_id is not None
        assert self.parsed(opened) == []

    def test_what_has_the_type_that_is_asked_for(self, opened):
        assert [entry.data for entry in opened.get_branch().of_type("custom")] == [[1]]
        assert self.parsed(opened) == [1]

    def test_what_comes_after_an_entry(self, opened):
        entries = opened.get_entries()
        labelled = opened.tree.id(3)

        assert [entry.type for entry in entries.after(labelled)] == ["message"]
        assert len(entries.after(opened.leaf_id)) == 0
        assert entries.after("nowhere") is None
        assert self.parsed(opened) == [4]

    def test_the_newest_first_for_a_plugin_that_looks_back(self, opened):
        branch = ReadOnlySession(opened).branch()

        found = next(entry for entry in reversed(branch) if isinstance(entry, CustomEntry))

        assert found.data == [1]
        assert self.parsed(opened) == [4, 3, 2, 1]

    def test_a_snapshot_is_read_backwards_without_what_came_after_it(self, opened):
        branch = ReadOnlySession(opened).branch()
        ids = [entry.id for entry in branch]
        opened.append_message(UserMessage(content="later"))

        assert [entry.id for entry in reversed(branch)] == ids[::-1]
        assert [entry.id for entry in reversed(branch[:0])] == []

    def test_names_and_labels_alone(self, opened):
        assert opened.name == "named"
        assert opened.get_label(opened.get_tree()[0].id) == "start"
        assert self.parsed(opened) == [2, 3]


def test_appending_follows_the_leaf_and_moves_it(manager, append_text):
    first, second = append_text("a"), append_text("b")

    assert manager.leaf_id == second
    assert manager.get_entry(second).parent_id == first
    assert manager.get_leaf_entry().id == second


def test_going_on_from_an_earlier_entry_makes_a_branch(manager, append_text):
    first, second = append_text("a"), append_text("b")

    manager.branch(first)
    third = append_text("c")

    assert outline(manager) == [(first, [second, third])]
    assert [entry.id for entry in manager.get_branch()] == [first, third]
    assert [entry.id for entry in manager.get_branch(second)] == [first, second]
    assert [entry.id for entry in manager.get_children(first)] == [second, third]
    assert manager.get_children("missing") == []
    assert manager.get_branch("missing") == []


def test_a_branch_that_was_asked_for_stays_as_it_was(manager, append_text):
    append_text("a")
    before, everything = manager.get_branch(), manager.get_entries()
    append_text("b")

    assert len(before) == len(everything) == 1
    assert [entry.message.text for entry in before[:5]] == ["a"]
    assert before[-1].message.text == "a"
    with pytest.raises(IndexError):
        before[1]


def test_without_a_leaf_the_next_entry_is_a_root(manager, append_text):
    first = append_text("a")

    manager.reset_leaf()
    assert manager.leaf_id is manager.get_leaf_entry() is None
    second = append_text("b")

    assert outline(manager) == [first, second]
    assert [entry.id for entry in manager.get_children(None)] == [first, second]


@pytest.mark.parametrize("method", ["branch", "navigate_to", "branch_with_summary", "create_branched_session", "fork"])
def test_a_missing_entry_is_an_error(manager, method):
    with pytest.raises(UserError, match="Entry ID not found: 'missing'"):
        getattr(manager, method)("missing", *["s"] * (method == "branch_with_summary"))


def test_a_summary_names_the_leaf_that_was_left(manager, append_text):
    first, second = append_text("a"), append_text("b")

    summary = manager.get_entry(manager.branch_with_summary(first, "tried b"))
    manager.reset_leaf()
    other = manager.get_entry(manager.branch_with_summary(None, "from nowhere"))

    assert (summary.from_id, summary.parent_id) == (second, first)
    assert (other.from_id, other.parent_id) == ("root", None)


def test_the_latest_label_counts_and_none_takes_it_away(manager, append_text):
    first, second = append_text("a"), append_text("b")
    manager.append_label_change(first, "one")
    manager.append_label_change(second, "two")
    manager.append_label_change(first, "three")
    manager.append_label_change(second, None)

    assert [manager.get_label(each) for each in (first, second, "missing")] == ["three", None, None]
    node = manager.get_tree()[0]
    assert (node.label, node.label_timestamp) == ("three", [*manager.get_entries()][4].timestamp)
    with pytest.raises(UserError, match="missing"):
        manager.append_label_change("missing", "x")


def test_a_branch_entry_of_another_program_labels_too(host, store):
    label = LabelEntry(id="b", parent_id="a", timestamp="", target_id="a", label="Alternative", type="branch")
    tree_of = SessionManager.in_memory("/work")
    tree_of.append_entry(user_entry("a", None))
    target = tree_of.leaf_id
    tree_of.append_entry(LabelEntry(id="", parent_id=None, timestamp="", target_id=target, label=label.label))

    assert tree_of.get_label(target) == "Alternative"


def test_the_latest_name_counts(manager):
    assert manager.name is None
    manager.append_session_info("  first ")
    assert manager.name == "first"
    manager.append_session_info("second")
    assert manager.name == manager.get_session_name() == "second"
    manager.append_session_info("")
    assert manager.name is None


def test_the_names_of_the_documents_are_there(manager, append_text):
    entry = append_text("a")

    assert manager.get_session_id() == manager.id
    assert manager.get_session_file() is manager.get_session_dir() is None
    assert manager.get_cwd() == "/work"
    assert manager.get_header() is manager.header
    assert manager.get_leaf_id() == entry
    assert manager.get_current_branch() == manager.get_branch() == [manager.get_entry(entry)]


def test_an_entry_of_elsewhere_is_appended_as_a_copy(manager, append_text):
    first = append_text("a")

    copy = manager.get_entry(manager.append_entry(user_entry("zz", "yy", "b")))

    assert copy.message.text == "b"
    assert (copy.id != "zz", copy.parent_id) == (True, first)


def test_the_view_of_plugins_is_complete_and_read_only(manager, append_text):
    first = append_text("a")
    manager.append_session_info("n")
    view = ReadOnlySession(manager)

    assert isinstance(view, SessionView)
    assert (view.id, view.file, view.name, view.leaf_id) == (manager.id, None, "n", manager.leaf_id)
    assert view.header is manager.header
    assert view.entries() == view.branch() == manager.get_entries()
    assert view.entry(first) == manager.get_entry(first)
    assert [entry.type for entry in view.children(first)] == ["session_info"]
    assert view.label(first) is None
    assert view.tree()[0].entry == view.entry(first)
    assert view.context() == manager.build_session_context()
