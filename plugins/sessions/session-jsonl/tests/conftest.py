"""A store in an empty agent directory, and entries to put into it."""

from __future__ import annotations

import json

import pytest

from pi_hookspecs import AssistantMessage, TextContent, UserMessage
from pi_hookspecs.entries import MessageEntry, SessionHeader
from pi_hookspecs.session_store import SessionPlace
from pi_session_jsonl.store import JsonlSessionStore

STAMP = "2026-02-03T04:05:06.789Z"


@pytest.fixture
def place(tmp_path):
    return SessionPlace(agent_dir=tmp_path / "agent")


@pytest.fixture
def store(place):
    return JsonlSessionStore(place)


@pytest.fixture
def header():
    return lambda cwd="/home/me/project", session_id="0199", **more: SessionHeader(
        id=session_id, timestamp=STAMP, cwd=cwd, **more
    )


@pytest.fixture
def user_entry():
    """Makes a user's message: ``said("a1", None, "text")``."""

    def make(entry_id, parent_id=None, text="text", time=1_770_000_000_000):
        message = UserMessage(content=text, timestamp=time)
        return MessageEntry(id=entry_id, parent_id=parent_id, timestamp=STAMP, message=message)

    return make


@pytest.fixture
def answered():
    """Makes an assistant's message."""

    def make(entry_id, parent_id=None, text="text", time=1_770_000_000_000, **more):
        content = more.pop("content", (TextContent(text),))
        message = AssistantMessage(content=content, api="a", provider="p", model="m", timestamp=time, **more)
        return MessageEntry(id=entry_id, parent_id=parent_id, timestamp=STAMP, message=message)

    return make


@pytest.fixture
def write(tmp_path):
    """Writes a session file out of lines (dicts become JSON as JavaScript writes it); returns its path as text."""

    def make(*lines, name="s.jsonl", header=True, end="\n"):
        path = tmp_path / name
        first = {"type": "session", "version": 3, "id": "h", "timestamp": STAMP, "cwd": "/c"}
        rows = [*([first] if header else []), *lines]
        texts = [
            row if isinstance(row, bytes) else json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()
            for row in rows
        ]
        path.write_bytes(b"\n".join(texts) + end.encode())
        return str(path)

    return make


@pytest.fixture
def line():
    """Makes a user's message as plain data; ``line("a", None, extra=1)``."""

    def make(entry_id, parent_id=None, content="text", **more):
        message = {"role": "user", "content": content, "timestamp": 1_770_000_000_000}
        return {
            "type": "message", "id": entry_id, "parentId": parent_id, "timestamp": STAMP, "message": message, **more
        }  # fmt: skip

    return make
