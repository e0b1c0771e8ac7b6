"""A restore brings back what was there: kinds, bytes, permissions and empty folders, and nothing else is lost."""

from __future__ import annotations

import os
import shutil
import signal
from itertools import permutations
from pathlib import Path

import pytest

from pi_rewind import restore as _restore
from pi_rewind.checkpoints import Checkpoints
from pi_rewind.ignored import compare_ignored, note_ignored
from pi_rewind.journal import Journal
from pi_rewind.points import described, readable
from pi_rewind.recovery import recover
from pi_rewind.restore import finish, plan, restore, reverse


@pytest.fixture
def root(tmp_path, git):
    """A repository with a commit."""
    root = tmp_path / "work"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.txt").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


@pytest.fixture
def make(tmp_path, root):
    """``make(session)``: checkpoints of the repository."""
    return lambda session="s1", **more: Checkpoints(tmp_path / "stores", root, session, **more)


def wipe(path):
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def put_link(path, to):
    path.symlink_to(to)


def put_folder(path):
    (path / "in" / "ner").mkdir(parents=True)
    (path / "in" / "b").write_bytes(b"\0folder\r\n")


def put_file(path, mode=0o640):
    path.write_bytes(b"file\r\n\0")
    path.chmod(mode)


KINDS = {
    "nothing": lambda path: None,
    "file": put_file,
    "program": lambda path: put_file(path, 0o755),
    "link to a file": lambda path: put_link(path, "a.txt"),
    "link to a folder": lambda path: put_link(path, ".git"),
    "link to nothing": lambda path: put_link(path, "nowhere"),
    "folder": put_folder,
    "empty folder": lambda path: path.mkdir(mode=0o750),
}


@pytest.mark.slow
@pytest.mark.parametrize("tracked", [False, True])
def test_every_kind_becomes_every_other_kind_and_comes_back(root, make, git, everything, tracked):
    pairs = [*enumerate(permutations(KINDS, 2))]
    for number, (kind, _) in pairs:
        KINDS[kind](root / f"p{number}")
    if tracked:
        git(root, "add", "-A")
        git(root, "commit", "-qm", "second")
    checkpoints = make()
    tree, then = checkpoints.make().tree, everything(root)
    for number, (_, kind) in pairs:
        wipe(root / f"p{number}")
        KINDS[kind](root / f"p{number}")
    now = everything(root)

    done = restore(checkpoints, tree)
    restored = everything(root)
    restore(make("s2"), done.before)

    assert restored == then
    assert everything(root) == now
    assert not done.kept


def test_converted_files_are_stored_as_they_are_on_disk(root, make, git, everything):
    """What git stores of them is a pointer, other line endings, another encoding, or no expanded keyword."""
    git(root, "config", "filter.pointer.clean", "printf pointer; cat > /dev/null")
    git(root, "config", "filter.pointer.smudge", "cat")
    git(root, "config", "filter.same.clean", "tr a-z A-Z")
    git(root, "config", "core.autocrlf", "true")
    rules = [
        "*.bin filter=pointer",
        "*.up filter=same",
        "*.txt text",
        "*.id ident",
        "*.u16 text working-tree-encoding=UTF-16",
    ]
    (root / ".gitattributes").write_text("\n".join(rules))
    files = {
        "x.bin": b"\0" * 50,
        "x.up": b"same size\n",
        "x.txt": b"a\r\nb\r\n",
        "auto": b"c\r\nd\r\n",
        "x.id": b"$Id: 0123$\n",
        "x.u16": "ünï\n".encode("utf-16"),
    }
    for name, content in files.items():
        (root / name).write_bytes(content)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "converted")
    for session in ("s1", "s2", "s3"):  # the first from the user's index, the next from that of another session
        checkpoints, then = make(session), everything(root)
        tree = checkpoints.make().tree
        for name in files:
            (root / name).unlink()
        if session == "s2":
            (root / ".gitattributes").unlink()

        restore(checkpoints, tree)

        assert everything(root) == then


def test_files_are_stored_that_git_converted_under_rules_that_are_gone(root, make, git, everything):
    (root / ".gitattributes").write_text("*.txt text\n")
    (root / "crlf.txt").write_bytes(b"a\r\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "converted")
    (root / ".gitattributes").unlink()
    checkpoints, then = make(), everything(root)
    tree = checkpoints.make().tree
    (root / "crlf.txt").unlink()

    restore(checkpoints, tree)

    assert everything(root) == then


def test_changes_are_stored_that_the_users_index_hides(root, make, git, everything):
    for name in ("assumed", "skipped"):
        (root / name).write_text("committed")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "hidden")
    git(root, "update-index", "--assume-unchanged", "assumed")
    git(root, "update-index", "--skip-worktree", "skipped")
    for name in ("assumed", "skipped"):
        (root / name).write_text("the user's own")
    index = root / ".git" / "index"
    (root / "a.txt").write_text("two\n")  # same size; with the time of the index, git cannot see it by the time
    at = (root / "a.txt").stat().st_mtime_ns
    os.utime(index, ns=(at, at))
    checkpoints, then = make(), everything(root)
    tree = checkpoints.make().tree
    for name in ("assumed", "skipped", "a.txt"):
        (root / name).write_text("changed by a command")

    restore(checkpoints, tree)

    assert everything(root) == then


def test_permissions_come_back_even_if_they_change_within_a_second(root, make, everything):
    modes = {"private": 0o600, "program": 0o755, "group": 0o664, "odd": 0o711, "read": 0o400}
    for name, mode in modes.items():
        (root / name).write_text(name)
        (root / name).chmod(mode)
    (root / "closed").mkdir(mode=0o700)
    (root / "closed" / "key").write_text("k")
    (root / "closed" / "key").chmod(0o600)
    checkpoints = make()
    trees, states = [], []
    for mode in (None, 0o644, 0o600):
        if mode is not None:
            for name in modes:
                (root / name).chmod(mode)
        trees.append(checkpoints.make().tree)
        states.append(everything(root))
    shutil.rmtree(root / "closed")

    for tree, state in [*zip(trees, states, strict=True)][::-1]:
        restore(checkpoints, tree)
        assert everything(root) == state

    assert len(set(trees)) == len(trees)


def test_empty_folders_come_back_and_new_ones_go(root, make, everything):
    for name in ("empty", "deep/er/empty", "src/empty"):
        (root / name).mkdir(parents=True)
    (root / "src" / "a").write_text("a")
    checkpoints, then = make(), everything(root)
    tree = checkpoints.make().tree
    for name in ("empty", "deep", "src"):
        shutil.rmtree(root / name)
    (root / "new" / "empty").mkdir(parents=True)
    now = everything(root)

    done = restore(checkpoints, tree)
    assert everything(root) == then
    restore(checkpoints, done.before)

    assert everything(root) == now


def test_results_stay_that_either_state_ignores(root, make, everything):
    for rules, later in (("out/\n", ""), ("", "out/\n")):
        (root / ".gitignore").write_text(rules)
        if rules:
            (root / "out").mkdir()
            (root / "out" / "results").write_text("a day of work")
        checkpoints = make(f"s{len(rules)}")
        tree = checkpoints.make().tree
        (root / "out").mkdir(exist_ok=True)
        (root / "out" / "results").write_text("a day of work")
        checkpoints.make()
        (root / ".gitignore").write_text(later)
        checkpoints.make()

        done = restore(checkpoints, tree)

        assert (root / "out" / "results").read_text() == "a day of work"
        assert (root / ".gitignore").read_text() == rules
        restore(checkpoints, done.before)
        assert (root / "out" / "results").read_text() == "a day of work"
        shutil.rmtree(root / "out")


def test_an_ignored_file_that_a_restore_overwrites_comes_back_by_undo(root, make, everything):
    (root / "data").write_text("not ignored yet")
    checkpoints = make()
    tree = checkpoints.make().tree
    (root / ".gitignore").write_text("data\n")
    (root / "data").write_text("ignored by now")
    now = everything(root)

    done = restore(make("s2"), tree)
    assert (root / "data").read_text() == "not ignored yet"
    restore(checkpoints, done.before)

    assert everything(root) == now


def test_ignored_files_that_were_changed_or_deleted_are_reported(root, make):
    (root / ".gitignore").write_text("*.log\nout/\n__pycache__/\n")
    for name in ("a.log", "b.log", "out/kept", "out/lost", "out/other", "__pycache__/x"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("1")
    (root / ".env").write_text("KEY=1")
    checkpoints = make()
    noted = note_ignored(checkpoints, checkpoints.make().left_out)
    (root / "a.log").write_text("changed by a command")
    (root / "out" / "other").write_text("too")
    (root / "__pycache__" / "x").write_text("a cache")
    (root / "out" / "lost").unlink()
    (root / ".env").unlink()

    lost = compare_ignored(checkpoints, noted)

    assert sorted(lost.changed) == ["a.log", "out/other"]
    assert sorted(lost.deleted) == [".env", "out/lost"]


def test_nested_repositories_are_never_written_to(root, make, git, everything):
    (root / "lib").mkdir()
    (root / "lib" / "x").write_text("mine")
    checkpoints = make()
    tree = checkpoints.make().tree
    git(root / "lib", "init", "-q")
    (root / "lib" / "x").write_text("the repository's own")
    then = everything(root / "lib")

    done = restore(checkpoints, tree)

    assert done.kept == {"lib/x": "in a repository of its own"}
    assert everything(root / "lib") == then


def test_submodules_are_left_alone(root, make, git, tmp_path):
    git(tmp_path, "clone", "-q", str(root), "other")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "sub")
    git(root, "commit", "-qm", "submodule")
    checkpoints = make()
    made = checkpoints.make()
    (root / "sub" / "a.txt").write_text("changed in the submodule")
    (root / "a.txt").write_text("changed")

    restore(checkpoints, made.tree)

    assert made.left_out == ("sub/",)
    assert (root / "sub" / "a.txt").read_text() == "changed in the submodule"
    assert (root / "a.txt").read_text() == "one\n"


def test_files_with_secrets_are_stored_only_if_the_repository_has_them_or_a_setting_asks(root, make, git):
    secret = b"TOKEN=0123456789abcdef"
    (root / "server.pem").write_bytes(b"in the repository")
    (root / ".env.example").write_bytes(b"TOKEN=")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "pem")
    (root / ".env").write_bytes(secret)
    (root / "server.pem").write_bytes(b"changed")

    made, included = make().make(), make("s2", include=[".env"]).make()

    def stored(tree):
        return make().git.paths("ls-tree", "-r", "-z", "--name-only", tree.partition(":")[0])

    assert made.left_out == (".env",)
    assert stored(made.tree) == [".env.example", "a.txt", "server.pem"]
    assert ".env" in stored(included.tree)
    (root / ".env").write_bytes(b"TOKEN=new")
    restore(make(), made.tree)
    assert (root / ".env").read_bytes() == b"TOKEN=new"


def test_a_file_that_grows_too_large_is_left_alone(root, make, monkeypatch):
    checkpoints = make()
    tree = checkpoints.make().tree
    monkeypatch.setattr("pi_rewind.scan.LARGEST_FILE", 10)
    (root / "a.txt").write_text("much larger now")

    done = restore(checkpoints, tree)

    assert done.kept == {"a.txt": "not in any checkpoint"}
    assert (root / "a.txt").read_text() == "much larger now"


def test_odd_names_come_back_and_are_printed_on_one_line(root, make, everything):
    names = [
        "-n",
        "new\nline",
        "tab\t",
        "ünï",
        os.fsdecode(b"\xff"),
        "\x1b[31mred",
        "a b",
        "back\\slash",
        "git~1",
        ":(top)",
    ]
    checkpoints = make()
    tree = checkpoints.make().tree
    for name in names:
        (root / name).write_text(name, errors="surrogateescape")
    then = everything(root)

    done = restore(checkpoints, tree)
    restore(checkpoints, done.before)

    assert everything(root) == then
    printed = described(done.changes)
    assert len(printed.splitlines()) == len(names)
    assert printed.isprintable() or set(printed) - {"\n"} == {each for each in printed if each.isprintable()}
    assert readable("new\nline") == "new\\nline"
    assert readable(os.fsdecode(b"\xff")) == "\\xff"


STEPS = ("replace", "unlink", "rmdir", "mkdir", "chmod")


def dying(work, root, left):
    """Return a method of paths that kills the process once ``left[0]`` calls below the root have been made."""

    def call(self, *args, **options):
        if root in self.parents:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return work(self, *args, **options)

    return call


def restore_and_die(checkpoints, tree, step):
    """Restore in a process that is killed before its n-th change of a file; return whether it was killed."""
    pid = os.fork()
    if not pid:
        left = [step]
        for name in STEPS:
            setattr(Path, name, dying(getattr(Path, name), checkpoints.root, left))
        try:
            restore(checkpoints, tree)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


@pytest.mark.slow
def test_a_restore_that_is_killed_anywhere_is_finished_or_reversed(root, make, everything):
    pairs = [*enumerate(permutations(("nothing", "file", "link to a folder", "folder", "empty folder"), 2))]
    for number, (kind, _) in pairs:
        KINDS[kind](root / f"p{number}")
    checkpoints = make()
    tree, then = checkpoints.make().tree, everything(root)
    for number, (_, kind) in pairs:
        wipe(root / f"p{number}")
        KINDS[kind](root / f"p{number}")
    now = everything(root)
    before = checkpoints.make().tree
    killed = 0
    for step in range(0, 200, 3):
        if not restore_and_die(make(), tree, step):
            break
        killed += 1
        if step % 2:
            assert finish(make("s2")) is not None
            assert everything(root) == then
            restore(checkpoints, before)
        else:
            assert reverse(make()) is not None
        assert everything(root) == now
    assert killed > 10


def test_a_killed_restore_gets_its_entry_when_its_session_goes_on(root, make):
    checkpoints = make()
    tree = checkpoints.make().tree
    (root / "b.txt").write_text("b")
    (root / "c.txt").write_text("c")
    assert restore_and_die(checkpoints, tree, 1)
    assert sorted(each.name for each in root.glob("*.txt")) == ["a.txt", "c.txt"]

    other = recover(make("s2"), None)
    own = recover(make(), None)

    assert (
        other.notice
        == "A rewind was interrupted. It has now been completed: 2 files restored. pi rewind s1 --undo undoes it."
    )
    assert other.entry is None
    assert own.notice is None
    assert own.entry is not None
    assert [each.name for each in root.glob("*.txt")] == ["a.txt"]
    restore(make(), own.entry["undo"])
    assert sorted(each.name for each in root.glob("*.txt")) == ["a.txt", "b.txt", "c.txt"]
    Journal(checkpoints.git.store).recorded("s1")
    assert recover(make(), None).entry is None


def test_files_that_were_changed_after_the_kill_stay(root, make):
    checkpoints = make()
    tree = checkpoints.make().tree
    (root / "a.txt").write_text("two\n")
    (root / "b.txt").write_text("b")
    assert restore_and_die(checkpoints, tree, 0)
    (root / "a.txt").write_text("the user's work since")
    (root / "b.txt").write_text("this too")

    done = finish(make())

    assert done is not None
    assert done.kept == {"a.txt": "changed since", "b.txt": "changed since"}
    assert (root / "a.txt").read_text() == "the user's work since"


def test_a_restore_that_fails_is_reversed(root, make, everything, monkeypatch):
    checkpoints = make()
    tree = checkpoints.make().tree
    (root / "a.txt").write_text("two\n")
    (root / "b.txt").write_text("b")
    now = everything(root)
    work, calls = _restore._write, []

    def full(*given):
        calls.append(given)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        return work(*given)

    monkeypatch.setattr(_restore, "_write", full)

    with pytest.raises(_restore.NotRestored, match=r"Nothing was restored: .*No space left on device"):
        restore(checkpoints, tree)

    assert everything(root) == now
    assert finish(make()) is None


def test_the_lock_of_a_killed_git_does_not_stop_checkpoints(root, make, monkeypatch):
    make().make()
    monkeypatch.setattr("pi_rewind.checkpoints._LOCK_WAIT", 0.05)
    index = make().git.index
    index.with_name(f"{index.name}.lock").touch()
    (root / "a.txt").write_text("two\n")

    checkpoints = make()
    tree = checkpoints.make().tree

    assert plan(checkpoints, tree, tree).changes == ()


def test_undo_removes_what_the_rewind_wrote_even_if_it_is_ignored_by_then(root, make, everything):
    (root / "b.txt").write_text("b")
    checkpoints = make()
    tree = checkpoints.make().tree
    (root / "b.txt").unlink()
    (root / ".gitignore").write_text("b.txt\n")
    now = everything(root)

    done = restore(checkpoints, tree)
    restore(checkpoints, done.before, undone=done.tree)

    assert everything(root) == now


def test_a_reversed_rewind_leaves_no_temporary_file(root, make, everything):
    (root / "b.txt").write_text("b")
    checkpoints = make()
    tree = checkpoints.make().tree
    (root / "b.txt").unlink()
    now = everything(root)
    assert restore_and_die(checkpoints, tree, 1)
    assert any(each.name.startswith(".pi-rewind-") for each in root.iterdir())

    reverse(make())

    assert everything(root) == now


def test_undo_leaves_folders_that_were_ignored_before_the_rewind(root, make, everything):
    (root / "shared").mkdir()
    checkpoints = make()
    tree = checkpoints.make().tree
    (root / "own").mkdir()
    (root / ".gitignore").write_text("*\n")
    now = everything(root)

    done = restore(checkpoints, tree)
    restore(make("s2"), done.before, undone=done.tree)

    assert everything(root) == now


@pytest.mark.parametrize("again", ["the same object", "the same session", "another session"])
def test_a_file_that_is_ignored_but_in_the_repository_comes_back_and_goes_again(root, make, git, everything, again):
    (root / "b.txt").write_text("b")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "b")
    (root / ".gitignore").write_text("*\n")
    checkpoints = make()
    tree, then = checkpoints.make().tree, everything(root)
    (root / "b.txt").unlink()
    now = everything(root)

    done = restore(checkpoints, tree)
    restored = everything(root)
    undoing = checkpoints if again == "the same object" else make("s1" if again == "the same session" else "s2")
    restore(undoing, done.before, undone=done.tree)

    assert restored == then
    assert everything(root) == now
