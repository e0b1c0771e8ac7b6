"""Trees, merges, worktrees and fetches of ordinary repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pi_git_kit
from pi_git_kit import Git, GitFailed, excludes_file, repository_of
from pi_git_kit.overrides import overrides_of


def user_git(folder, *arguments):
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    top = tmp_path / "tides"
    (top / "src").mkdir(parents=True)
    (top / "tide.txt").write_text("".join(f"line {number}\n" for number in range(20)))
    (top / "src" / "main.py").write_text("main\n")
    (top / "picture.bin").write_bytes(bytes(range(256)))
    (top / ".gitignore").write_text("*.log\n")
    user_git(top, "init", "--quiet")
    user_git(top, "add", "--all")
    user_git(top, "commit", "--quiet", "-m", "begin")
    return top


def change_kinds(top):
    """Make files, links and folders each other's kind, and add a nested repository with and without a commit."""
    (top / "src" / "main.py").unlink()
    (top / "src").rmdir()
    (top / "src").write_text("a file now\n")
    (top / "tide.txt").unlink()
    (top / "tide.txt").mkdir()
    (top / "tide.txt" / "deep").write_text("deep\n")
    (top / "picture.bin").unlink()
    (top / "picture.bin").symlink_to("src")
    (top / "caf\u00e9\nnew").write_text("new\n")
    (top / "noise.log").write_text("noise\n")
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    for name in ("nested", "empty"):
        (top / name).mkdir()
        user_git(top / name, "init", "--quiet")
        (top / name / "inside").write_text("inside\n")
    user_git(top / "nested", "add", "--all")
    user_git(top / "nested", "commit", "--quiet", "-m", "begin")


def test_a_tree_of_the_files_is_that_of_git_add_all_and_the_index_stays(repository):
    change_kinds(repository)
    before = user_git(repository, "ls-files", "--stage")
    tree = pi_git_kit.tree_of_files(repository_of(repository))
    after = user_git(repository, "ls-files", "--stage")
    shutil.rmtree(repository / "empty")  # git add refuses a repository without a commit
    user_git(repository, "add", "--all")

    assert tree == user_git(repository, "write-tree")
    assert after == before
    assert not list((repository / ".git").glob("pi-index-*"))


def test_a_file_that_was_changed_in_the_moment_of_a_commit_is_seen_later(repository):
    """git trusts no entry that is as young as its index, so a copy of the index has to be as old as the index."""
    file, index = repository / "tide.txt", repository / ".git" / "index"
    user_git(repository, "-c", "core.trustctime=false", "update-index", "--refresh")
    then = file.stat().st_mtime_ns
    file.write_text(file.read_text().replace("line 1", "LINE 1"))
    for path in (file, index):
        os.utime(path, ns=(then, then))
    git = repository_of(repository).with_(settings={"core.trustctime": "false"})

    assert pi_git_kit.tree_of_files(git) != pi_git_kit.resolve(git, "HEAD^{tree}")


def test_the_repository_of_a_subfolder_a_worktree_and_a_submodule_is_found(repository, tmp_path):
    git = repository_of(repository / "src")
    worktree = pi_git_kit.add_worktree(git, tmp_path / "w", "HEAD", branch="pi/w")
    found = repository_of(tmp_path / "w" / "src")
    user_git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "sub")

    assert (git.top, git.git_dir, git.below) == (repository, repository / ".git", Path("src"))
    assert (found.top, found.git_dir, found.common) == (worktree.top, worktree.git_dir, repository / ".git")
    assert repository_of(repository / "sub" / "src").top == repository / "sub"


@pytest.mark.parametrize("make", [lambda _: None, lambda path: (path / ".git").mkdir()])
def test_a_folder_outside_a_repository_is_refused_with_the_reason(tmp_path, make):
    make(tmp_path)

    with pytest.raises(GitFailed, match="is not in a git repository: fatal: not a git repository"):
        repository_of(tmp_path)


def test_without_git_the_message_says_so(tmp_path):
    with pytest.raises(GitFailed, match="it is not on PATH"):
        repository_of(tmp_path, environ={"PATH": str(tmp_path)})


def merged(repository, mine, theirs):
    """Merge the trees that two functions make of the repository's files; return names and contents, or conflicts."""
    git = repository_of(repository)
    base, trees = pi_git_kit.tree_of_files(git), []
    for change in (mine, theirs):
        change(repository)
        trees.append(pi_git_kit.tree_of_files(git))
        git("read-tree", base)
        for path in repository.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        git("checkout", "--quiet", "--force", "HEAD")
        git("read-tree", base)
    tree, conflicts = pi_git_kit.merge_trees(git, base, *trees)
    return (git, tree) if tree else conflicts


def edit(name, old, new):
    def change(top):
        path = top / name
        path.write_text(path.read_text().replace(old, new))

    return change


def test_changes_of_different_lines_files_and_modes_are_merged(repository):
    def theirs(top):
        edit("tide.txt", "line 18\n", "theirs 18\n")(top)
        (top / "tide.txt").chmod(0o755)
        (top / "src" / "main.py").unlink()
        (top / "new.txt").write_text("new\n")

    git, tree = merged(repository, edit("tide.txt", "line 2\n", "mine 2\n"), theirs)
    lines = git("cat-file", "blob", f"{tree}:tide.txt").splitlines()

    assert (lines[2], lines[18]) == ("mine 2", "theirs 18")
    assert git("ls-tree", "-r", "--name-only", tree).split() == [".gitignore", "new.txt", "picture.bin", "tide.txt"]
    assert git("ls-tree", tree, "tide.txt").startswith("100755")


def test_every_kind_of_conflict_names_its_file(repository):
    def mine(top):
        edit("tide.txt", "line 2\n", "mine 2\n")(top)
        (top / "src" / "main.py").unlink()
        (top / "picture.bin").write_bytes(b"\0mine")
        (top / "new, \u00e9.txt").write_text("mine\n")
        (top / ".gitignore").unlink()
        (top / ".gitignore").symlink_to("tide.txt")

    def theirs(top):
        edit("tide.txt", "line 2\n", "theirs 2\n")(top)
        (top / "src" / "main.py").write_text("theirs\n")
        (top / "picture.bin").write_bytes(b"\0theirs")
        (top / "new, \u00e9.txt").write_text("theirs\n")
        (top / ".gitignore").write_text("*.tmp\n")

    conflicts = merged(repository, mine, theirs)

    assert conflicts == [".gitignore", "new, \u00e9.txt", "picture.bin", "src/main.py", "tide.txt"]


def test_a_patch_brings_the_files_to_the_tree_it_was_made_of(repository):
    git = repository_of(repository)
    before = pi_git_kit.tree_of_files(git)
    (repository / "picture.bin").write_bytes(b"\0\xff\n")
    (repository / "tide.txt").write_bytes("caf\u00e9\r\n".encode("latin-1"))
    after = pi_git_kit.tree_of_files(git)
    pi_git_kit.apply_patch(git, pi_git_kit.patch_between(git, after, before))

    assert pi_git_kit.tree_of_files(git) == before
    with pytest.raises(GitFailed, match="git apply failed"):
        pi_git_kit.apply_patch(git, pi_git_kit.patch_between(git, after, before))


def test_worktrees_are_made_listed_and_removed_with_their_changes(repository, tmp_path):
    git = repository_of(repository)
    pi_git_kit.add_worktree(git, tmp_path / "a", "HEAD", branch="pi/a")
    pi_git_kit.add_worktree(git, tmp_path / "b", "HEAD")
    (tmp_path / "a" / "tide.txt").write_text("changed\n")
    listed = pi_git_kit.list_worktrees(git)
    pi_git_kit.remove_worktree(git, tmp_path / "a")
    pi_git_kit.add_worktree(git, tmp_path / "a", "pi/a")  # the branch is still there
    shutil.rmtree(tmp_path / "b")
    pi_git_kit.prune_worktrees(git)

    assert [(each.path.name, each.branch) for each in listed] == [("tides", "main"), ("a", "pi/a"), ("b", None)]
    assert [each.path.name for each in pi_git_kit.list_worktrees(git)] == ["tides", "a"]
    with pytest.raises(GitFailed, match="is not a worktree of"):
        pi_git_kit.worktree_at(git, tmp_path / "b")


def test_names_are_those_below_the_folder_with_untracked_ones_and_without_ignored_ones(repository):
    (repository / "src" / "new\n.py").write_text("")
    (repository / "src" / "x.log").write_text("")

    assert [*pi_git_kit.file_names(repository_of(repository / "src"))] == ["main.py", "new\n.py"]
    assert "src/main.py" in [*pi_git_kit.file_names(repository_of(repository))]


@pytest.mark.parametrize("wanted", ["HEAD", "main", "v1", "commit"])
def test_one_commit_is_fetched(repository, tmp_path, wanted):
    user_git(repository, "tag", "v1")
    commit = user_git(repository, "rev-parse", "HEAD")
    clone = tmp_path / "clone"
    clone.mkdir()

    found = pi_git_kit.fetch_commit(clone, str(repository), commit if wanted == "commit" else wanted, os.environ)

    assert found == commit
    assert (clone / "picture.bin").read_bytes() == bytes(range(256))


def test_a_store_of_pi_has_an_index_and_settings_of_its_own(repository, tmp_path):
    store = Git(
        repository,
        tmp_path / "store",
        tmp_path / "store",
        index=tmp_path / "store" / "mine",
        own=True,
        user_settings=False,
        settings={"core.autocrlf": "true"},
    )
    pi_git_kit.create_repository(store, bare=True)
    pi_git_kit.stage_all(store)
    blob = store("rev-parse", ":src/main.py")

    assert pi_git_kit.read_objects(store, [blob, blob]) == {blob: b"main\n"}
    assert pi_git_kit.resolve(store, "HEAD") is None
    with pytest.raises(GitFailed, match="has been cleaned up"):
        pi_git_kit.read_objects(store, ["0" * 40])


NAMES = st.text(st.characters(exclude_characters="\0\n=", exclude_categories=["Cs"]), min_size=1)


@given(NAMES, st.sampled_from(["filter.{}.clean", "merge.{}.driver", "diff.{}.textconv", "credential.{}.helper"]))
@settings(max_examples=200)
def test_programs_under_any_name_are_replaced_and_the_users_own_value_wins(name, shape):
    key = shape.format(name)
    theirs, mine = (f"{scope}\0{key}\n{scope}\0".encode() for scope in ("local", "global"))

    assert overrides_of(theirs)[key] in ("", "true", "git merge-file --marker-size=%L %A %O %B")
    assert overrides_of(mine + theirs) == {key: "global"}
    assert overrides_of(mine) == {}


def test_a_program_whose_key_cannot_be_replaced_is_refused(repository):
    user_git(repository, "config", "filter.a=b.clean", "touch x")

    with pytest.raises(GitFailed, match=r"names a program under 'filter\.a=b\.clean'"):
        pi_git_kit.tree_of_files(repository_of(repository))


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"HOME": "/home/ada"}, "/home/ada/.config/git/ignore"),
        ({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/etc/ada"}, "/etc/ada/git/ignore"),
        ({"HOME": "/home/ada", "XDG_CONFIG_HOME": ""}, "/home/ada/.config/git/ignore"),
    ],
)
def test_the_users_ignore_file_is_where_git_looks_for_it(tmp_path, environ, place):
    found = excludes_file(tmp_path, environ={**environ, "PATH": os.environ["PATH"]})

    assert found == Path(place)


def test_a_user_without_a_home_folder_has_no_ignore_file(tmp_path, monkeypatch):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it does where the user has no entry

    found = excludes_file(tmp_path, environ={"PATH": os.environ["PATH"]})

    assert not found.exists()
