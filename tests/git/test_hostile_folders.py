"""Every part of pi that works with git in a folder that is not trusted runs nothing that its repository names."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import pi_agents
from pi_agents.kept import find, look_at, repository
from pi_agents.merging import merge
from pi_agents.settings import TrashLimits
from pi_agents.trash import drop, undo_drop
from pi_batch.place import make_place
from pi_batch.tasks import Task
from pi_cli.worktree import enter_worktree
from pi_core import SessionManager, create_agent_session
from pi_git_kit import fetch_commit
from pi_replay.folders import worktree
from pi_testing import text, tool_call
from pi_tui.editor.complete.files import FileSource


def test_pi_w_makes_and_enters_a_worktree(baited, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(tmp_path / "agent")}
    for _ in range(2):
        folder = enter_worktree("tide", baited.top, environ)

    assert (folder / "tide.txt").read_text() == "high\n"
    assert baited.bitten == []


@pytest.mark.pi(
    plugins={"agents": pi_agents},
    entry_points=["session-jsonl", "tools"],
    stored=True,
    settings={"agents": {"enabled": True}},
)
async def test_an_agent_works_in_a_worktree_and_its_work_is_applied_and_dropped(baited, pi_host, script, pi_agent_dir):
    script.turn(tool_call("task", prompt="Work", description="Working", isolation="worktree"))
    script.turn(tool_call("write", path="tide.txt", content="agent\n"))
    script.turn(text("Worked."))
    script.turn(text("Done."))
    async with create_agent_session(
        cwd=baited.top, host=pi_host, settings=pi_host.settings, plugins={"script": script}, model=script.model,
        session_manager=SessionManager.in_memory(baited.top),
    ) as session:  # fmt: skip
        await session.prompt("begin")
        answer = next(each for each in session.messages if each.role == "toolResult").content[0].text
    name = re.search(r"\[agent ([0-9a-f]{8}),", answer)[1]
    git = repository(baited.top)
    kept = find(git, pi_agent_dir, name)
    merged = merge(git, kept, ())
    stat = look_at(git, kept, ()).stat
    drop(git, kept, TrashLimits())
    undo_drop(git, pi_agent_dir)
    drop(git, kept, TrashLimits(days=0))

    assert " tide.txt | " in answer
    assert merged.files == ["tide.txt"]
    assert " tide.txt | " in stat
    assert baited.bitten == []


def test_replay_makes_a_worktree_and_looks_at_its_changes(baited, tmp_path):
    with worktree(baited.top, tmp_path / "agent", "replay-1", "HEAD") as place:
        (place.cwd / "tide.txt").write_text("replayed\n")

    assert " tide.txt | 2 +-" in place.note
    assert baited.bitten == []


async def test_an_attempt_of_a_batch_gets_a_copy_and_a_patch(baited, tmp_path):
    place = await make_place(Task(id="a", prompt="Work", repo=str(baited.top)), tmp_path / "attempt")
    (place.work / "tide.txt").write_text("attempted\n")
    baited.bait(place.work, "copy-")
    patch = await place.patch()

    assert b"+attempted" in patch
    assert baited.bitten == []


def test_a_package_is_fetched_from_a_repository(baited, tmp_path):
    (tmp_path / "clone").mkdir()
    fetch_commit(tmp_path / "clone", str(baited.top), "HEAD", os.environ)

    assert (tmp_path / "clone" / "tide.txt").read_text() == "high\n"
    assert baited.bitten == []


async def test_an_at_sign_lists_the_files(baited):
    source = FileSource(lambda: str(baited.top), lambda _folder: [])
    offer = await source.offer("@tide", 5, asked=False)

    assert {"tide.txt", "tide.bin", "tide.md"} <= {Path(item.label).name for item in offer.items}
    assert baited.bitten == []
