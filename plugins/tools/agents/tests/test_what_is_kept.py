"""What of a worktree is kept, said, applied, dropped and brought back, by what git sees of it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from pi_agents.kept import find, kept_worktrees
from pi_agents.kept import repository as repository_at
from pi_agents.merging import Conflict, apply, merge
from pi_agents.settings import TrashLimits
from pi_agents.subcommand import run_subcommand
from pi_agents.trash import drop, dropped_worktrees, empty_trash, undo_drop
from pi_agents.worktree import begin, keep_or_remove
from pi_core import Settings
from pi_git_kit import CACHES
from pi_hookspecs import UserError

pytestmark = pytest.mark.slow


def git(folder, *arguments):
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder, message="x"):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)


@pytest.fixture
def top(tmp_path):
    folder = tmp_path / "tides"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.py").write_text("main\n")
    (folder / "tide").write_text("1\n2\n3\n")
    (folder / ".gitignore").write_text("report/\n*.log\n.env\n")
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


class Place:
    """An agent's worktree of a repository."""

    def __init__(self, top, agent_dir, name="abc"):
        self.agent_dir = agent_dir
        ctx = SimpleNamespace(cwd=top, settings=SimpleNamespace(agent_dir=agent_dir))
        self.git, self.inside, self.kept, self.about = begin(None, SimpleNamespace(id=name), ctx)
        self.path = self.kept.path

    def write(self, name, text="work\n"):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def end(self, *caches):
        return keep_or_remove(self.git, self.inside, self.kept, "work", (*CACHES, *caches))

    def apply(self):
        merged = merge(self.git, self.kept, CACHES)
        return merged, apply(merged)


@pytest.fixture
def place(top, tmp_path):
    return Place(top, tmp_path / "agent")


def repository(folder, *, committed):
    folder.mkdir(parents=True)
    (folder / "main.py").write_text("the work\n")
    git(folder, "init", "--quiet")
    if committed:
        commit(folder)


# What git does not see is kept, named and applied


@pytest.mark.parametrize("committed", [True, False])
def test_a_repository_that_the_agent_makes_is_kept_and_brought_whole(top, place, committed):
    repository(place.path / "app", committed=committed)

    assert place.end() == " app/ | a repository of its own, 1 file"
    merged, left = place.apply()
    assert (merged.files, left) == (["app"], [])
    assert (top / "app" / "main.py").read_text() == "the work\n"
    assert bool(git(top / "app", "log", "--all", "--oneline")) == committed
    assert place.apply()[0].stat == ""


def test_a_git_folder_beside_files_that_git_knows_is_brought(top, place):
    git(place.path / "src", "init", "--quiet")

    assert place.end() == " src/.git/ | the git folder of a repository of its own"
    place.apply()
    assert git(top / "src", "rev-parse", "--show-toplevel") == str(top / "src")


@pytest.mark.parametrize("rules", ["gitignore", "exclude", "excludesFile"])
def test_files_that_git_ignores_are_kept_and_brought(top, place, rules, tmp_path):
    if rules == "exclude":
        (top / ".git" / "info" / "exclude").write_text("out/\n")
    elif rules == "excludesFile":
        (tmp_path / "ignored").write_text("out/\n")
        git(top, "config", "core.excludesFile", str(tmp_path / "ignored"))
    name = "report/r.txt" if rules == "gitignore" else "out/r.txt"
    place.write(name)

    assert place.end() == f" {name} | ignored by git"
    merged, left = place.apply()
    assert (merged.files, left, (top / name).read_text()) == ([name], [], "work\n")


def test_a_file_of_the_users_that_git_ignores_is_never_overwritten(top, place):
    (top / "report").mkdir()
    (top / "report" / "r.txt").write_text("mine\n")
    place.write("report/r.txt")
    place.write("tide", "1\n2\n3\n4\n")
    place.end()
    merged, left = place.apply()

    assert (top / "report" / "r.txt").read_text() == "mine\n"
    assert (top / "tide").read_text() == "1\n2\n3\n4\n"
    assert merged.files == ["tide"]
    assert left == [" report/r.txt | you have a file of this name"]


def test_a_file_that_only_the_agent_made_known_to_git_conflicts_with_the_users_ignored_one(top, place):
    (top / ".env").write_text("mine\n")
    place.write(".gitignore", "")
    place.write(".env", "theirs\n")
    place.end()
    with pytest.raises(Conflict) as caught:
        place.apply()

    assert caught.value.files == [".env"]
    assert (top / ".env").read_text() == "mine\n"


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_changes_of_files_that_the_agent_told_git_to_overlook_are_seen(top, place, flag):
    git(place.path, "update-index", flag, "tide")
    place.write("tide", "1\n2\n3\n4\n")

    assert " tide | 1 +" in place.end()
    place.apply()
    assert (top / "tide").read_text() == "1\n2\n3\n4\n"


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_a_change_that_the_user_told_git_to_overlook_is_merged_and_not_published(top, tmp_path, flag):
    git(top, "update-index", flag, "tide")
    (top / "tide").write_text("mine\n2\n3\n")
    place = Place(top, tmp_path / "agent")
    place.write("tide", "1\n2\ntheirs\n")
    place.end()
    place.apply()

    assert (top / "tide").read_text() == "mine\n2\ntheirs\n"
    assert "mine" not in git(top, "log", "-p", "--all")


def test_an_empty_folder_and_permissions_are_kept_and_brought(top, place):
    (place.path / "new" / "deep").mkdir(parents=True)
    (place.path / "tide").chmod(0o600)

    assert place.end() == " new/deep/ | an empty folder\n tide | permissions"
    place.apply()
    assert (top / "new" / "deep").is_dir()
    assert stat.S_IMODE((top / "tide").stat().st_mode) == 0o600


def test_permissions_of_the_user_stay_when_the_text_is_changed(top, place):
    (top / "tide").chmod(0o600)
    place.write("tide", "new\n")
    place.end()
    place.apply()

    assert stat.S_IMODE((top / "tide").stat().st_mode) == 0o600


def test_line_endings_that_git_converts_are_kept_and_brought(top, tmp_path):
    (top / ".gitattributes").write_text("* text=auto\n")
    commit(top)
    place = Place(top, tmp_path / "agent")
    (place.path / "tide").write_bytes(b"1\r\n2\r\n3\r\n")

    assert place.end() == " tide | line endings, or what else git converts"
    place.apply()
    assert (top / "tide").read_bytes() == b"1\r\n2\r\n3\r\n"


def test_a_worktree_within_the_worktree_is_kept_and_stays_where_it_is(top, place):
    git(place.path, "worktree", "add", "--quiet", "inner", "-b", "inner")

    assert "inner/ | a worktree or a repository with its git folder elsewhere, 3 files" in place.end()
    assert place.apply()[1] == [" inner | its git folder is elsewhere"]
    assert not (top / "inner").exists()


def test_a_socket_keeps_the_worktree(place):
    with closing(socket.socket(socket.AF_UNIX)) as server:
        here = os.open(place.path, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{here}/s")
        os.close(here)

    assert place.end() == " s | neither file nor folder, or cannot be read"


def test_staged_changes_and_commits_on_no_branch_keep_the_worktree(place):
    place.write("new")
    git(place.path, "add", "new")
    (place.path / "new").unlink()

    assert "(the index) | staged changes that the files do not have" in place.end()
    git(place.path, "reset", "--quiet", "--hard")
    git(place.path, "checkout", "--quiet", "--detach")
    commit(place.path, "lonely")
    lonely = git(place.path, "rev-parse", "--short=12", "HEAD")
    git(place.path, "checkout", "--quiet", place.kept.branch)
    assert place.end() == f" (commits) | on no branch: {lonely}"


def test_the_work_is_found_when_the_record_in_the_repository_is_lost(top, place):
    place.write("new")
    record = place.inside.git_dir
    for each in ("gitdir", "commondir"):
        (record / each).unlink()

    assert " new | 1 +" in place.end()
    place.apply()
    assert (top / "new").read_text() == "work\n"
    drop(place.git, place.kept, TrashLimits())
    assert not place.path.exists()
    undo_drop(place.git, place.agent_dir)
    assert (place.path / "new").read_text() == "work\n"


def test_a_name_that_git_refuses_is_kept_and_brought(top, place):
    place.write("git~1/config")

    assert place.end() == " git~1/config | ignored by git"
    place.apply()
    assert (top / "git~1" / "config").read_text() == "work\n"


# Caches


@pytest.mark.parametrize(
    ("name", "is_kept"),
    [
        ("node_modules/a/b", False),
        (".venv/bin/python", False),
        ("src/__pycache__/a.pyc", False),
        ("mine.egg-info/x", False),
        ("tagged/deep/x", False),
        ("report/target/x", False),
        ("target/x", True),
        ("src/target/main.py", True),
    ],
)
def test_caches_alone_do_not_keep_a_worktree(place, name, is_kept):
    place.write(name)
    (place.path / "tagged").mkdir(exist_ok=True)
    (place.path / "tagged" / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")

    assert bool(place.end("*.egg-info")) == is_kept
    assert place.path.exists() == is_kept


def test_a_folder_with_the_name_of_a_cache_that_git_knows_is_none(top, tmp_path):
    (top / "target").mkdir()
    (top / "target" / "main.py").write_text("main\n")
    commit(top)
    place = Place(top, tmp_path / "agent")
    place.write("target/new.py")

    assert " target/new.py | 1 +" in place.end()


# Submodules and sparse checkouts


@pytest.fixture
def with_submodule(top, tmp_path):
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "lib.py").write_text("lib\n")
    git(origin, "init", "--quiet")
    commit(origin)
    git(top, "submodule", "--quiet", "add", str(origin), "vendor/lib")
    commit(top)
    (top / "vendor" / "lib" / "mine.py").write_text("not committed\n")
    return top


def test_an_agent_has_the_files_of_submodules_and_its_changes_there_are_applied(with_submodule, tmp_path):
    place = Place(with_submodule, tmp_path / "agent")
    lib = place.path / "vendor" / "lib"
    assert place.about.parts == ["vendor/lib"]
    assert (lib / "lib.py").read_text() == "lib\n"
    assert (lib / "mine.py").read_text() == "not committed\n"
    (lib / "lib.py").write_text("better\n")
    (lib / "new.py").write_text("new\n")
    said = place.end()
    merged, left = place.apply()

    assert " vendor/lib/lib.py | 2 +-" in said
    assert " vendor/lib/new.py | 1 +" in said
    assert (merged.files, left) == (["vendor/lib/lib.py", "vendor/lib/new.py"], [])
    mine = with_submodule / "vendor" / "lib"
    assert [(mine / name).read_text() for name in ("lib.py", "new.py", "mine.py")] == [
        "better\n",
        "new\n",
        "not committed\n",
    ]
    assert git(mine, "status", "--short").split() == ["M", "lib.py", "??", "mine.py", "??", "new.py"]


def test_the_permissions_of_the_folder_of_a_submodule_are_kept_and_applied(with_submodule, tmp_path):
    place = Place(with_submodule, tmp_path / "agent")
    (place.path / "vendor" / "lib").chmod(0o700)
    said = place.end()
    merged, left = place.apply()

    assert said == " vendor/lib | permissions"
    assert (merged.files, left) == (["vendor/lib"], [])
    assert stat.S_IMODE((with_submodule / "vendor" / "lib").stat().st_mode) == 0o700


@pytest.mark.parametrize("gone", ["deinit", "removed", "moved", "link"])
def test_the_work_in_a_submodule_that_the_user_no_longer_has_is_kept(gone, with_submodule, tmp_path):
    place = Place(with_submodule, tmp_path / "agent")
    place.write("vendor/lib/new.py")
    mine = with_submodule / "vendor" / "lib"
    if gone == "deinit":
        git(with_submodule, "submodule", "--quiet", "deinit", "--force", "vendor/lib")
    elif gone == "removed":
        shutil.rmtree(with_submodule / "vendor")
    else:
        mine.rename(tmp_path / "lib")
    if gone == "link":
        mine.symlink_to(tmp_path / "lib")

    said = place.end()
    merged, left = place.apply()

    line = " vendor/lib/ | not compared with its beginning: your files have no repository there now"
    assert said.splitlines() == left == [line]
    assert (merged.files, merged.stat) == ([], "")
    assert (place.path / "vendor" / "lib" / "new.py").read_text() == "work\n"
    assert not (mine / "new.py").exists()


def test_the_work_in_a_submodule_is_named_where_the_users_other_worktree_lacks_it(with_submodule, tmp_path):
    place = Place(with_submodule, tmp_path / "agent")
    place.write("vendor/lib/new.py")
    place.write("new")
    place.end()
    other = tmp_path / "other"
    git(with_submodule, "worktree", "add", "--quiet", "--detach", str(other))
    there = repository_at(other)

    merged = merge(there, find(there, tmp_path / "agent", "abc"), CACHES)
    left = apply(merged)

    assert merged.files == ["new"]
    assert left == [" vendor/lib/ | not compared with its beginning: your files have no repository there now"]


def test_an_unchanged_worktree_with_submodules_is_removed(with_submodule, tmp_path):
    place = Place(with_submodule, tmp_path / "agent")

    assert place.end() == ""
    assert not place.path.exists()
    assert git(with_submodule / "vendor" / "lib", "for-each-ref", "refs/pi") == ""


def test_a_submodule_that_the_agent_adds_is_brought_with_its_history(top, place, tmp_path):
    origin = tmp_path / "origin"
    repository(origin, committed=True)
    git(place.path, "submodule", "--quiet", "add", str(origin), "sub")

    assert " sub/ | a repository of its own, 1 file" in place.end()
    place.apply()
    drop(place.git, place.kept, TrashLimits(days=0))
    assert (top / "sub" / "main.py").read_text() == "the work\n"
    assert git(top / "sub", "status", "--short") == ""
    assert git(top / "sub", "log", "--oneline")


def test_work_in_a_sparse_checkout_is_listed_and_applied(tmp_path):
    top = tmp_path / "wide"
    for name in ("x", "y"):
        (top / name).mkdir(parents=True)
        (top / name / "f").write_text("1\n")
    git(top, "init", "--quiet")
    commit(top)
    git(top, "sparse-checkout", "set", "x")
    place = Place(top, tmp_path / "agent")
    place.write("x/f", "2\n")

    assert place.end().splitlines()[0].strip() == "x/f | 2 +-"
    assert place.apply()[0].files == ["x/f"]
    assert ((top / "x" / "f").read_text(), (top / "y").exists()) == ("2\n", False)
    place.write("y/f", "3\n")
    assert place.apply()[0].files == ["y/f"]
    assert (top / "y" / "f").read_text() == "3\n"


# Agents of agents


def test_the_work_of_an_agents_agent_is_found_when_the_worktree_of_the_first_is_gone(top, place):
    second = Place(place.path, place.agent_dir, "second")
    second.write("new")
    second.end()
    assert place.end() == ""
    mine = find(place.git, place.agent_dir, "second")

    assert mine == second.kept
    apply(merge(place.git, mine, CACHES))
    assert (top / "new").read_text() == "work\n"
    drop(place.git, mine, TrashLimits())
    assert undo_drop(place.git, place.agent_dir) == mine
    assert (second.path / "new").read_text() == "work\n"


# The trash


def test_a_dropped_worktree_comes_back_with_its_branch_and_its_files(top, place):
    place.write("new")
    place.write("report/r.txt")
    repository(place.path / "app", committed=True)
    place.end()
    tip = git(top, "rev-parse", place.kept.branch)
    dropped = drop(place.git, place.kept, TrashLimits())
    git(top, "worktree", "prune")
    git(top, "prune", "--expire=now")

    assert not place.path.exists()
    assert kept_worktrees(place.git, place.agent_dir) == []
    assert place.kept.branch not in git(top, "branch", "--list")
    assert stat.S_IMODE(dropped.folder.parent.stat().st_mode) == 0o700
    assert undo_drop(place.git, place.agent_dir) == find(place.git, place.agent_dir, "abc")
    assert git(top, "rev-parse", place.kept.branch) == tip
    assert git(place.path, "status", "--short", "new") == ""
    assert (place.path / "report" / "r.txt").read_text() == "work\n"
    assert (place.path / "app" / "main.py").read_text() == "the work\n"
    assert dropped_worktrees(place.git, place.agent_dir) == []
    assert git(top, "for-each-ref", "refs/pi/trash") == ""


def test_the_trash_has_an_age_and_a_size(top, place, monkeypatch):
    for name in ("old", "large", "new"):
        each = Place(top, place.agent_dir, name)
        each.write("file", "x" * (900_000 if name == "large" else 10))
        each.end()
        if name == "old":
            monkeypatch.setattr(time, "time", lambda: 1e9)
        drop(each.git, each.kept, TrashLimits(days=14, megabytes=0.5))
        monkeypatch.undo()

    names = [each.kept.id for each in dropped_worktrees(place.git, place.agent_dir)]
    assert names == ["new"]
    assert {
        ref.split("/")[3].partition("-")[0]
        for ref in git(top, "for-each-ref", "--format=%(refname)", "refs/pi/trash").split()
    } == {"new"}
    assert [each.kept.id for each in empty_trash(place.git, place.agent_dir)] == ["new"]
    assert git(top, "for-each-ref", "refs/pi/trash") == ""


def test_nothing_comes_back_over_something_else(top, place):
    place.write("new")
    place.end()
    drop(place.git, place.kept, TrashLimits())
    place.path.mkdir()
    with pytest.raises(UserError, match="exists: the dropped worktree abc cannot come back there"):
        undo_drop(place.git, place.agent_dir)
    place.path.rmdir()
    git(top, "branch", place.kept.branch, "HEAD")
    with pytest.raises(UserError, match="There is a branch pi/abc with other commits"):
        undo_drop(place.git, place.agent_dir)
    git(top, "branch", "-D", place.kept.branch)

    assert undo_drop(place.git, place.agent_dir, "abc") == place.kept


def test_the_command_line_drops_brings_back_and_empties_and_tells_of_secrets(top, place, monkeypatch, capsys):
    place.write(".env", "KEY=1\n")
    place.end()
    monkeypatch.chdir(top)
    host = SimpleNamespace(settings=Settings.in_memory({}, agent_dir=place.agent_dir))

    def agents(*arguments):
        assert run_subcommand([*arguments], host) == 0
        return capsys.readouterr().out

    said = agents("drop", "abc")
    assert "pi agents undo abc brings them back within 14 days." in said
    assert "has the secrets in .env, readable by you alone; pi agents empty removes them now." in said
    assert "In the trash (pi agents undo ID brings one back):\nabc  " in agents("worktrees")
    assert agents("undo") == f"{place.path} and the branch pi/abc are back.\n"
    assert json.loads(agents("drop", "abc", "--json"))["secrets"] == [".env"]
    assert agents("empty") == "Removed for good: abc.\n"
    assert agents("empty") == "The trash is empty.\n"
    with pytest.raises(UserError, match=r"No worktree was dropped of .*The trash has: nothing"):
        agents("undo")
