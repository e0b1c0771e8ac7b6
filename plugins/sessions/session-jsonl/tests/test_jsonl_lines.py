"""Lines that are passed on as they are stored say the same as the entries that are made of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core.session.context import BranchContext
from pi_core.session.tree import SessionTree
from pi_core.wire import to_wire
from pi_hookspecs import (
    CompactionEntry,
    ContextEditEntry,
    EditedContent,
    MessageEntry,
    TextContent,
    UserMessage,
)
from pi_session_jsonl.store import JsonlSessionStore

STAMP = "2026-01-01T00:00:00.000Z"
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


def test_a_message_that_was_passed_on_once_is_not_parsed_again(tmp_path, place, monkeypatch):
    lines = [entry_line(number, message) for number, message in enumerate(MESSAGES)]
    stored = JsonlSessionStore(place).open(str(opened(tmp_path, lines)))
    tree = SessionTree(stored.entries)
    try:
        first = [tree.message_line(number) for number in range(len(tree))]
        monkeypatch.setattr("pi_session_kit.entries.orjson", None)
        monkeypatch.setattr("pi_session_kit.entries._BEFORE_MESSAGE", None)
        again = [tree.message_line(number) for number in range(len(tree))]
    finally:
        stored.close()

    assert again == first
    assert [json.loads(line) if line else None for line in first] == [*MESSAGES[:5], None, None]


class Conversation:
    """A stored session and the context of its branch, to which entries are appended."""

    def __init__(self, stored):
        self.tree = SessionTree(stored.entries)
        self.context = BranchContext(self.tree, stored.header)

    def append(self, make, **fields):
        before = self.tree.leaf
        parent = {"id": f"n{len(self.tree)}", "parent_id": self.tree.id(before), "timestamp": STAMP}
        entry = make(**parent, **fields)
        self.context.appended(self.tree.append(entry), entry, before)

    def messages(self):
        return [*self.context.get().messages]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(messages(), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=3),
    st.none() | st.integers(0, 5),
)
def test_messages_of_the_conversation_say_the_same_as_they_are_stored(tmp_path_factory, place, found, edits, kept):
    lines = [entry_line(number, message) for number, message in enumerate(found)]
    stored = JsonlSessionStore(place).open(str(opened(tmp_path_factory.mktemp("lines"), lines)))
    try:
        conversation = Conversation(stored)
        before = conversation.messages()
        for target, removes in edits:
            content = None if removes else EditedContent("changed")
            conversation.append(ContextEditEntry, target_id=f"e{target % len(found)}", replacement=content)
        if kept is not None:
            first = f"e{kept % len(found)}"
            conversation.append(CompactionEntry, summary="before", first_kept_entry_id=first, tokens_before=9)
        conversation.append(MessageEntry, message=UserMessage(content=(TextContent("new"),), timestamp=9))

        for messages in (conversation.messages(), before):
            assert [json.loads(line) for line in conversation.context.lines(messages)] == to_wire(messages)
    finally:
        stored.close()


def test_stored_messages_of_the_conversation_are_not_encoded_again(tmp_path, place, monkeypatch):
    lines = [entry_line(number, message) for number, message in enumerate(MESSAGES[:5])]
    stored = JsonlSessionStore(place).open(str(opened(tmp_path, lines)))
    encoded = []

    def dumps(value):
        encoded.append(value)
        return b"{}"

    monkeypatch.setattr("pi_core.wire.dumps", dumps)
    try:
        conversation = Conversation(stored)
        new = UserMessage(content=(TextContent("new"),), timestamp=9)
        conversation.append(MessageEntry, message=new)
        written = [*conversation.context.lines(conversation.messages())]

        assert written[:5] == [line[line.index('"message":') + 10 : -1].encode() for line in lines]
        assert encoded == [new]
    finally:
        stored.close()
