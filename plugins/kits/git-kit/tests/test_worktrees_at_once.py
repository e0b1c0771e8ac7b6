"""Worktrees that several threads and processes make at once, and repositories of another owner."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest
from attrs import evolve
from filelock import FileLock, Timeout

from pi_git_kit import (
    ForeignOwner,
    add_worktree,
    list_worktrees,
    prune_worktrees,
    remove_worktree,
    repository_of,
)

MANY = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pi_git_kit import add_worktree, repository_of

top, mark = Path(sys.argv[1]), sys.argv[2]
git = repository_of(top)
def add(number):
    add_worktree(git, top.parent / f"{mark}{number}", "HEAD", branch=f"pi/{mark}{number}")
list(ThreadPoolExecutor(8).map(add, range(8)))
"""


@pytest.fixture
def top(tmp_path):
    folder = tmp_path / "tides"
    folder.mkdir()
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost")
    (folder / "a").write_text("a\n")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "-m", "begin")):
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)
    return folder


def test_worktrees_are_changed_under_a_lock_that_other_processes_see(top, tmp_path):
    git = repository_of(top)
    locked = []

    def prepare(request):
        if "worktree" in request.argv:
            try:
                with FileLock(git.common / "pi-worktrees.lock", timeout=0):
                    locked.append(False)
            except Timeout:
                locked.append(True)
        return request

    watched = git.with_(prepare=prepare)
    add_worktree(watched, tmp_path / "w", "HEAD", branch="pi/w")
    remove_worktree(watched, tmp_path / "w")
    prune_worktrees(watched)

    assert locked == [True, True, True]


@pytest.mark.slow
def test_every_worktree_of_threads_and_processes_that_begin_at_once_is_made(top):
    for turn in range(3):
        processes = [subprocess.Popen([sys.executable, "-c", MANY, str(top), f"{turn}{each}"]) for each in "ab"]
        assert [each.wait() for each in processes] == [0, 0]

    assert len(list_worktrees(repository_of(top))) == 1 + 3 * 2 * 8


def test_a_branch_that_exists_is_never_removed_by_another_try(top, tmp_path):
    git = repository_of(top)
    git("branch", "pi/w")
    failing = tmp_path / "git"
    failing.write_text(
        "#!/bin/sh\n"
        'case "$*" in *"worktree add"*) echo "fatal: failed to read x/commondir: Success" >&2; exit 128;; esac\n'
        f'PATH="{os.environ["PATH"]}" exec git "$@"\n'
    )
    failing.chmod(0o755)
    with pytest.raises(Exception, match="commondir"):
        add_worktree(
            git.with_(prepare=lambda request: evolve(request, argv=(str(failing), *request.argv[1:]))),
            tmp_path / "w", "HEAD", branch="pi/w",
        )  # fmt: skip

    assert git("rev-parse", "pi/w") == git("rev-parse", "HEAD")


def test_the_repository_of_another_owner_is_named_with_what_git_needs(top):
    def foreign(request):
        return evolve(request, env={**request.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})

    with pytest.raises(ForeignOwner) as caught:
        repository_of(top, prepare=foreign)

    assert str(caught.value) == (
        f"The repository '{top}' belongs to another user, so git does not read it."
        f" If you trust its owner: git config --global --add safe.directory {shlex.quote(str(top))}"
    )
