"""The git branch of a folder."""

from __future__ import annotations

import subprocess

import pytest

from pi_terminal_kit.branches import branch_of


def test_the_branch_is_read_without_git(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "feature/tide", tmp_path], check=True)
    (tmp_path / "deep" / "down").mkdir(parents=True)

    assert branch_of(tmp_path / "deep" / "down") == "feature/tide"


def test_a_linked_worktree_has_its_own_branch(tmp_path):
    git = tmp_path / "main" / ".git" / "worktrees" / "other"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/other\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").write_text("gitdir: ../main/.git/worktrees/other\n")

    assert branch_of(tmp_path / "other") == "other"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("0123456789abcdef0123456789abcdef01234567\n", "0123456"),
        ("", ""),
        ("ref: refs/remotes/x\n", "ref: refs/remotes/x"),
    ],
)
def test_a_head_that_is_no_branch(tmp_path, head, expected):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)

    assert branch_of(tmp_path) == expected


def test_outside_of_a_repository_there_is_no_branch(tmp_path):
    (tmp_path / ".git").write_text("gitdir: nowhere\n")

    assert branch_of(tmp_path) is None
