"""Transcripts of Claude Code and codex as sessions of pi."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_core import PluginHost, SessionManager, Settings
from pi_import.sessions import claude, codex

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


@pytest.fixture
def stored(machine):
    folder = machine.home / ".claude" / "projects" / str(machine.work).replace("/", "-").replace("_", "-")
    folder.mkdir(parents=True)
    (folder / "4f35e220-c435-4cf7-b9b9-f40426042847.jsonl").write_text(
        lines(*(each if isinstance(each, str) else {**each, "cwd": str(machine.work)} for each in CONVERSATION))
    )
    day = machine.home / ".codex" / "sessions" / "2025" / "10" / "29"
    day.mkdir(parents=True)
    (day / "rollout-2025-10-29T00-59-38-019a2d7a-41c4-78b1-b7cc-a45d62a89cd5.jsonl").write_text(
        lines(meta(str(machine.work)), *ROLLOUT)
    )
    return machine


@pytest.mark.parametrize(
    ("agent", "session"),
    [("claude", "4f35e220-c435-4cf7-b9b9-f40426042847"), ("codex", "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5")],
)
def test_a_session_is_stored_once_and_can_be_opened(stored, agent, session):
    first = [row["outcome"] for row in stored.rows(agent) if row["kind"] == "session"]
    second = [row["outcome"] for row in stored.rows(agent) if row["kind"] == "session"]

    host = PluginHost(Settings.load(stored.work))
    (info,) = SessionManager.list(stored.work, host=host)
    manager = SessionManager.open(info.path, host=host)
    assert first in (["taken"], ["differently"])
    assert second == ["already"]
    assert (info.id, info.cwd) == (session, str(stored.work))
    assert manager.notices == []
    assert len(manager.conversation()) == len(list(manager.entries())) - (agent == "claude")  # its title
    manager.close()


def test_sessions_of_other_folders_are_taken_over_only_with_all(stored, monkeypatch):
    elsewhere = stored.home / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    counts = [
        sum(row["kind"] == "session" for agent in ("claude", "codex") for row in stored.rows(agent, "--dry-run", *more))
        for more in ((), ("--sessions", "all"), ("--sessions", "none"))
    ]

    assert counts == [0, 2, 0]
