"""After any sequence of operations, a reopened session and its context are the same."""

from __future__ import annotations

import errno

from hypothesis import given, settings
from hypothesis import strategies as st

from pi_core import SessionManager, edited_message, entry_message
from pi_core.base.folds import Fold
from pi_core.session.context import BranchContext
from pi_core.session.stats import StatsCounter
from pi_core.session.tree import SessionTree, tree_problems
from pi_hookspecs import (
    AssistantMessage,
    CompactionEntry,
    ContextEditEntry,
    CustomMessage,
    MessageEntry,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)

WORDS = st.sampled_from(["", "a", "b", "one two", "\u2028", "nul\0"])
MESSAGES = st.one_of(
    st.builds(UserMessage, content=WORDS, timestamp=st.just(1)),
    st.builds(
        AssistantMessage,
        api=st.just("x"),
        provider=st.sampled_from(["p", ""]),
        model=st.sampled_from(["m", "n"]),
        content=st.sampled_from([(), (ToolCall("1", "ls", {"a": 1}),)]),
        timestamp=st.just(1),
    ),
    st.builds(ToolResultMessage, tool_call_id=st.just("1"), tool_name=st.just("ls"), timestamp=st.just(1)),
    st.builds(CustomMessage, custom_type=st.just("note"), content=WORDS, timestamp=st.just(1)),
)
WHICH = st.integers(0, 50)
OPERATIONS = st.one_of(
    st.tuples(st.just("append_message"), MESSAGES),
    st.tuples(st.just("append_custom_entry"), st.just("todo"), st.none() | WORDS),
    st.tuples(st.just("append_model_change"), WORDS, WORDS),
    st.tuples(st.just("append_thinking_level_change"), st.sampled_from(["low", "high"])),
    st.tuples(st.just("append_session_info"), WORDS),
    st.tuples(st.just("append_usage"), st.just("title"), st.just("p"), st.just("m"), st.just(Usage(input=1))),
    st.tuples(st.just("compaction"), WHICH, WORDS),
    st.tuples(st.just("label"), WHICH, st.none() | WORDS),
    st.tuples(st.just("edit"), WHICH, st.none() | WORDS),
    st.tuples(st.just("branch"), WHICH),
    st.tuples(st.just("branch_with_summary"), st.none() | WHICH, WORDS),
    st.tuples(st.just("create_branched_session"), WHICH),
    st.tuples(st.just("reset_leaf")),
    st.tuples(st.just("fail"), st.booleans()),
    st.tuples(st.just("look")),
)


def perform(manager, operation):
    name, *arguments = operation
    entries = manager.get_entries()

    def one(which):
        return entries[which % len(entries)].id

    if name == "fail":
        failure = OSError(errno.ENOSPC, "No space left on device") if arguments[0] else None
        manager.writer.stored.failure = failure
    elif name == "look":
        manager.build_session_context(), manager.name, manager.get_label("x"), manager.get_tree(), manager.stats()
    elif name == "branch_with_summary":
        target, summary = arguments
        manager.branch_with_summary(one(target) if target is not None and entries else None, summary)
    elif name in ("append_message", "reset_leaf") or name.startswith("append_"):
        getattr(manager, name)(*arguments)
    elif entries:
        which, *rest = arguments
        if name == "compaction":
            manager.append_compaction(rest[0], one(which), 5)
        elif name == "label":
            manager.append_label_change(one(which), *rest)
        elif name == "edit":
            manager.append_context_edit(one(which), *rest)
        else:
            getattr(manager, name)(one(which))


def outline(manager):
    def node(each):
        return each.entry, each.label, each.label_timestamp, [node(child) for child in each.children]

    return [node(each) for each in manager.get_tree()]


@given(operations=st.lists(OPERATIONS, max_size=40))
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_a_session_opened_again_is_the_one_that_was_left(operations, store_class, host_of):
    host = host_of(store_class())
    manager = SessionManager.create("/work", host=host)
    for operation in operations:
        perform(manager, operation)
    perform(manager, ("fail", False))
    manager.append_message(AssistantMessage(api="x", provider="p", model="m", timestamp=1))  # now it is stored

    again = SessionManager.open(manager.reference, host=host)

    assert again.get_entries() == list(manager.get_entries())
    assert again.leaf_id == manager.leaf_id
    assert outline(again) == outline(manager)
    assert again.name == manager.name
    assert again.build_session_context() == manager.build_session_context()
    assert again.stats() == manager.stats()
    assert tree_problems(again.get_entries()) == []


@given(operations=st.lists(OPERATIONS, max_size=40))
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_the_context_that_was_kept_is_the_one_that_would_be_built(operations):
    manager = SessionManager.in_memory("/work")
    for operation in operations:
        perform(manager, ("look",))
        if operation[0] != "fail":
            perform(manager, operation)

        afresh = SessionTree(list(manager.get_entries()))
        afresh.move(afresh.number(manager.leaf_id or ""))
        built = BranchContext(afresh, manager.header)

        assert manager.build_session_context() == built.get()
        assert manager.build_session_projection() == built.projection()


def eager_messages(branch):
    """Return the messages of a branch, all parsed, by the rules of docs/reference/session-files.md."""
    projected, start = [], 0
    at = max((place for place, each in enumerate(branch) if isinstance(each, CompactionEntry)), default=None)
    if at is not None:
        projected, start = [(branch[at], entry_message(branch[at]))], at + 1
        start = next((place for place in range(at) if branch[place].id == branch[at].first_kept_entry_id), at + 1)
    for entry in branch[start:]:
        if isinstance(entry, ContextEditEntry):
            new = entry.replacement
            projected = [
                (each, message)
                if each.id != entry.target_id
                else (each, edited_message(entry_message(each), new.content) if new is not None else None)
                for each, message in projected
            ]
        elif not isinstance(entry, CompactionEntry) and (message := entry_message(entry)) is not None:
            projected.append((entry, message))
    return [message for _, message in projected if message is not None]


@given(before=st.lists(OPERATIONS, max_size=30), after=st.lists(OPERATIONS, max_size=15), looks=st.booleans())
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_messages_parsed_lazily_equal_those_parsed_at_once(before, after, looks, store_class, host_of):
    host = host_of(store_class())
    manager = SessionManager.create("/work", host=host)
    manager.append_message(AssistantMessage(api="x", provider="p", model="m", timestamp=1))
    for operation in before:
        perform(manager, operation)
    perform(manager, ("fail", False))
    manager.append_custom_entry("todo", None)  # now all of it is stored, whatever failed
    again = SessionManager.open(manager.reference, host=host)
    given_out = []

    for operation in [("look",), *(each for each in after if each[0] != "fail")]:
        perform(again, operation)
        context = again.build_session_context()
        given_out.append((context.messages, eager_messages(list(again.get_branch()))))
        if looks:
            assert list(reversed(context.messages)) == given_out[-1][1][::-1]

    for messages, expected in given_out:  # what came later changes none of them
        assert (len(messages), messages, messages[1:-1]) == (len(expected), expected, expected[1:-1])


IDS = st.sampled_from([f"{number:08x}" for number in range(8)])


@given(links=st.lists(st.tuples(IDS, st.none() | IDS), max_size=12))
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_any_content_of_a_file_is_a_tree(links):
    entries = [
        MessageEntry(id=own, parent_id=parent, timestamp="", message=UserMessage(content=str(place), timestamp=1))
        for place, (own, parent) in enumerate(links)
    ]
    tree = SessionTree(entries)

    seen = []
    waiting = [*tree.children(-1)]
    while waiting:
        number = waiting.pop()
        seen.append(number)
        waiting += tree.children(number)

    assert sorted(seen) == list(range(len(entries)))
    assert all(len(set(tree.path_to(number))) == len(tree.path_to(number)) for number in range(len(entries)))
    assert bool(tree_problems(entries)) == (
        len({own for own, _ in links}) < len(links) or any(tree.parent(n) == -1 and p for n, (_, p) in enumerate(links))
    )


def folds():
    """Make folds whose values say exactly which entries were read, and in which order."""
    return {name: Fold(tuple, lambda ids, entry: (*ids, entry.id)) for name in ("all", "branch", "spoken", "part")}


def parts_of(manager):
    entries = manager.get_entries()
    return {
        "all": entries,
        "branch": manager.get_branch(),
        "spoken": manager.get_branch(records=False),
        "part": entries[len(entries) // 2 :],
    }


def sums_afresh(manager):
    return StatsCounter(SessionTree(list(manager.get_entries()))).count(manager.id, manager.file)


@given(operations=st.lists(OPERATIONS, max_size=40), reopens=st.integers(0, 40))
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_sums_that_were_kept_are_the_sums_made_afresh(operations, reopens, store_class, host_of):
    host = host_of(store_class())
    manager = SessionManager.create("/work", host=host)
    manager.append_message(AssistantMessage(api="x", provider="p", model="m", timestamp=1))
    kept = folds()
    for number, operation in enumerate(operations):
        if operation[0] == "fail":
            continue
        perform(manager, operation)
        if number == reopens:
            manager.append_message(AssistantMessage(api="x", provider="p", model="m", timestamp=1))
            manager = SessionManager.open(manager.reference, host=host)
        if operation[0] == "look":
            manager.append_message(SystemMessage(sections={"role": str(number)}, timestamp=1))  # a record

        made = parts_of(manager)
        assert {name: fold.of(made[name]) for name, fold in kept.items()} == {
            name: tuple(entry.id for entry in entries) for name, entries in made.items()
        }
        assert manager.stats() == sums_afresh(manager)


def test_a_sum_reads_only_entries_that_are_new():
    manager, read = SessionManager.in_memory("/work"), []
    fold = Fold(int, lambda total, entry: (read.append(entry.id), total + 1)[1])
    ids = []
    for number in range(200):
        ids.append(manager.append_message(UserMessage(content=str(number), timestamp=1)))
        assert fold.of(manager.get_branch()) == number + 1
    assert read == ids

    read.clear()
    manager.branch(ids[150])
    new = manager.append_message(UserMessage(content="elsewhere", timestamp=1))

    assert fold.of(manager.get_branch()) == 152
    assert read[-1] == new
    assert len(read) < 80  # back by 49


def test_statistics_read_only_entries_that_are_new(monkeypatch):
    manager, read, entry = SessionManager.in_memory("/work"), [], SessionTree.entry
    monkeypatch.setattr(SessionTree, "entry", lambda tree, number: (read.append(number), entry(tree, number))[1])
    for number in range(50):
        manager.append_message(UserMessage(content=str(number), timestamp=1))
        read.clear()
        assert manager.stats().user_messages == number + 1
        assert read == [number]
