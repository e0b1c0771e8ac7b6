"""Lines that are passed on as they are stored say the same as the entries that are made of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core.session.tree import SessionTree
from pi_core.wire import to_wire
from pi_session_jsonl.store import JsonlSessionStore

COST = {"input": 0.1, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.1}
USAGE = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3, "cost": COST}
ANSWER = {"api": "a", "provider": "p", "model": "m", "usage": USAGE, "stopReason": "stop"}
TEXT = {"type": "text", "text": "é\u2028\n"}
CALL = {"type": "toolCall", "id": "c", "name": "ls", "arguments": {"path": ".", "n": 1.5}}
MESSAGES = [
    {"role": "user", "content": "hi", "timestamp": 1},
    {"role": "user", "content": [TEXT], "timestamp": 1, "unknown": {"kept": True}},
    {"role": "assistant", "content": [TEXT, CALL], **ANSWER, "timestamp": 2},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "", "thinkingSignature": "s"}],
        **ANSWER,
        "timestamp": 2,
    },
    {"role": "toolResult", "toolCallId": "c", "toolName": "ls", "content": [TEXT], "isError": True, "timestamp": 3},
    {"role": "user", "content": [{"type": "strange", "data": [1]}], "timestamp": 4},
    {"role": "bashExecution", "command": "ls", "output": "", "cancelled": False, "truncated": False, "timestamp": 5},
]
WRONG = ("content", "role", "usage", "stopReason", "toolCallId", "isError", "api")


def entry_line(number, message):
    parent = None if number == 0 else f"e{number - 1}"
    entry = {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z"}
    return json.dumps({**entry, "message": message}, separators=(",", ":"), ensure_ascii=False)


def opened(folder, lines):
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": str(folder)}
    file = folder / "s.jsonl"
    file.write_text("\n".join([json.dumps(head), *lines, ""]), encoding="utf-8")
    return file


@st.composite
def messages(draw):
    message = dict(draw(st.sampled_from(MESSAGES)))
    names = [name for name in WRONG if name in message]  # fields that a role does not have are passed on as they are
    for name in draw(st.lists(st.sampled_from(names), max_size=2)):
        if draw(st.booleans()):
            message.pop(name, None)
        else:
            message[name] = draw(st.sampled_from((None, 7, "text", {}, [], [7], 1.5, True)))
    return message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(messages(), min_size=1, max_size=6), st.integers(0, 3))
def test_a_line_says_what_its_entry_says(tmp_path_factory, place, found, cut):
    lines = [entry_line(number, message) for number, message in enumerate(found)]
    if cut:
        lines[len(lines) // 2] = lines[len(lines) // 2][: -20 * cut]
    file = opened(tmp_path_factory.mktemp("lines"), lines)
    stored = JsonlSessionStore(place).open(str(file))
    try:
        tree = SessionTree(stored.entries)
        assert [json.loads(line) for line in tree.entries().lines()] == to_wire([*tree.entries()])
    finally:
        stored.close()


def test_messages_of_today_are_passed_on_without_making_entries_of_them(tmp_path, place, monkeypatch):
    lines = [entry_line(number, message) for number, message in enumerate(MESSAGES[:5])]
    stored = JsonlSessionStore(place).open(str(opened(tmp_path, lines)))
    tree = SessionTree(stored.entries)
    monkeypatch.setattr("pi_session_kit.entries.entry_from_wire", None)
    monkeypatch.setattr("pi_session_kit.entries.message_from_wire", None)
    try:
        assert [*tree.entries().lines()] == [line.encode() for line in lines]
        with pytest.raises(TypeError):
            tree.entry(0)
    finally:
        stored.close()
