"""Session files in an empty agent directory, and a search over them."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from pi_hookspecs import SessionPlace
from pi_session_sqlite.places import index_of
from pi_session_sqlite.query import Filters, parse_query

STAMP = "2026-02-03T04:05:06.789Z"


@pytest.fixture
def line():
    """Makes a message of a session file as plain data: ``line("a1", "text", "assistant")``."""

    def make(entry_id, content, role="user", time=STAMP, **more):
        message = {"role": role, "content": content, "timestamp": 1_770_000_000_000, **more}
        return {"type": "message", "id": entry_id, "parentId": None, "timestamp": time, "message": message}

    return make


@pytest.fixture
def agent_dir(tmp_path):
    return tmp_path / "agent"


@pytest.fixture
def stored(agent_dir):
    """Writes a session: ``stored("one", line("a", "text"))``; more lines for the same name are appended."""

    def make(name, *entries, cwd="/home/me/project", end="\n"):
        path = agent_dir / "sessions" / "--home-me-project--" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"type": "session", "version": 3, "id": name, "timestamp": STAMP, "cwd": cwd}
        rows = [*([] if path.exists() else [header]), *entries]
        with path.open("ab") as file:
            file.write("\n".join(json.dumps(row) for row in rows).encode() + end.encode())
        return path

    return make


@pytest.fixture
def search(agent_dir):
    """Searches after an update, as the command does: ``search("word", role="user")``."""

    def find(query, limit=20, **filters):
        with closing(index_of("jsonl", SessionPlace(agent_dir=agent_dir))) as index:
            assert index.update()
            return index.search(parse_query(query), Filters(**filters), limit)

    return find
