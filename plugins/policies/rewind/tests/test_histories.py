"""Random histories of a work tree: a restore brings back every byte that was there, also if it is killed on its way.

What a checkpoint has to contain is asked of the user's own git, not of the store.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_rewind.checkpoints import Checkpoints
from pi_rewind.journal import Journal
from pi_rewind.restore import NotRestored, finish, plan, restore, reverse

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "d",
        "d/a",
        "d/b",
        "d/e",
        "d/e/c",
        "d/e/f/g",
        "x.log",
        "d/y.log",
        "n",
        "n/a",
        "sp ace",
        "ü\n",
        "-n",
        "t.txt",
        "p.bin",
    ]
)
CONTENTS = st.sampled_from([b"", b"one\n", b"two\n", b"crlf\r\n", b"\0\xff", b"$Id$\n", b"$Id: 1$\n"]) | st.binary(
    max_size=8
)
RULES = st.sampled_from([b"*.log\n", b"", b"d/\n", b"*.log\nn/\n", b"/a\n", b"*\n!d/\n"])
CONVERSIONS = st.sampled_from(
    [b"", b"* text=auto\n", b"*.txt text eol=lf\n* ident\n", b"*.bin filter=up\n", b"* filter=up\n"]
)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, CONTENTS),
        st.tuples(st.just("write"), NAMES, CONTENTS),
        st.tuples(st.just("replace"), NAMES, CONTENTS),
        st.tuples(st.just("delete"), NAMES, st.just(b"")),
        st.tuples(st.just("link"), NAMES, st.sampled_from([b"a", b"d", b"nowhere", b"/etc/hostname", b"."])),
        st.tuples(st.just("mode"), NAMES, st.sampled_from([0o600, 0o644, 0o755, 0o700, 0o664, 0o711])),
        st.tuples(st.just("rename"), NAMES, st.sampled_from(["a", "d", "d/moved", "deep/er/moved"])),
        st.tuples(st.just("folder"), NAMES, st.just(b"")),
        st.tuples(st.just("rules"), st.sampled_from([".gitignore", "d/.gitignore"]), RULES),
        st.tuples(st.just("rules"), st.just(".gitattributes"), CONVERSIONS),
        st.tuples(st.just("repository"), st.sampled_from(["n", "d/e", "deep"]), st.just(b"")),
    ),
    max_size=10,
)


def act(root, git, actions):
    """Do what a user or a command might do; what is not possible is not done."""
    for action, name, data in actions:
        path = root / name
        try:
            if action in ("replace", "delete"):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
            if action in ("write", "replace", "rules"):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            elif action == "link":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(os.fsdecode(data))
            elif action == "mode" and not path.is_symlink():
                path.chmod(data)
            elif action == "rename":
                (root / data).parent.mkdir(parents=True, exist_ok=True)
                path.rename(root / data)
            elif action == "folder":
                path.mkdir(parents=True)
            elif action == "repository" and path.is_dir() and not path.is_symlink():
                git(path, "init", "-q")
        except OSError:
            pass


def repositories(root):
    """Return the folders that are repositories of their own."""
    return [here for here, folders, names in os.walk(root) if ".git" in (*folders, *names) and Path(here) != root]


def is_in_repository(path, root, nested):
    return any(Path(each) in ((root / path), *(root / path).parents) for each in nested)


def to_be_stored(root, git):
    """Return the files and links that a checkpoint has to contain."""
    names = git(root, "ls-files", "-z", "-c", "-o", "--exclude-standard").split("\0")
    nested = repositories(root)
    kinds = ((name, root / name) for name in names if name and not name.endswith("/"))
    return {
        name
        for name, path in kinds
        if os.path.lexists(path)
        and (path.is_symlink() or path.is_file())
        and path.parent.resolve() == path.parent
        and not is_in_repository(name, root, nested)
    }


def empty_folders(root, git, found):
    """Return the folders without anything in them that a checkpoint has to contain."""
    listed = git(root, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory").split("\0")
    ignored = {name.rstrip("/") for name in listed if name.endswith("/")}
    nested = repositories(root)
    return {
        name
        for name, about in found.items()
        if about[-1] is True
        and not any((root / name).iterdir())
        and not is_in_repository(name, root, nested)
        and not any(each in ignored for each in (name, *map(str, Path(name).parents)))
    }


def state_of_git(root, git):
    """Return what the user's repository knows: index, references, stash."""
    index = root / ".git" / "index"
    return (index.read_bytes() if index.exists() else b"", git(root, "for-each-ref"), git(root, "stash", "list"))


def restore_until(checkpoints, tree, step):
    """Restore in a process that is killed before its n-th change; return whether it was killed."""
    pid = os.fork()
    if not pid:
        left = [step]

        def dying(work):
            def call(self, *args, **options):
                if checkpoints.root in self.parents:
                    left[0] -= 1
                    if left[0] < 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                return work(self, *args, **options)

            return call

        for name in ("replace", "unlink", "rmdir", "mkdir", "chmod"):
            setattr(Path, name, dying(getattr(Path, name)))
        try:
            restore(checkpoints, tree)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def restored_by(checkpoints, tree, kill, *, back):
    """Restore, perhaps with a kill, after which another session finishes it; return before and the paths kept.

    Raises:
        NotRestored: It was refused, or was reversed after the kill.
    """
    if kill is None:
        done = restore(checkpoints(), tree)
        return done.before, done.kept
    if restore_until(checkpoints(), tree, kill):
        if back:
            assert reverse(checkpoints()) is not None
            raise NotRestored("reversed")
        done = finish(checkpoints("s2"))
        assert done is not None
        return done.before, done.kept
    record = Journal(checkpoints().git.store).unrecorded("s1")
    if record is None:
        raise NotRestored("it was refused in the process")
    return record.before, plan(checkpoints(), record.before, tree).kept


def names_in(checkpoints, tree):
    return set(checkpoints().git.paths("ls-tree", "-r", "-z", "--name-only", tree.partition(":")[0]))


def is_file(about):
    return about is not None and (about[0] == "link" or isinstance(about[-1], bytes))


def start(root, git, actions, *, commit, automatic):
    """Make a repository with a history."""
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "filter.up.clean", "tr a-z A-Z")
    git(root, "config", "core.autocrlf", "true" if automatic else "false")
    (root / ".gitignore").write_text("*.log\n")
    act(root, git, actions)
    if commit:
        names = git(root, "ls-files", "-z", "-o", "--exclude-standard").split("\0")
        git(root, "--literal-pathspecs", "add", "--", *(name for name in names if name and name[-1] != "/"))
        git(root, "commit", "-qm", "x", "--allow-empty")


def check(everything, root, there, after, held, before, empty, kept):
    """Compare a restored work tree with the recorded one, and with the one before.

    Args:
        everything: The fixture.
        root: The work tree.
        there: What the recorded one contained.
        after: What there was before the restore.
        held: Names of files that the checkpoint contains.
        before: Names of files that the checkpoint before the restore contains.
        empty: Empty folders of the recorded work tree.
        kept: Paths that the restore left alone, with the reason.
    """
    nested, now = repositories(root), everything(root)
    for name in held | empty:
        if not is_in_repository(name, root, nested):
            assert now.get(name) == there[name], name
    for name in {each for each in after if is_file(after[each])} - held:
        if name not in before:
            assert now.get(name) == after[name], f"{name} was in no checkpoint"
        elif is_file(now.get(name)):
            assert kept[name] in ("ignored by git", "in a repository of its own"), name
    assert {each for each in now if is_file(now[each])} <= held | after.keys()


@pytest.mark.slow
@given(
    first=ACTIONS,
    commit=st.booleans(),
    second=ACTIONS,
    third=ACTIONS,
    kill=st.none() | st.integers(0, 25),
    back=st.booleans(),
    automatic=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_every_byte_comes_back_whatever_happened(git, everything, first, commit, second, third, kill, back, automatic):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "work").resolve()
        start(root, git, first, commit=commit, automatic=automatic)

        def checkpoints(session="s1"):
            return Checkpoints(Path(folder, "stores"), root, session)

        recording = checkpoints()
        act(root, git, second)
        there, tree, known = everything(root), recording.make().tree, state_of_git(root, git)
        held, empty = names_in(checkpoints, tree), empty_folders(root, git, there)
        assert to_be_stored(root, git) <= held
        act(root, git, third)
        after = everything(root)

        try:
            before, kept = restored_by(checkpoints, tree, kill, back=back)
        except NotRestored:
            assert everything(root) == after
            return
        check(everything, root, there, after, held, names_in(checkpoints, before), empty, kept)
        restore(checkpoints(), before, undone=tree)

        assert everything(root) == after
        assert state_of_git(root, git) == known
