"""Protected files: whatever happens to them, they are as before afterwards, and the changed versions are kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pi_sandbox._kept import keep

NAMES = st.sampled_from(["hooks", "hooks/a", "hooks/b", "config", "link"])
ACTIONS = st.lists(st.tuples(st.sampled_from(["write", "remove", "link", "folder", "mode"]), NAMES), max_size=6)


def act(root, action, name):
    path = root / name
    try:
        if action == "write":
            path.write_text(f"evil {name}")
        elif action == "remove":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        elif action == "link":
            path.symlink_to("/etc")
        elif action == "folder":
            path.mkdir()
        else:
            path.chmod(0o700)
    except OSError:
        pass  # as a command may fail


def state_of(root):
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            content = str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else None
            found[str(path.relative_to(root))] = (path.lstat().st_mode, content)
    return found


@given(before=ACTIONS, meanwhile=ACTIONS)
def test_all_is_as_before(tmp_path_factory, before, meanwhile):
    root = tmp_path_factory.mktemp("root")
    for action in before:
        act(root, *action)
    state = state_of(root)
    kept = keep([str(root / name) for name in ("hooks", "config", "link")])

    for action in meanwhile:
        act(root, *action)
    kept.undo(str(tmp_path_factory.mktemp("evidence")))

    harmless = {"hooks": state_of(root).get("hooks")} if "hooks" not in state else {}  # an empty folder runs nothing
    assert {name: value for name, value in state_of(root).items() if name not in harmless} == state


def test_the_changed_version_is_kept_as_evidence(tmp_path):
    file = tmp_path / "config"
    file.write_text("mine")
    kept = keep([str(file)])
    file.write_text("evil")

    (undone,) = kept.undo(str(tmp_path / "evidence"))

    assert (file.read_text(), undone.path, Path(undone.evidence).read_text()) == ("mine", str(file), "evil")


def test_what_git_makes_in_a_new_repository_stays(tmp_path):
    kept = keep([str(tmp_path / "hooks"), str(tmp_path / "config")])
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "pre-commit.sample").write_text("#!/bin/sh")
    (tmp_path / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")

    assert kept.undo(str(tmp_path / "evidence")) == []


def test_a_command_in_a_new_configuration_does_not(tmp_path):
    kept = keep([str(tmp_path / "config")])
    (tmp_path / "config").write_text("[core]\n\tbare = false\n\tpager = evil\n")

    assert [each.path for each in kept.undo(str(tmp_path / "evidence"))] == [str(tmp_path / "config")]
