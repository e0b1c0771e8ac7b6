"""A result that is too long for the conversation is cut, and kept in a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_core.conversation.result_limit import MOST_CHARACTERS
from pi_hookspecs import Tool, ToolResult, ToolResultResult, hookimpl, text_of
from pi_testing import text, tool_call

LONG = "0123456789" * (MOST_CHARACTERS // 5)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def floods(answer):
    async def execute(call_id, args, signal, update, ctx):
        return ToolResult.text(answer)

    return Tool(name="floods", description="floods", parameters={"type": "object"}, execute=execute)


def result_of(session):
    return next(text_of(each.content) for each in session.messages if each.role == "toolResult")


async def test_a_long_result_is_cut_and_the_whole_text_is_kept_in_a_private_file(session_of, script):
    session = session_of(tools=[floods(LONG)])
    script.turn(tool_call("floods")).turn(text("done"))
    answer = await session.prompt("go")

    shown = result_of(session)
    path = Path(re.search(r"Full output: (.+)\]$", shown)[1])
    assert answer.text == "done"
    assert len(shown) < MOST_CHARACTERS + 500
    assert shown.startswith(LONG[:MOST_CHARACTERS])
    assert "[Tool floods returned 0.5M characters; only the first 256K are shown." in shown
    assert path.read_text() == LONG
    assert path.stat().st_mode & 0o077 == 0


async def test_a_result_that_fits_is_not_changed(session_of, script, folder):
    session = session_of(tools=[floods(LONG[:MOST_CHARACTERS])])
    script.turn(tool_call("floods")).turn(text("done"))
    await session.prompt("go")

    assert result_of(session) == LONG[:MOST_CHARACTERS]
    assert list(folder.glob("pi-result-*")) == []


async def test_a_result_that_a_hook_makes_too_long_is_cut_too(session_of, script):
    class Plugin:
        @hookimpl
        def tool_result(self, event, ctx):
            return ToolResultResult(content=ToolResult.text(LONG).content)

    session = session_of(Plugin(), tools=[floods("short")])
    script.turn(tool_call("floods")).turn(text("done"))
    await session.prompt("go")

    assert "only the first 256K are shown" in result_of(session)


async def test_a_result_that_cannot_be_kept_is_cut_all_the_same(session_of, script, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    session = session_of(tools=[floods(LONG)])
    script.turn(tool_call("floods")).turn(text("done"))
    answer = await session.prompt("go")

    assert answer.text == "done"
    assert "The full output could not be kept: " in result_of(session)
