"""Nothing that a repository names is executed before its folder is trusted, whichever part of pi looks at it."""

from __future__ import annotations

import os
import subprocess

import pytest

import pi_git_kit
from pi_git_kit import repository_of
from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the baits are shell scripts")


def plain(folder, *arguments):
    """Run git as if the repository were the user's own."""
    subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE
    )


def test_the_baits_are_taken_by_a_git_that_trusts_the_repository(baited, tmp_path):
    changes = ("diff -- tide.md", "diff -- tide.txt", "show", "add tide.txt", "add --all", "commit -m x")
    for command in ("status", "-C sub status", "log -1", "fetch", *changes):
        plain(baited.top, *command.split())
    plain(baited.top, "worktree", "add", str(tmp_path / "w"))

    taken = set(baited.bitten)
    assert len(taken) > 15, taken
    assert {"core.fsmonitor", "filter.bait.clean", "filter.proc.process", "diff.external"} <= taken
    assert {"core.sshCommand", "hook-reference-transaction", "sub-core.fsmonitor"} <= taken


def test_snapshots_patches_merges_and_worktrees_take_no_bait(baited, tmp_path):
    git = repository_of(baited.top / "sub" / "..")
    head = pi_git_kit.resolve(git, "HEAD")
    tree = pi_git_kit.tree_of_files(git)
    patch = pi_git_kit.patch_between(git, head, tree)
    worktree = pi_git_kit.add_worktree(git, tmp_path / "w", head, branch="pi/x")
    pi_git_kit.apply_patch(worktree, patch)
    merged, conflicts = pi_git_kit.merge_trees(git, head, tree, pi_git_kit.tree_of_files(worktree))
    names = [*pi_git_kit.file_names(git)]
    listed = pi_git_kit.list_worktrees(git)
    for command in ("status --short", "diff", "log -1 --patch", "show", "branch", "diff-index HEAD"):
        git(*command.split())
    copy = pi_git_kit.clone_shared(git, tmp_path / "copy", "HEAD")
    pi_git_kit.remove_worktree(git, tmp_path / "w")

    assert baited.bitten == []
    assert (merged, conflicts) == (tree, [])
    assert b"+more" in patch
    assert {"tide.txt", "tide.bin", "sub"} <= set(names)
    assert [each.branch for each in listed] == ["main", "pi/x"]
    assert (copy.top / "tide.txt").read_text() == "high\n"


def test_a_missing_object_is_not_fetched(baited):
    git = repository_of(baited.top)
    lost = pi_git_kit.resolve(git, "HEAD:tide.txt")
    (git.git_dir / "objects" / lost[:2] / lost[2:]).unlink()

    with pytest.raises(pi_git_kit.GitFailed):
        git("cat-file", "blob", lost)
    assert baited.bitten == []


def test_the_users_own_filters_run_and_the_repository_cannot_replace_them(baited, monkeypatch, tmp_path):
    (tmp_path / "gitconfig").write_text('[filter "bait"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    git = repository_of(baited.top)

    tree = pi_git_kit.tree_of_files(git)

    assert git("cat-file", "blob", f"{tree}:tide.txt") == "HIGH\nMORE"
    assert baited.bitten == []


def test_commands_that_look_into_nested_repositories_are_refused(baited):
    with pytest.raises(ValueError, match="git add is not known to be safe"):
        repository_of(baited.top)("add", "--all")


def test_the_work_tree_is_the_folder_of_the_repository_whatever_it_says(baited, tmp_path):
    plain(baited.top, "config", "core.worktree", str(tmp_path))

    git = repository_of(baited.top)

    assert git.top == baited.top
    assert "marks" not in git("ls-tree", "--name-only", pi_git_kit.tree_of_files(git))


def test_a_bare_repository_among_the_files_is_not_used(baited):
    plain(baited.top, "clone", "--bare", ".", "bare")

    with pytest.raises(pi_git_kit.GitFailed, match="cannot use bare repository"):
        repository_of(baited.top / "bare" / "objects")


def test_variables_of_git_and_programs_of_the_folder_are_ignored(baited, monkeypatch, tmp_path):
    fake = tmp_path / "programs" / "core.editor"
    (baited.top / "git").symlink_to(fake)
    monkeypatch.chdir(baited.top)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS"):
        monkeypatch.setenv(name, str(fake))
    monkeypatch.setenv("GIT_DIR", str(baited.top / "sub" / ".git"))

    assert repository_of(baited.top)("diff", "HEAD").count("+more") == 3
    assert baited.bitten == []
