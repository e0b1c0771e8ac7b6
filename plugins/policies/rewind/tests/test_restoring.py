"""Checkpoints and restores of real work trees: restored and undone trees are identical, and git is untouched."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pi_rewind.checkpoints import Checkpoints
from pi_rewind.points import Point, Points, rows_of
from pi_rewind.pruning import prune
from pi_rewind.restore import NotRestored, finish, restore

GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.com")


def git(root, *arguments):
    done = subprocess.run(["git", *AUTHOR, *arguments], cwd=root, env=GIT, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    git(root, "init", "-q")
    (root / ".gitignore").write_text("*.log\n")
    (root / "a.txt").write_text("one\n")
    (root / "src").mkdir()
    (root / "src" / "b.py").write_text("print()\r\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


@pytest.fixture
def make(tmp_path):
    return lambda root, **more: Checkpoints(tmp_path / "stores", root, "s1", **more)


def files(root):
    """Return everything in a work tree but its git directory: path to type, executable bit and content."""
    found = {}
    for here, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each != ".git"]
        for path in (Path(here, name) for name in (*names, *folders)):
            if path.is_symlink():
                found[str(path.relative_to(root))] = ("link", str(path.readlink()))
            elif path.is_file():
                found[str(path.relative_to(root))] = (bool(path.stat().st_mode & 0o100), path.read_bytes())
    return found


def test_changed_new_and_deleted_files_come_back(repository, make):
    checkpoints = make(repository)
    before = files(repository)
    tree = checkpoints.make().tree
    (repository / "a.txt").write_text("two\n")
    (repository / "src" / "b.py").unlink()
    (repository / "new").mkdir()
    (repository / "new" / "c.txt").write_text("c")

    done = restore(checkpoints, tree)

    assert files(repository) == before
    assert sorted((each.kind, each.path) for each in done.changes) == [
        ("A", "src/b.py"),
        ("D", "new/c.txt"),
        ("M", "a.txt"),
    ]


def test_an_undone_restore_is_as_if_it_had_not_been(repository, make):
    checkpoints = make(repository)
    tree = checkpoints.make().tree
    (repository / "a.txt").write_text("two\n")
    (repository / "c.txt").write_text("c")
    after = files(repository)

    done = restore(checkpoints, tree)
    restore(checkpoints, done.before)

    assert files(repository) == after


def test_ignored_files_stay(repository, make):
    checkpoints = make(repository)
    (repository / "run.log").write_text("before")
    tree = checkpoints.make().tree
    (repository / "run.log").write_text("after")

    restore(checkpoints, tree)

    assert (repository / "run.log").read_text() == "after"


def test_included_patterns_of_ignored_files_come_back(repository, make):
    checkpoints = make(repository, include=["*.log"])
    (repository / "run.log").write_text("before")
    tree = checkpoints.make().tree
    (repository / "run.log").write_text("after")

    restore(checkpoints, tree)

    assert (repository / "run.log").read_text() == "before"


def test_files_stay_that_are_ignored_only_in_the_state_that_comes_back(repository, make):
    checkpoints = make(repository)
    tree = checkpoints.make().tree
    (repository / ".gitignore").write_text("")
    (repository / "results.log").write_text("a day's work")

    restore(checkpoints, tree)
    done = restore(checkpoints, checkpoints.make().tree)

    assert not done.changes
    assert (repository / ".gitignore").read_text() == "*.log\n"


def test_a_folder_that_lost_its_repository_has_other_checkpoints(tmp_path, make):
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a").write_text("1")
    checkpoints = make(plain)
    tree = checkpoints.make().tree
    (plain / "a").write_text("2")

    restore(checkpoints, tree)

    assert not checkpoints.in_repository
    assert (plain / "a").read_text() == "1"


def test_nested_repositories_are_left_alone_and_named(repository, make):
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x").write_text("1")
    checkpoints = make(repository)
    first = checkpoints.make()
    (inner / "x").write_text("2")

    restore(checkpoints, first.tree)

    assert first.left_out == ("inner/",)
    assert (inner / "x").read_text() == "2"


def test_what_no_checkpoint_holds_is_not_overwritten(repository, make):
    checkpoints = make(repository)
    tree = checkpoints.make().tree
    (repository / "a.txt").unlink()
    (repository / "a.txt").mkdir()
    (repository / "a.txt" / "data.log").write_text("precious")

    with pytest.raises(NotRestored, match=r"'a\.txt' is a folder now, with files that no checkpoint contains"):
        restore(checkpoints, tree)

    assert (repository / "a.txt" / "data.log").read_text() == "precious"


def test_nothing_is_written_through_a_link(repository, make, tmp_path):
    checkpoints = make(repository)
    (repository / "src" / "b.py").write_text("changed")
    tree = checkpoints.make().tree
    shutil.move(repository / "src", tmp_path / "elsewhere")
    (repository / "src").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "b.py").write_text("outside")

    restore(checkpoints, tree)

    assert (tmp_path / "elsewhere" / "b.py").read_text() == "outside"
    assert not (repository / "src").is_symlink()
    assert (repository / "src" / "b.py").read_text() == "changed"


def test_a_tree_that_is_gone_changes_nothing(repository, make):
    checkpoints = make(repository)
    (repository / "a.txt").write_text("two\n")

    with pytest.raises(NotRestored, match="is no longer stored"):
        restore(checkpoints, "0123456789012345678901234567890123456789")

    assert (repository / "a.txt").read_text() == "two\n"


def test_a_killed_restore_is_finished(repository, make, monkeypatch):
    checkpoints = make(repository)
    before = files(repository)
    tree = checkpoints.make().tree
    (repository / "a.txt").write_text("two\n")
    (repository / "new.txt").write_text("new")

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pi_rewind.restore._write", die)
        with pytest.raises(KeyboardInterrupt):
            restore(checkpoints, tree)
    done = finish(make(repository))

    assert done is not None
    assert files(repository) == before
    assert finish(make(repository)) is None


def test_what_was_changed_after_the_kill_is_not_removed(repository, make, monkeypatch):
    checkpoints = make(repository)
    tree = checkpoints.make().tree
    (repository / "new.txt").write_text("new")

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pi_rewind.restore._apply", die)
        with pytest.raises(KeyboardInterrupt):
            restore(checkpoints, tree)
    (repository / "new.txt").write_text("mine")
    finish(make(repository))

    assert (repository / "new.txt").read_text() == "mine"


def test_hooks_filters_and_attributes_of_the_repository_do_not_count(repository, make, tmp_path):
    mark = tmp_path / "ran"
    git(repository, "config", "filter.evil.clean", f"touch {mark}; cat")
    git(repository, "config", "filter.evil.smudge", f"touch {mark}; cat")
    (repository / ".gitattributes").write_text("* text=auto eol=lf filter=evil\n")
    (repository / "crlf.txt").write_bytes(b"a\r\nb\r\n")
    checkpoints = make(repository)
    tree = checkpoints.make().tree
    (repository / "crlf.txt").write_bytes(b"c\n")

    restore(checkpoints, tree)

    assert (repository / "crlf.txt").read_bytes() == b"a\r\nb\r\n"
    assert not mark.exists()


def test_a_repository_in_the_middle_of_a_merge_has_checkpoints(repository, make):
    git(repository, "checkout", "-qb", "other")
    (repository / "a.txt").write_text("other\n")
    git(repository, "commit", "-qam", "other")
    git(repository, "checkout", "-q", "-")
    (repository / "a.txt").write_text("mine\n")
    git(repository, "commit", "-qam", "mine")
    subprocess.run(["git", *AUTHOR, "merge", "other"], cwd=repository, env=GIT, check=False, capture_output=True)
    checkpoints = make(repository)
    conflicted, tree = files(repository), checkpoints.make().tree
    (repository / "a.txt").write_text("solved\n")

    restore(checkpoints, tree)

    assert files(repository) == conflicted


def test_checkpoints_are_forgotten_after_fourteen_days(repository, make):
    checkpoints = make(repository)
    tree = checkpoints.make().tree
    prune(checkpoints.git, time.time() + 13 * 86_400)
    kept = checkpoints.git("for-each-ref")

    prune(checkpoints.git, time.time() + 15 * 86_400)

    assert all(part.encode() in kept for part in tree.split(":"))
    assert checkpoints.git("for-each-ref") == b""


def test_the_oldest_half_of_a_store_that_is_too_large_is_forgotten(repository, make, monkeypatch):
    checkpoints = make(repository)
    for number, content in enumerate("abcd"):
        (repository / "a.txt").write_text(content)
        monkeypatch.setattr("pi_rewind.checkpoints.time.time", lambda at=number: 1e9 + at)
        last = checkpoints.make().tree
    monkeypatch.undo()
    monkeypatch.setattr("pi_rewind.pruning.KEPT_BYTES", 0)

    prune(checkpoints.git, 1e9 + 10)

    assert sorted(checkpoints.git("for-each-ref", "--format=%(objectname)").decode().split()) == sorted(last.split(":"))


def test_the_paths_that_a_turn_has_written_make_the_same_checkpoint_as_all(repository, make, tmp_path):
    checkpoints = make(repository)
    checkpoints.make()
    (repository / "a.txt").write_text("two\n")
    (repository / "new").mkdir()
    (repository / "new" / "*.txt").write_text("three\n")
    (repository / "run.log").write_text("ignored")
    (repository / "src" / "b.py").unlink()
    some = checkpoints.make(["a.txt", "new/*.txt", "run.log", "src/b.py"])

    whole = Checkpoints(tmp_path / "stores", repository, "s2").make()
    assert some.tree == whole.tree
    assert checkpoints.make([]) is some


def test_checkpoints_have_an_age_and_a_number_of_files(repository, make):
    checkpoints = make(repository)
    first = checkpoints.make().tree
    (repository / "a.txt").write_text("two\n")
    second = checkpoints.make().tree
    at = "2026-01-01T10:00:00Z"
    points = Points((Point("aa", first, "first words", at), Point("bb", "0" * 40, "second", at)), last=second)

    assert rows_of(points, checkpoints, datetime(2026, 1, 3, 11, tzinfo=UTC)) == [
        "aa  2d            1 file  first words",
        "bb  2d  no longer stored  second",
    ]
    points = Points((Point("aa", first, "first words", at),), last=second)
    assert rows_of(points, checkpoints, datetime(2026, 1, 1, 10, 5, tzinfo=UTC)) == ["aa  5m  1 file  first words"]
