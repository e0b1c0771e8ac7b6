"""A session's tree as it is drawn."""

from __future__ import annotations

import pytest

from pi_cli.line.tree import FILTERS, tree_rows
from pi_core.session import SessionManager
from pi_hookspecs import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage


@pytest.fixture
def session(tmp_path):
    """Two questions; the second was asked in two ways, first with a tool."""
    session = SessionManager.in_memory(tmp_path)
    session.append_model_change("fake", "one")
    exchange(session, "first")
    fork = session.leaf_id
    session.append_message(UserMessage(content="one way"))
    call = ToolCall(id="1", name="bash", arguments={"command": "ls"})
    session.append_message(answer(TextContent("I look."), call))
    session.append_message(
        ToolResultMessage(tool_call_id="1", tool_name="bash", content=(TextContent("a\nb"),), is_error=True)
    )
    session.branch(fork)
    exchange(session, "another way")
    return session


def exchange(session, text):
    session.append_message(UserMessage(content=text))
    session.append_message(answer(TextContent(f"To {text}.")))


def answer(*content):
    return AssistantMessage(content=content, api="fake", provider="fake", model="one")


def drawn(session, wanted="default", width=60):
    return [row.drawn(width) for row in tree_rows(session, wanted)]


def test_a_tree_shows_tools_and_answers_and_where_the_conversation_went_two_ways(session):
    assert drawn(session) == [
        "• you: first",
        "• pi: To first.",
        "├─   you: one way",
        "│    pi: I look. [bash ls]",
        "│    [bash] failed: a b",
        "└─ • you: another way",
        "   • pi: To another way. ← here",
    ]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("user-only", ["• you: first", "├─   you: one way", "└─ • you: another way ← here"]),
        ("labeled-only", ["• pi: To first. [start] ← here"]),
    ],
)
def test_a_filter_leaves_entries_out_and_joins_what_is_left(session, wanted, expected):
    session.append_label_change(session.get_branch()[2].id, "start")

    assert drawn(session, wanted) == expected


def test_without_tools_their_results_are_left_out(session):
    assert "│    [bash] failed: a b" not in drawn(session, "no-tools")


def test_all_shows_what_is_no_message_too(session):
    assert drawn(session, "all")[0] == "• (model_change)"


def test_an_answer_that_failed_has_its_reason(session):
    body = '503: {"error": {"message": "The tide is out"}}\nWait.'
    failed = AssistantMessage(
        content=(), api="fake", provider="fake", model="one", stop_reason="error", error_message=body
    )
    session.append_message(failed)

    assert drawn(session)[-1] == "   • pi: (failed: The tide is out) ← here"


def test_data_of_a_plugin_is_no_message_of_one(session):
    session.append_custom_entry("survey", {"depth": 7})
    session.append_custom_message_entry("survey", "Seven fathoms")

    assert drawn(session)[-1] == "   • Seven fathoms ← here"
    assert drawn(session, "all")[-2] == "   • (survey)"


def test_a_long_row_is_cut_and_says_where_one_is_all_the_same(session):
    session.append_message(UserMessage(content="word " * 100))

    last = drawn(session)[-1]
    assert last.endswith("… ← here")
    assert len(last) <= 60


def test_control_characters_in_a_row_are_escaped(session):
    session.append_message(UserMessage(content="\x1b]0;title\x07\nsecond"))

    assert "\\x1b]0;title\\x07 second" in drawn(session)[-1]


@pytest.mark.parametrize("wanted", FILTERS)
def test_an_empty_session_has_no_rows(tmp_path, wanted):
    assert tree_rows(SessionManager.in_memory(tmp_path), wanted) == []


def test_thousands_of_turns_are_no_deeper_than_one(tmp_path):
    session = SessionManager.in_memory(tmp_path)
    for number in range(3000):
        session.append_message(UserMessage(content=str(number)))

    assert drawn(session)[-1] == "• you: 2999 ← here"
