"""``pi -w NAME``: a session in a worktree of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from pi_cli.worktree import enter_worktree
from pi_core import ProjectTrust, TrustStore
from pi_hookspecs import UserError


def git(folder, *arguments):
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def agent_dir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # back to it after the test
    return tmp_path / "agent"


@pytest.fixture
def enter(agent_dir, repository):
    return lambda name, cwd=None: enter_worktree(name, cwd or repository, {"PI_CODING_AGENT_DIR": str(agent_dir)})


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "tides"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "tide.py").write_text("high\n")
    (folder / ".pi").mkdir()
    (folder / ".pi" / "settings.json").write_text("{}")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "begin")
    return folder


def test_a_worktree_is_made_and_entered(enter, repository, agent_dir, capsys):
    folder = enter("tide")

    assert folder.is_relative_to(agent_dir / "worktrees")
    assert Path.cwd() == folder
    assert (folder / "src" / "tide.py").read_text() == "high\n"
    assert git(folder, "branch", "--show-current") == "pi/tide\n"
    assert git(repository, "rev-parse", "refs/pi/base/tide") == git(repository, "rev-parse", "HEAD")
    assert f"Working in {folder}, branch pi/tide" in capsys.readouterr().err


def test_a_worktree_that_is_there_is_entered_as_it_is(enter):
    file = enter("tide") / "new.py"
    file.write_text("new\n")

    assert enter("tide") == file.parent
    assert file.read_text() == "new\n"


def test_a_subfolder_is_entered_as_a_subfolder(enter, repository):
    assert enter("tide", repository / "src").name == "src"


def test_a_branch_whose_worktree_was_removed_is_used_again(enter, repository):
    folder = enter("tide")
    (folder / "new.py").write_text("new\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "new")
    git(repository, "worktree", "remove", str(folder))
    os.chdir(repository)

    assert (enter("tide") / "new.py").read_text() == "new\n"


@pytest.mark.parametrize("name", ["", "../tide", "a b", "-tide", "tide.lock", "a..b", "tide."])
def test_a_name_that_no_branch_can_have_is_refused(enter, name):
    with pytest.raises(UserError, match="a worktree's name must be up to 64 letters"):
        enter(name)


def test_outside_a_repository_it_is_refused(enter, tmp_path):
    (tmp_path / "plain").mkdir()

    with pytest.raises(UserError, match=r"pi -w needs a git worktree: .*plain' is not in a git repository"):
        enter("tide", tmp_path / "plain")


@pytest.mark.parametrize("trusted", [True, False])
def test_a_worktree_is_trusted_as_its_repository_is(enter, repository, agent_dir, trusted):
    folder = enter("tide")
    undecided = ProjectTrust.decide(folder, agent_dir)
    TrustStore(agent_dir).remember(repository, trusted=trusted)
    decided = ProjectTrust.decide(folder, agent_dir)

    assert (undecided.decided, decided.decided, decided.is_trusted) == (False, True, trusted)


def test_a_folder_that_only_claims_to_be_a_worktree_is_not_trusted(enter, repository, agent_dir):
    TrustStore(agent_dir).remember(repository, trusted=True)
    real = enter("tide")
    forged = real.with_name("forged")
    (forged / ".pi").mkdir(parents=True)
    (forged / ".pi" / "settings.json").write_text("{}")
    (forged / ".git").write_text((real / ".git").read_text())

    assert not ProjectTrust.decide(forged, agent_dir).decided


# Through the command line


@pytest.mark.slow
def test_tools_and_session_of_a_run_are_in_the_worktree(fake):
    git(fake.cwd, "init", "--quiet")
    git(fake.cwd, "commit", "--quiet", "--allow-empty", "-m", "begin")
    call = json.dumps([["write", {"path": "new.py", "content": "new\n"}]])
    done = fake.run("-w", "tide", "-p", "--model", "fake/tools", call)

    (written,) = (fake.agent_dir / "worktrees").glob("*/tide/new.py")
    (stored,) = (fake.agent_dir / "sessions").rglob("*.jsonl")
    assert done.returncode == 0, done.stderr
    assert json.loads(stored.read_text().split("\n")[0])["cwd"] == str(written.parent)
    assert not (fake.cwd / "new.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "../tide"])
def test_a_wrong_name_ends_the_run_before_it_begins(pi, name):
    done = pi.run("-w", name, "-p", "hi")

    assert done.returncode == 1
    assert "a worktree's name must be up to 64 letters" in done.stderr
