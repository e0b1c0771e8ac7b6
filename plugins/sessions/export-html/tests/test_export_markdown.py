"""A session as Markdown: who said what, calls and results as blocks of code, nothing breaks out of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import SessionManager
from pi_core.session import ReadOnlySession
from pi_export_html.text import MarkdownExporter, _fenced
from pi_hookspecs import (
    AssistantMessage,
    BashExecutionMessage,
    ExportRequest,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)


@pytest.fixture
def session(tmp_path):
    return SessionManager.in_memory(tmp_path)


def exported(session):
    return MarkdownExporter().export(ReadOnlySession(session), ExportRequest()).decode()


def test_the_conversation_is_readable(session):
    session.append_message(UserMessage(content="What is in tide.py?"))
    call = ToolCall(id="c1", name="bash", arguments={"command": "cat tide.py"})
    said = (TextContent(text="I look."), call)
    session.append_message(AssistantMessage(content=said, api="a", provider="p", model="small"))
    result = ToolResultMessage(tool_call_id="c1", tool_name="bash", content=(TextContent(text="```\ncode\n"),))
    session.append_message(result)
    session.append_message(BashExecutionMessage(command="ls", output="tide.py\n"))

    _, text = exported(session).split("\n\n", 1)

    assert text == (
        "## User\n\nWhat is in tide.py?\n\n## small\n\nI look.\n\n**bash**\n\n"
        "```text\ncommand: cat tide.py\n```\n\n````text\n```\ncode\n````\n\n"
        "## User\n\n```text\n$ ls\ntide.py\n```\n"
    )


@given(st.text("`a\n"))
def test_no_text_closes_its_block(text):
    opening, *lines, closing = _fenced(text).splitlines()

    assert opening == f"{closing}text"
    assert closing not in [line.strip()[: len(closing)] for line in lines]


def test_escape_sequences_of_a_conversation_do_not_reach_the_terminal_of_a_reader(session):
    evil = "a\x1b]52;c;ZXZpbA==\x07b\x9b31m\u202ec\r\n\td"
    session.append_session_info(evil)
    session.append_message(UserMessage(content=evil))
    call = ToolCall(id="c1", name="bash", arguments={evil: evil})
    session.append_message(AssistantMessage(content=(TextContent(text=evil), call), api="a", provider="p", model=evil))
    result = ToolResultMessage(tool_call_id="c1", tool_name="bash", content=(TextContent(text=evil),))
    session.append_message(result)
    session.append_message(BashExecutionMessage(command=evil, output=evil))

    text = exported(session)

    assert not {*text} & {*"\x1b\x07\x9b\u202e\r"}
    assert r"a\x1b]52;c;ZXZpbA==\x07b\x9b31m\u202ec" in text
