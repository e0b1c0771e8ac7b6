"""A session that was closed and opened again is the one that it was, whatever happened in it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pi_session_jsonl
from pi_core.host import PluginHost
from pi_core.session import SessionManager
from pi_core.settings import Settings
from pi_hookspecs import (
    AssistantMessage,
    CustomMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserError,
    UserMessage,
)

TEXT = st.text(max_size=12)
PLACE = st.integers(0, 30)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("user"), TEXT),
        st.tuples(st.just("assistant"), TEXT),
        st.tuples(st.just("call"), TEXT),
        st.tuples(st.just("custom"), TEXT),
        st.tuples(st.just("note"), TEXT),
        st.tuples(st.just("branch"), PLACE),
        st.tuples(st.just("root"), st.none()),
        st.tuples(st.just("summary"), PLACE),
        st.tuples(st.just("label"), PLACE),
        st.tuples(st.just("name"), TEXT),
        st.tuples(st.just("model"), TEXT),
        st.tuples(st.just("compact"), PLACE),
        st.tuples(st.just("reopen"), st.none()),
    ),
    max_size=30,
)


def host_in(folder):
    host = PluginHost(Settings.in_memory({}, agent_dir=folder), installed=False)
    host.add(pi_session_jsonl, "session-jsonl")
    return host


def answer(text, *calls):
    return AssistantMessage(content=(TextContent(text), *calls), api="a", provider="p", model="m")


def chosen(session, place):
    entries = session.get_entries()
    return entries[place % len(entries)].id if entries else None


def call(session, text):
    session.append_message(answer(text, ToolCall("c1", "read", {"path": text})))
    session.append_message(ToolResultMessage(tool_call_id="c1", tool_name="read", content=(TextContent(text),)))


def at(session, place, act):
    entry_id = chosen(session, place)
    if entry_id is not None:
        act(entry_id)


DO = {
    "user": lambda session, text: session.append_message(UserMessage(content=text)),
    "assistant": lambda session, text: session.append_message(answer(text)),
    "call": call,
    "custom": lambda session, text: session.append_custom_entry("kind", {"value": [text]}),
    "note": lambda session, text: session.append_message(CustomMessage(custom_type="note", content=text)),
    "branch": lambda session, place: at(session, place, session.branch),
    "root": lambda session, _: session.reset_leaf(),
    "summary": lambda session, place: at(session, place, lambda each: session.branch_with_summary(each, "left")),
    "label": lambda session, place: at(
        session, place, lambda each: session.append_label_change(each, "mark" if place % 3 else None)
    ),
    "name": lambda session, text: session.append_session_info(text),
    "model": lambda session, text: session.append_model_change("p", text),
    "compact": lambda session, place: at(session, place, lambda each: session.append_compaction("so far", each, 9)),
}


def shape(nodes):
    return [(node.id, node.label, node.label_timestamp, shape(node.children)) for node in nodes]


def seen(session):
    """Return all that can be seen of a session but its leaf, which reopening moves to the last entry."""
    leaf = session.get_entries()[-1].id
    return (
        session.header,
        list(session.get_entries()),
        shape(session.get_tree()),
        session.name,
        list(session.get_branch(leaf)),
    )


@settings(deadline=None)
@given(OPERATIONS)
def test_a_reopened_tree_is_the_one_in_memory(operations):
    with tempfile.TemporaryDirectory() as name:
        host = host_in(Path(name))
        session = SessionManager.create("/c", host=host)
        session.append_message(UserMessage(content="begin"))
        session.append_message(answer("go on"))
        for operation, value in operations:
            if operation == "reopen":
                session.close()
                session = SessionManager.open(session.file, host=host)
            else:
                DO[operation](session, value)
        before = seen(session)
        session.branch(session.get_entries()[-1].id)
        context = session.build_session_context()
        session.close()
        again = SessionManager.open(session.file, host=host)

        assert seen(again) == before
        assert again.build_session_context() == context
        assert again.notices == []
        again.close()


def test_a_fork_before_an_entry_is_a_file_of_its_own(tmp_path):
    session = SessionManager.create("/c", host=host_in(tmp_path))
    first = session.append_message(UserMessage(content="one"))
    session.append_message(answer("two"))
    third = session.append_message(UserMessage(content="three"))
    session.append_message(answer("four"))
    before = session.file
    session.fork(third)
    session.append_message(UserMessage(content="other"))
    session.close()

    assert session.file != before
    assert session.get_branch()[0].id == first
    assert len(before.read_bytes().splitlines()) == 5
    assert session.header.parent_session == str(before)
    assert len(SessionManager.list("/c", host=host_in(tmp_path))) == 2


def test_a_session_without_a_prompt_leaves_no_file(tmp_path):
    session = SessionManager.create("/c", host=host_in(tmp_path))
    session.append_model_change("p", "m")
    session.close()

    assert not (tmp_path / "sessions").exists()


def test_the_first_prompt_is_in_the_file_before_it_is_answered(tmp_path):
    session = SessionManager.create("/c", host=host_in(tmp_path))
    session.append_message(UserMessage(content="one"))

    assert "one" in session.file.read_text()


def test_damage_found_on_use_is_reported_to_the_user(tmp_path, write, line):
    hidden = b'{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":}}'
    session = SessionManager.open(write(line("a"), hidden, line("c", "b")), host=host_in(tmp_path))
    reported = []
    session.on_problem = reported.append

    list(session.build_session_context().messages)
    session.append_session_info("name")

    assert len(reported) == 1
    assert reported[0].startswith("Line 3 of ")


def test_an_exported_branch_is_without_what_cannot_be_read(tmp_path, write, line):
    hidden = b'{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":}}'
    session = SessionManager.open(write(line("a"), hidden, line("c", "b")), host=host_in(tmp_path))

    exported = SessionManager.open(session.export_jsonl(tmp_path / "out.jsonl"), host=host_in(tmp_path))

    assert [(each.type, each.id, each.parent_id) for each in exported.get_entries()] == [
        ("message", "a", None),
        ("message", "c", "a"),
    ]


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        (SessionManager.fork_from, "Cannot fork: source session file is empty or invalid: "),
        (SessionManager.import_jsonl, "Cannot import '.*': it is empty"),
    ],
    ids=["fork", "import"],
)
def test_of_an_empty_file_there_is_nothing_to_copy(copy, message, tmp_path):
    path = tmp_path / "empty.jsonl"
    path.touch()

    with pytest.raises(UserError, match=message):
        copy(path, host=host_in(tmp_path))
    assert SessionManager.list_all(host=host_in(tmp_path)) == []


def test_a_session_without_entries_can_be_forked(tmp_path, write):
    fork = SessionManager.fork_from(write(), "/other", host=host_in(tmp_path))

    assert (fork.cwd, len(fork.get_entries())) == ("/other", 0)


@pytest.mark.parametrize("left", [b"", b"other\n", None], ids=["nothing", "something_else", "the_beginning"])
def test_a_branch_that_another_program_took_away_cannot_be_gone_over_to(left, tmp_path, write, line):
    session = SessionManager.open(write(line("a")), host=host_in(tmp_path))
    before = session.file.read_bytes()
    leaf = session.append_message(answer("b"))
    session.file.write_bytes(before if left is None else left)

    with pytest.raises(OSError, match="no longer in it; another program changed the file"):
        session.create_branched_session(leaf)
    assert [each.text for each in session.build_session_context().messages] == ["text", "b"]
