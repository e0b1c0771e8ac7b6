"""Random histories of a worktree: whatever an agent does in it, nothing is lost, and apply does what it says.

The oracle is the tree of files, read from the disk. What git thinks of a file plays no part in it.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_agents.kept import Kept, find, kept_worktrees
from pi_agents.merging import apply, merge
from pi_agents.settings import TrashLimits
from pi_agents.trash import drop, undo_drop
from pi_agents.worktree import begin, keep_or_remove
from pi_git_kit import CACHES
from pi_hookspecs import UserError

ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": os.environ["PATH"],
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@localhost",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@localhost",
}
NAMES = st.sampled_from([
    "a", "b", "d", "d/a", "d/b", "d/e/c", "x.log", "d/y.log", "n", "n/a", "n/e/b", "sub", "sub/s", "sub/new",
    "sub/z.log", "sp ace", "ü\n", "-n", "t.txt", "o", "o/a", "node_modules/m", "target/t", "git~1/f",
])  # fmt: skip
FOLDERS = st.sampled_from(["n", "d", "d/e", "o", "sub", "new", "new/deep", "target"])
CONTENTS = st.sampled_from([b"", b"one\n", b"two\n", b"crlf\r\nlf\n", b"\0\xff", b"1\n2\n3\n"]) | st.binary(max_size=6)
RULES = st.sampled_from([b"*.log\n", b"", b"d/\n", b"*.log\nn/\nnode_modules/\n", b"/a\n", b"*\n!d/\n"])
FILES = st.one_of(
    st.tuples(st.just("write"), NAMES, CONTENTS),
    st.tuples(st.just("write"), NAMES, CONTENTS),
    st.tuples(st.just("replace"), NAMES, CONTENTS),
    st.tuples(st.just("delete"), NAMES, st.just(b"")),
    st.tuples(st.just("link"), NAMES, st.sampled_from([b"a", b"d", b"nowhere", b"/etc/hostname", b"."])),
    st.tuples(st.just("mode"), NAMES, st.sampled_from([0o600, 0o644, 0o755, 0o700, 0o711])),
    st.tuples(st.just("rename"), NAMES, st.sampled_from(["a", "d", "d/moved", "deep/er/moved"])),
    st.tuples(st.just("folder"), FOLDERS, st.just(b"")),
    st.tuples(st.just("rules"), st.sampled_from([".gitignore", "d/.gitignore"]), RULES),
    st.tuples(st.just("rules"), st.just(".gitattributes"), st.sampled_from([b"* text=auto\n", b"*.txt text eol=lf\n"])),
)
GIT = st.one_of(
    st.tuples(st.just("init"), FOLDERS, st.booleans()),
    st.tuples(st.just("run"), st.just(""), st.sampled_from([
        "add --all", "add --force x.log", "rm -q --cached a", "rm -q -r --cached d", "reset -q --hard", "stash -q",
        "commit -qm more --allow-empty", "commit -qam all", "checkout -q -b other", "checkout -q --detach",
        "checkout -q other", "checkout -q @{-1}", "branch -q -D other", "sparse-checkout set d",
        "sparse-checkout disable", "worktree add -q inner -b inner", "worktree prune", "clean -fdxq",
    ])),
    st.tuples(st.just("run"), NAMES, st.sampled_from([
        "update-index --skip-worktree", "update-index --assume-unchanged", "rm -q --cached", "add --force",
    ])),
    st.tuples(st.just("exclude"), st.just(""), RULES),
)  # fmt: skip
HISTORY = st.lists(FILES | GIT, max_size=9)
EDITS = st.lists(FILES, max_size=4)


def output(folder, *arguments, check=True):
    command = ["git", "-c", "gc.auto=0", "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, cwd=folder, env=ENV, check=check, capture_output=True).stdout


def git(folder, *arguments, check=True):
    return os.fsdecode(output(folder, *arguments, check=check)).strip("\n")


def act(top, actions):
    """Do what an agent or a user might do; what is not possible is not done."""
    for action, name, data in actions:
        with suppress(OSError):
            change_file(top, action, top / name, data)
            call_git(top, action, name, data)


def change_file(top, action, path, data):
    if action in ("replace", "delete"):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    if action in ("write", "replace", "rules", "link"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.fsdecode(data)) if action == "link" else path.write_bytes(data)
    elif action == "mode" and not path.is_symlink():
        path.chmod(data | 0o100 if path.is_dir() else data)
    elif action == "rename":
        (top / data).parent.mkdir(parents=True, exist_ok=True)
        path.rename(top / data)
    elif action == "folder":
        path.mkdir(parents=True)


def call_git(top, action, name, data):
    if action == "init":
        (top / name).mkdir(parents=True, exist_ok=True)
        git(top / name, "init", "-q", check=False)
        if data:
            git(top / name, "add", "--all", check=False)
            git(top / name, "commit", "-qm", "x", "--allow-empty", check=False)
    elif action == "exclude":
        (top / git(top, "rev-parse", "--git-path", "info/exclude", check=False)).write_bytes(data)
    elif action == "run":
        git(top, *data.split(" "), *((name,) if name else ()), check=False)


def everything(top):
    """Return what is in a folder, but for its own link to a repository and for caches."""
    found = {}
    for here, folders, names in os.walk(top):
        caches = [each for each in folders if each in CACHES and not (Path(here, each) / ".git").exists()]
        folders[:] = [each for each in folders if each not in caches and Path(here, each) != top / ".git"]
        paths = (Path(here, name) for name in (*names, *folders))
        for path in (each for each in paths if each != top / ".git"):
            mode = path.lstat().st_mode
            about = ("link", str(path.readlink())) if stat.S_ISLNK(mode) else (oct(stat.S_IMODE(mode)),)
            content = path.read_bytes() if stat.S_ISREG(mode) else stat.S_ISDIR(mode)
            found[str(path.relative_to(top))] = (*about, content)
    return found


def is_of_commit(top, commit, path, about):
    """Whether a file or folder is that of a commit, which a sparse checkout leaves out, or had left out."""
    if about[-1] is True or not git(top, "ls-tree", commit, "--", path):
        return about[-1] is True and git(top, "ls-tree", commit, "--", f"{path}/") != ""
    content = os.fsencode(about[1]) if about[0] == "link" else about[-1]
    return with_lf(content) == with_lf(output(top, "show", f"{commit}:{path}"))


def without_objects(found):
    """Leave out the objects of the user's nested repositories: git stores what it compares there."""
    return {path: about for path, about in found.items() if "/.git/objects/" not in path}


def start(folder, actions, *, submodule, sparse, nested, automatic):
    """Make the user's repository."""
    top = folder / "work"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    git(top, "config", "core.autocrlf", "true" if automatic else "false")
    (top / ".gitignore").write_text("*.log\n")
    for name in ("a", "d/a", "d/b", "t.txt", "o/a"):
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text("1\n2\n3\n")
    git(top, "add", "--all")
    git(top, "commit", "-qm", "x")
    if submodule:
        origin = folder / "origin"
        origin.mkdir()
        git(origin, "init", "-q", "-b", "main")
        (origin / "s").write_text("sub\n")
        (origin / ".gitignore").write_text("*.log\n")
        git(origin, "add", "--all")
        git(origin, "commit", "-qm", "x")
        git(top, "submodule", "add", "-q", str(origin), "sub")
        git(top, "commit", "-qm", "sub")
    if nested is not None:
        act(top, [("write", "n/e/b", b"nested\n"), ("init", "n", nested)])
    act(top, [each for each in actions if not (each[1] == "sub" and submodule)])
    if sparse:
        git(top, "sparse-checkout", "set", "d", check=False)
    return top


def state_of_git(top):
    """Return what the user's repository knows of the user's own work."""
    index = Path(git(top, "rev-parse", "--absolute-git-dir"), "index")
    return (index.read_bytes() if index.exists() else b"", git(top, "symbolic-ref", "-q", "HEAD", check=False))


def is_below(path, names):
    return any(path == name or path.startswith(f"{name}/") for name in names)


def holds(path, names):
    return is_below(path, names) or any(name.startswith(f"{path}/") for name in names)


def left_names(lines):
    return [line[1:].rsplit(" | ", 1)[0].rstrip("/") for line in lines]


def check_applied(begun, there, before, after, files, left, *, edited, sparse, left_out, converted):
    """Compare the user's files with what was said, and with what stands in the worktree."""
    for path in without_objects(before).keys() | without_objects(after).keys():
        if before.get(path) != after.get(path):
            assert holds(path, files), f"{path!r} was changed, which was not said: {files}"
    if edited:
        return
    for path in there.keys() | begun.keys():
        was, now = begun.get(path), there.get(path)
        is_expected = is_below(path, left) or path in left_out or path.endswith("/.git/index")
        if was != now and not is_expected:
            check_path(path, begun, there, after, sparse=sparse, converted=converted)


def check_path(path, begun, there, after, *, sparse, converted):
    """Compare one path that the agent changed, and the user did not."""
    was, now, result = begun.get(path), there.get(path), after.get(path)
    if now is None:  # a folder of the user's can have more than git sees, and a sparse checkout deletes nothing
        assert was[-1] is True or sparse or result is None or result[-1] is True, f"{path!r} was not deleted"
        return
    if now[-1] is True and was is None and any(each.startswith(f"{path}/") for each in there.keys() | begun.keys()):
        return  # what is in it decides
    if now[-1] is True and any(each.startswith(f"{path}/") for each in begun):
        assert was is None or result is None or was[0] == now[0] or result[0] == now[0], path
        return
    assert result is not None, f"{path!r} was not brought"
    same = result[-1] == now[-1] or (converted and with_lf(result[-1]) == with_lf(now[-1]))
    assert same, f"{path!r} differs"
    if was is None or was[0] != now[0]:
        assert result[0] == now[0], f"{path!r} has other permissions"


def with_lf(content):
    """Return bytes with the line endings that git stores."""
    return content.replace(b"\r\n", b"\n") if isinstance(content, bytes) else content


@pytest.mark.slow
@given(
    first=EDITS, submodule=st.booleans(), sparse=st.booleans(), nested=st.none() | st.booleans(),
    automatic=st.booleans(), second=HISTORY, gone=st.sampled_from(["", "", "n", "sub"]), third=EDITS,
    prune=st.booleans(),
)  # fmt: skip
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much])
def test_whatever_an_agent_does_nothing_is_lost_and_apply_does_what_it_says(
    first, submodule, sparse, nested, automatic, second, gone, third, prune
):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        top = start(root, first, submodule=submodule, sparse=sparse, nested=nested, automatic=automatic)
        known = state_of_git(top)
        ctx = SimpleNamespace(cwd=top, settings=SimpleNamespace(agent_dir=root / "agent"))
        user, inside, kept, place = begin(None, SimpleNamespace(id="abc"), ctx)
        begun = everything(place.path)
        act(place.path, second)
        there = everything(place.path) if place.path.exists() else {}
        if gone and (top / gone / ".git").exists():  # the user removes a repository, whose work the agent has
            shutil.rmtree(top / gone)

        said = keep_or_remove(user, inside, kept, "agent: work", CACHES)

        if there == begun and not gone and not any(action in ("init", "run", "exclude") for action, *_ in second):
            assert not said
        if not said:
            differing = {path for path in there.keys() | begun.keys() if there.get(path) != begun.get(path)}
            appeared = {path: there[path] for path in differing & there.keys() if sparse}
            narrowed = any(str(data).startswith("sparse-checkout set") for *_, data in second)
            left_out = {path: begun[path] for path in differing - there.keys() if narrowed}
            assert differing == appeared.keys() | left_out.keys()
            assert all(is_of_commit(top, kept.base, path, about) for path, about in (appeared | left_out).items())
            assert not place.path.exists()
            assert kept_worktrees(user, root / "agent") == []
            return
        assert everything(place.path) == there
        act(top, third)
        before = everything(top)
        try:
            merged = merge(user, kept, CACHES)
            left = left_names(apply(merged))
        except UserError:
            assert without_objects(everything(top)) == without_objects(before)
        else:
            converted = automatic or any(".gitattributes" in each for each in (there, begun, before))
            is_sparse = any("sparse-checkout" in str(each) for *_, each in second)
            left_out = {p for p in there.keys() - begun.keys() if sparse and is_of_commit(top, kept.base, p, there[p])}
            facts = {"edited": bool(third), "sparse": is_sparse, "left_out": left_out, "converted": converted}
            check_applied(begun, there, before, everything(top), merged.files, left, **facts)
        check_trash(user, root / "agent", kept, there, prune=prune)
        assert state_of_git(top) == known


def check_trash(user, agent_dir, kept: Kept, there, *, prune):
    """Drop a worktree and bring it back."""
    tip = git(user.top, "rev-parse", "-q", "--verify", kept.branch, check=False)
    drop(user, kept, TrashLimits())
    assert not kept.path.exists()
    assert git(user.top, "branch", "--list", kept.branch) == ""
    if prune:
        git(user.top, "worktree", "prune")
        git(user.top, "reflog", "expire", "--expire=now", "--all")
        git(user.top, "prune", "--expire=now")
    assert undo_drop(user, agent_dir) == find(user, agent_dir, kept.id) == kept
    assert everything(kept.path) == there
    if tip:
        git(kept.path, "cat-file", "-e", f"{tip}^{{tree}}")
        assert git(user.top, "rev-parse", kept.branch) == tip
