"""Transcripts of other agents as sessions of pi."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from projects import AIDER_CHAT

from pi_core import PluginHost, SessionManager, Settings
from pi_import.sessions import aider, claude, codex, gemini, opencode

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def lines(*objects: Any) -> str:
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in objects)


def line(uuid: str, parent: str | None, kind: str, content: Any, cwd: str = "/w", **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {
            "id": more.pop("answer", uuid),
            "model": "claude-sonnet-4-5",
            "usage": {"input_tokens": 3, "output_tokens": 4},
        }
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": cwd,
        "sessionId": "s",
        "version": "2.1.12",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": "2026-01-20T11:57:17.716Z",
        **more,
    }


READ = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/a.py", "limit": 5}}
CHANGE = {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}
EDIT = {"type": "tool_use", "id": "t2", "name": "Edit", "input": CHANGE}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
CODE = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "code"}]}
FAILED = {"type": "tool_result", "tool_use_id": "t2", "content": "no match", "is_error": True}
CONVERSATION = (
    {"type": "queue-operation", "operation": "dequeue", "timestamp": "2026-01-20T11:57:17.716Z", "sessionId": "s"},
    line("m", None, "user", "<command-name>/clear</command-name>"),
    line("i", "m", "user", "Caveat: ...", isMeta=True),
    line("u1", "i", "user", [{"type": "text", "text": "Fix it"}, IMAGE]),
    line("a1", "u1", "assistant", [{"type": "thinking", "thinking": "hm", "signature": "sig"}], answer="msg_1"),
    line("a2", "a1", "assistant", [{"type": "text", "text": "I look."}], answer="msg_1"),
    line("a3", "a2", "assistant", [READ], answer="msg_1"),
    line("x", "a3", "assistant", [{"type": "text", "text": "sub"}], isSidechain=True),
    line("a4", "a3", "assistant", [EDIT], answer="msg_1"),
    line("r1", "a4", "user", [CODE], toolUseResult={"type": "text"}),
    line("r2", "r1", "user", [FAILED]),
    "not json",
    line("b", "u1", "assistant", [{"type": "text", "text": "a branch that was left"}]),
    {"type": "file-history-snapshot", "messageId": "a1", "snapshot": {}},
    line("z", "r2", "assistant", [{"type": "text", "text": "Done."}], answer="msg_2"),
    {"type": "system", "subtype": "turn_duration", "uuid": "y", "parentUuid": "z", "timestamp": "2026-01-20T11:58:00Z"},
    {"type": "custom-title", "customTitle": "The fix", "sessionId": "s"},
)


def shape(messages: Any) -> list[Any]:
    """Return role and blocks of messages, in short."""
    return [
        (
            each.role,
            *(getattr(block, "text", None) or getattr(block, "name", None) or block.type for block in each.content),
        )
        for each in messages
    ]


def test_a_conversation_of_claude_code_has_its_current_branch_in_pis_form(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(lines(*CONVERSATION))

    found = claude.read(file)

    assert shape(found.messages) == [
        ("user", "Fix it", "image"),
        ("assistant", "thinking", "I look.", "read", "edit"),
        ("toolResult", "code"),
        ("toolResult", "no match"),
        ("assistant", "Done."),
    ]
    answer = found.messages[1]
    assert (answer.provider, answer.model, answer.api) == ("anthropic", "claude-sonnet-4-5", "anthropic-messages")
    assert (answer.stop_reason, found.messages[4].stop_reason) == ("toolUse", "stop")
    assert answer.tool_calls[0].arguments == {"path": "/w/a.py", "limit": 5}
    assert answer.tool_calls[1].arguments == {"path": "/w/a.py", "edits": [{"oldText": "a", "newText": "b"}]}
    assert (found.messages[3].tool_name, found.messages[3].is_error) == ("edit", True)
    assert (answer.usage.input, answer.usage.output) == (3, 4)
    assert (found.name, found.cwd) == ("The fix", "/w")


def test_a_compacted_conversation_begins_with_its_summary(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(
        lines(
            line("u", None, "user", "old"),
            line("a", "u", "assistant", [{"type": "text", "text": "old answer"}]),
            line("c", "a", "user", "Summary of it", isCompactSummary=True),
            line("n", "c", "assistant", [{"type": "text", "text": "new"}]),
        )
    )

    assert shape(claude.read(file).messages) == [("user", "Summary of it"), ("assistant", "new")]


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2025-10-29T00:59:38.317Z", "type": "response_item", "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": text}])


def meta(cwd: str) -> dict[str, Any]:
    payload = {"id": "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5", "timestamp": "2025-10-29T00:59:38.308Z", "cwd": cwd}
    payload |= {"originator": "codex_cli_rs", "cli_version": "0.46.0", "instructions": None, "model_provider": "openai"}
    return {"timestamp": "2025-10-29T00:59:38.317Z", "type": "session_meta", "payload": payload}


ROLLOUT = (
    item(type="message", role="developer", content=[{"type": "input_text", "text": "<permissions instructions>"}]),
    said("user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),
    said("user", "# AGENTS.md instructions for /w\n\nx"),
    said("user", "What is here?"),
    {"type": "event_msg", "payload": {"type": "user_message", "message": "What is here?"}},
    {"type": "turn_context", "payload": {"cwd": "/w", "model": "gpt-5-codex", "effort": "high"}},
    item(type="reasoning", summary=[{"type": "summary_text", "text": "**Looking**"}], encrypted_content="gAAA"),
    item(type="function_call", name="shell", arguments='{"command": ["bash", "-lc", "ls"]}', call_id="c1"),
    item(type="function_call_output", call_id="c1", output='{"output": "a.py\\n", "metadata": {"exit_code": 0}}'),
    item(type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c2"),
    item(type="custom_tool_call_output", call_id="c2", output='{"output": "bad", "metadata": {"exit_code": 1}}'),
    item(type="function_call_output", call_id="unknown", output="lost"),
    {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
    said("assistant", "One file."),
)


def test_a_conversation_of_codex_has_its_calls_in_pis_form(tmp_path):
    file = tmp_path / "rollout-2025-10-29T00-59-38-019a2d7a-41c4-78b1-b7cc-a45d62a89cd5.jsonl"
    file.write_text(lines(meta("/w"), *ROLLOUT))

    found = codex.read(file)

    assert shape(found.messages) == [
        ("user", "What is here?"),
        ("assistant", "thinking", "bash"),
        ("toolResult", "a.py\n"),
        ("assistant", "apply_patch"),
        ("toolResult", "bad"),
        ("assistant", "One file."),
    ]
    assert found.messages[1].tool_calls[0].arguments == {"command": "ls"}
    assert (found.messages[2].is_error, found.messages[4].is_error) == (False, True)
    assert (found.id, found.cwd) == ("019a2d7a-41c4-78b1-b7cc-a45d62a89cd5", "/w")
    assert (found.messages[1].provider, found.messages[1].model) == ("openai", "gpt-5-codex")


def test_the_items_of_older_versions_of_codex_are_read(tmp_path):
    file = tmp_path / "rollout-2025-05-07T17-24-21-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl"
    first = {"id": "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "timestamp": "2025-05-07T17:24:21Z", "instructions": None}
    items = [each["payload"] for each in ROLLOUT if each["type"] == "response_item"]
    file.write_text(lines(first, {"record_type": "state"}, *items))

    assert len(codex.read(file).messages) == 6


OPENCODE = (
    (
        "user",
        {},
        [
            {"type": "text", "text": "Make a.txt"},
            {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{PNG}"},
        ],
    ),
    (
        "assistant",
        {"finish": "tool-calls"},
        [
            {"type": "step-start", "snapshot": "4b825dc"},
            {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "sig"}}},
            {"type": "text", "text": "I write it."},
            {
                "type": "tool",
                "tool": "write",
                "callID": "c0",
                "state": {
                    "status": "completed",
                    "input": {"filePath": "/w/a.txt", "content": "one"},
                    "output": "Wrote it.",
                },
            },
            {
                "type": "tool",
                "tool": "edit",
                "callID": "c1",
                "state": {
                    "status": "error",
                    "input": {"filePath": "/w/a.txt", "oldString": "two", "newString": "three"},
                    "error": "oldString not found",
                },
            },
            {
                "type": "step-finish",
                "tokens": {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 0}},
            },
            {"type": "patch", "hash": "4b825dc", "files": ["/w/a.txt"]},
            {"type": "step-start"},
            {
                "type": "tool",
                "tool": "bash",
                "callID": "c2",
                "state": {"status": "running", "input": {"command": "ls"}},
            },
        ],
    ),
    (
        "assistant",
        {"finish": "stop"},
        [{"type": "text", "text": "Done."}, {"type": "text", "text": "x", "ignored": True}],
    ),
    ("user", {}, [{"type": "text", "text": "taken back"}]),
)


def opencode_turns() -> list[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Return id, message and parts of ``OPENCODE``."""
    return [
        (
            f"msg_{number}",
            {"role": role, "providerID": "anthropic", "modelID": "m", "time": {"created": 5}, **more},
            parts,
        )
        for number, (role, more, parts) in enumerate(OPENCODE)
    ]


def opencode_database(file: Any, directory: str, *, parent: str | None = None) -> None:
    """Write a database with the columns of opencode 1.18 that matter."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, parent_id text, directory text, title text,"
            " revert text, time_created integer)"
        )
        for table, column in (("message", ""), ("part", "message_id text, ")):
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (id text PRIMARY KEY, {column}session_id text, data text)"
            )
        revert = json.dumps({"messageID": "msg_3"})
        row = ("ses_1" if parent is None else "ses_2", parent, directory, "The file", revert, 1)
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)
        for message, info, parts in opencode_turns() if parent is None else ():
            database.execute("INSERT INTO message VALUES (?, ?, ?)", (message, "ses_1", json.dumps(info)))
            for number, part in enumerate(parts):
                values = (f"prt_{message}_{number}", message, "ses_1", json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", values)


def opencode_files(folder: Any, directory: str) -> None:
    """Write the files of older versions."""
    head = {"directory": directory, "title": "The file", "revert": {"messageID": "msg_3"}}
    files = {"session/p/ses_1.json": head}
    for message, info, parts in opencode_turns():
        files[f"message/ses_1/{message}.json"] = info
        files |= {f"part/{message}/prt_{number}.json": part for number, part in enumerate(parts)}
    for name, value in files.items():
        (folder / "storage" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "storage" / name).write_text(json.dumps(value))


@pytest.mark.parametrize("form", ["database", "files"])
def test_a_conversation_of_opencode_has_its_calls_and_their_results(tmp_path, form):
    if form == "database":
        opencode_database(tmp_path / "opencode.db", "/w")
        opencode_database(tmp_path / "opencode.db", "/w", parent="ses_1")
    else:
        opencode_files(tmp_path, "/w")

    (session,) = opencode.stored(tmp_path, None)
    found = session.read()

    assert (session.id, found.name, found.cwd) == ("ses_1", "The file", "/w")
    assert shape(found.messages) == [
        ("user", "Make a.txt", "image"),
        ("assistant", "thinking", "I write it.", "write", "edit"),
        ("toolResult", "Wrote it."),
        ("toolResult", "oldString not found"),
        ("assistant", "bash"),
        ("toolResult", "The call was interrupted."),
        ("assistant", "Done."),
    ]
    first, written, failed, second, interrupted = found.messages[1:6]
    assert (first.provider, first.api, first.model) == ("anthropic", "anthropic-messages", "m")
    assert first.content[0].thinking_signature == "sig"
    assert first.tool_calls[0].arguments == {"path": "/w/a.txt", "content": "one"}
    assert first.tool_calls[1].arguments == {"path": "/w/a.txt", "edits": [{"oldText": "two", "newText": "three"}]}
    assert (first.usage.input, first.usage.output, first.usage.cache_read) == (10, 7, 3)
    assert [each.is_error for each in (written, failed, interrupted)] == [False, True, True]
    assert second.tool_calls[0].arguments == {"command": "ls"}


def test_a_compacted_conversation_of_opencode_begins_with_its_summary(tmp_path):
    opencode_files(tmp_path, "/w")
    file = tmp_path / "storage" / "message" / "ses_1" / "msg_1.json"
    file.write_text(json.dumps({"role": "assistant", "summary": True}))

    (session,) = opencode.stored(tmp_path, None)

    assert shape(session.read().messages) == [("user", "I write it."), ("assistant", "Done.")]


def gemini_call(**fields: Any) -> dict[str, Any]:
    """Return the record of a call of Gemini CLI 0.61, with its result."""
    output = {"functionResponse": {"id": "c0", "name": "read_file", "response": {"output": "one two"}}}
    arguments = {"file_path": "/w/a.txt", "start_line": 3, "end_line": 5}
    return {"id": "c0", "name": "read_file", "args": arguments, "result": [output], "status": "success", **fields}


ANSWER = {
    "id": "a1",
    "timestamp": "2026-11-26T19:33:39.597Z",
    "type": "gemini",
    "content": "I look.",
    "thoughts": [{"subject": "Thinking", "description": "about it"}],
    "tokens": {"input": 12, "output": 5, "cached": 2, "thoughts": 3, "tool": 0, "total": 20},
    "model": "gemini-2.5-pro",
}
GEMINI = (
    {"sessionId": "e2f66184", "projectHash": "1bb04013", "kind": "main"},
    {"$set": {"messages": [{"id": "s", "type": "user", "content": [{"text": "<session_context>\nToday"}]}]}},
    {"id": "u1", "type": "user", "content": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]},
    ANSWER,
    "not json",
    {**ANSWER, "toolCalls": [gemini_call(), gemini_call(id="c1", name="save_memory", result=None, status="cancelled")]},
    {"id": "r1", "type": "user", "content": gemini_call()["result"]},
    {"id": "a2", "type": "gemini", "content": "A wrong turn."},
    {"id": "u2", "type": "user", "content": "and on"},
    {"$rewindTo": "a2"},
    {"id": "a3", "type": "gemini", "content": [{"text": "hm", "thought": True}, {"text": "Done."}]},
    {"$set": {"summary": "A look"}},
)


def test_a_conversation_of_gemini_cli_has_its_calls_and_nothing_that_was_taken_back(tmp_path):
    chats = tmp_path / "tmp" / "app" / "chats"
    chats.mkdir(parents=True)
    (chats / "session-2026-11-26T19-33-e2f66184.jsonl").write_text(lines(*GEMINI))
    (chats / "session-2026-11-26T19-33-e2f66184.json").write_text("of an older version, which the other continues")
    (tmp_path / "projects.json").write_text('{"projects": {"/w": "app"}}')

    (session,) = gemini.stored(tmp_path, None)
    found = session.read()

    assert (session.id, found.name, found.cwd) == ("e2f66184", "A look", "/w")
    assert shape(found.messages) == [
        ("user", "Look", "image"),
        ("assistant", "thinking", "I look.", "read", "save_memory"),
        ("toolResult", "one two"),
        ("toolResult", "The call was interrupted."),
        ("assistant", "thinking", "Done."),
    ]
    answer = found.messages[1]
    assert answer.tool_calls[0].arguments == {"path": "/w/a.txt", "offset": 3, "limit": 3}
    assert (answer.provider, answer.model, answer.content[0].thinking) == (
        "google",
        "gemini-2.5-pro",
        "**Thinking** about it",
    )
    assert (answer.usage.input, answer.usage.output, answer.usage.cache_read) == (10, 8, 2)
    assert [each.is_error for each in found.messages[2:4]] == [False, True]


def test_calls_in_the_content_of_gemini_cli_keep_their_signatures(tmp_path):
    chats = tmp_path / "tmp" / "app" / "chats"
    chats.mkdir(parents=True)
    call = {"functionCall": {"name": "run_shell_command", "args": {"command": "ls"}}, "thoughtSignature": "c2ln"}
    answer = {"id": "a1", "type": "gemini", "content": [call], "toolCalls": [gemini_call(result="a.txt")]}
    (chats / "session-1.json").write_text(json.dumps({"sessionId": "x", "messages": [answer]}))

    found = next(gemini.stored(tmp_path, None)).read()

    assert shape(found.messages) == [("assistant", "bash"), ("toolResult", "a.txt")]
    assert found.messages[0].tool_calls[0].thought_signature == "c2ln"


def test_chats_of_aider_are_told_apart_from_what_aider_reports(tmp_path):
    later = AIDER_CHAT.replace("10:11:12", "12:00:00").partition("I rename")[0]
    (tmp_path / ".aider.chat.history.md").write_text(AIDER_CHAT + later)

    first, second = aider.stored(tmp_path)
    found = first.read()

    assert shape(found.messages) == [
        ("user", "Rename it\n\nto main"),
        ("assistant", "I rename it.\n\n#### Steps\n\n> a quotation"),
    ]
    assert (found.messages[1].provider, found.messages[1].model) == ("anthropic", "claude-sonnet-4-5")
    assert first.id.startswith("aider-2025-01-05-10-11-12-")
    assert second.read() is None


@pytest.fixture
def stored(machine):
    folder = machine.home / ".claude" / "projects" / re.sub("[^A-Za-z0-9]", "-", str(machine.work))
    folder.mkdir(parents=True)
    (folder / "4f35e220-c435-4cf7-b9b9-f40426042847.jsonl").write_text(
        lines(*(each if isinstance(each, str) else {**each, "cwd": str(machine.work)} for each in CONVERSATION))
    )
    day = machine.home / ".codex" / "sessions" / "2025" / "10" / "29"
    day.mkdir(parents=True)
    (day / "rollout-2025-10-29T00-59-38-019a2d7a-41c4-78b1-b7cc-a45d62a89cd5.jsonl").write_text(
        lines(meta(str(machine.work)), *ROLLOUT)
    )
    data = machine.home / ".local" / "share" / "opencode"
    data.mkdir(parents=True)
    opencode_database(data / "opencode.db", str(machine.work))
    chats = machine.home / ".gemini" / "tmp" / "work" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(str(machine.work))
    (chats / "session-2026-11-26T19-33-e2f66184.jsonl").write_text(lines(*GEMINI))
    return machine


@pytest.mark.parametrize(
    ("agent", "session", "named"),
    [
        ("claude", "4f35e220-c435-4cf7-b9b9-f40426042847", True),
        ("codex", "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5", False),
        ("opencode", "ses_1", True),
        ("gemini", "e2f66184", True),
    ],
)
def test_a_session_is_stored_once_and_can_be_opened(stored, agent, session, named):
    first = [row["outcome"] for row in stored.rows(agent) if row["kind"] == "session"]
    second = [row["outcome"] for row in stored.rows(agent) if row["kind"] == "session"]

    host = PluginHost(Settings.load(stored.work))
    (info,) = SessionManager.list(stored.work, host=host)
    manager = SessionManager.open(info.path, host=host)
    assert first in (["taken"], ["differently"])
    assert second == ["already"]
    assert (info.id, info.cwd) == (session, str(stored.work))
    assert manager.notices == []
    assert len(manager.conversation()) == len(list(manager.entries())) - named  # the title
    manager.close()


def test_sessions_of_other_folders_are_taken_over_only_with_all(stored, monkeypatch):
    elsewhere = stored.home / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    counts = [
        sum(
            row["kind"] == "session"
            for agent in ("claude", "codex", "opencode", "gemini")
            for row in stored.rows(agent, "--dry-run", *more)
        )
        for more in ((), ("--sessions", "all"), ("--sessions", "none"))
    ]

    assert counts == [0, 4, 0]


def test_a_line_that_cannot_be_read_does_not_cut_off_what_came_before_it(machine):
    said = [{"type": "text", "text": "Answer"}]
    folder = f"~/.claude/projects/{re.sub('[^A-Za-z0-9]', '-', str(machine.work))}"
    machine.write(
        {
            f"{folder}/s.jsonl": lines(
                line("a", None, "user", "First"),
                line("b", "a", "assistant", said),
                '{"uuid": "c", "parentUuid": "b", "message": {"role": "us',
                line("d", "c", "assistant", said),
                line("e", "d", "user", "Last"),
            )
        }
    )

    (row,) = machine.rows("claude")

    assert (row["outcome"], row["why"]) == ("differently", "without 1 line that cannot be read")
    (info,) = SessionManager.list_all(host=PluginHost(Settings.load(machine.work)))
    assert (info.first_message, info.message_count) == ("First", 4)


def test_a_compacted_session_is_not_called_the_same(machine):
    folder = f"~/.claude/projects/{re.sub('[^A-Za-z0-9]', '-', str(machine.work))}"
    machine.write(
        {
            f"{folder}/s.jsonl": lines(
                line("a", None, "user", "First"),
                line("b", "a", "user", "Summary", isCompactSummary=True),
                line("c", "b", "assistant", [{"type": "text", "text": "Answer"}]),
            ),
            f"{folder}/t.jsonl": lines(line("a", None, "user", "No answer")),
        }
    )

    rows = {row["name"]: row["why"] for row in machine.rows("claude")}

    assert rows == {
        "Summary": "it begins after its last compaction, with the summary if there is one",
        "t": "it has no answer",
    }


def test_sessions_of_subagents_of_codex_are_left_out(machine):
    about = {"cwd": str(machine.work), "source": {"subagent": {"thread_spawn": {}}}, "id": "s"}
    machine.write(
        {
            "~/.codex/sessions/2026/01/02/rollout-2026-01-02T00-00-00-s.jsonl": lines(
                {"type": "session_meta", "payload": about},
                {
                    "type": "response_item",
                    "payload": {"type": "message", "role": "assistant", "content": [{"text": "x"}]},
                },
            )
        }
    )

    assert machine.rows("codex") == []
