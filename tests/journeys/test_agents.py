"""Agents in worktrees, as their user meets them: what they leave is named, applied, dropped and brought back."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from journey.kinds import Kind, call
from journey.matrix import said

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.journeys


COMMIT = "git -C app add . && git -C app -c user.name=Ann -c user.email=ann@example.org commit -qm Begin"
WORK = {
    "without a commit": "git init -q app && echo high > app/tide.txt",
    "with a commit": f"git init -q app && echo high > app/tide.txt && {COMMIT}",
    "with ignored files": "git init -q app && echo '*.txt' > app/.gitignore && echo high > app/tide.txt",
}
"""What an agent does: it makes a nested repository, in each of the forms that git itself shows differently."""

REPORT = " && mkdir reports && echo low > reports/today.txt"
"""What it writes besides, into a folder that the user's repository ignores."""


@pytest.fixture
def state(state_of):
    state = state_of(Kind(open=False, settings={"agents": {"enabled": True}}))
    (state.work / ".gitignore").write_text("reports/\n")
    for words in (["add", "."], ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-qm", "Ignore"]):
        subprocess.run(["git", *words], cwd=state.work, env=state.environment, check=True)
    return state


def pi(state, *words: str) -> str:
    """Run pi without a terminal, and return what it prints."""
    done = subprocess.run(
        [state.pi, *words],
        cwd=state.work,
        env=state.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, f"pi {' '.join(words)}: {done.stdout}{done.stderr}"
    assert not said(done.stdout + done.stderr), f"pi {' '.join(words)} says\n{done.stdout}{done.stderr}"
    return done.stdout


def let_an_agent(state, command: str) -> str:
    """Let an agent run a command in a worktree, and return the result that its model gets."""
    task = call("task", prompt=call("bash", command=command), description="Begin the application", isolation="worktree")
    events = map(json.loads, pi(state, "--mode", "json", task).splitlines())
    ended = next(each for each in events if each["type"] == "tool_execution_end" and each["toolName"] == "task")
    assert not ended["isError"], ended
    return ended["result"]["content"][0]["text"]


def files(top: Path) -> dict[str, bytes]:
    """Return what is in a folder, but for its own git folder or the link to one."""
    paths = (each for each in top.rglob("*") if each.relative_to(top).parts[0] != ".git")
    return {str(each.relative_to(top)): each.read_bytes() for each in paths if each.is_file()}


@pytest.mark.parametrize("made", WORK)
def test_the_nested_repository_of_an_agent_is_named_and_brought_and_nothing_is_lost(made, state):
    before = files(state.work)
    result = let_an_agent(state, WORK[made] + REPORT)
    kept = re.search(r"kept in (?P<path>\S+), branch pi/(?P<id>\w+)", result)
    assert kept is not None, result
    worktree = state.home / kept["path"].removeprefix("~/")
    there = files(worktree)

    assert "app/" in result
    assert "reports/" in result
    assert there.keys() - before.keys() >= {"app/.git/HEAD", "app/tide.txt", "reports/today.txt"}
    assert files(state.work) == before
    assert kept["id"] in pi(state, "agents", "worktrees")

    pi(state, "agents", "drop", kept["id"])
    assert not worktree.exists()
    assert files(state.work) == before
    pi(state, "agents", "undo", kept["id"])
    assert files(worktree) == there
    assert files(state.work) == before

    applied = pi(state, "agents", "apply", kept["id"])
    assert "app" in applied
    brought = files(state.work)
    assert {name: there[name] for name in ("app/tide.txt", "app/.git/HEAD")}.items() <= brought.items()
    assert before.items() <= brought.items()
    assert files(worktree) == there

    pi(state, "agents", "drop", kept["id"])
    pi(state, "agents", "undo")
    assert files(worktree) == there
    assert files(state.work) == brought
