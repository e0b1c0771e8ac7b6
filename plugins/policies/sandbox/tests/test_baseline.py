"""Protected files: whatever programs do to them, they are as before afterwards, and the changed versions are kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_sandbox.baseline import Baseline
from pi_sandbox.scan import Scanner

NAMES = ("AGENTS.md", ".pi", ".vscode/tasks.json")
PLACES = ["AGENTS.md", ".pi", ".pi/a", ".pi/b", ".vscode", ".vscode/tasks.json", "sub", "sub/AGENTS.md"]
KINDS = ["write", "remove", "link", "folder", "mode"]


def actions(*kinds):
    return st.lists(st.tuples(st.sampled_from([*KINDS, *kinds]), st.sampled_from(PLACES)), max_size=6)


@pytest.fixture(scope="session")
def baseline_of(tmp_path_factory):
    """``baseline_of(root)``: its protected files as they are."""

    def make(root):
        scanner = Scanner(NAMES, cwd=str(root), roots=[str(root)], hidden=[], agent_dir=str(root / "agent"))
        repositories = [str(root / ".git")] if (root / ".git").is_dir() else []
        evidence = str(tmp_path_factory.mktemp("evidence") / "kept")
        made = Baseline(scanner, evidence=evidence, writable=[str(root)])
        made.accept(repositories)
        return made

    return make


def act(root, action, name):
    path = root / name
    try:
        if action == "write" and not path.is_fifo() and not path.is_symlink():
            path.write_text(f"evil {name}")
        elif action == "remove":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        elif action == "link":
            path.symlink_to(root.with_name(f"{root.name}-elsewhere"))  # which does not exist
        elif action == "folder":
            path.mkdir()
        elif action == "pipe":
            os.mkfifo(path)
        elif action == "mode" and not path.is_symlink():
            path.chmod(0o700)
    except OSError:
        pass  # as a command may fail


def protected_in(root):
    """Return the protected files with their content, except those whose folder was deleted."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            relative = str(path.relative_to(root))
            if relative in ("sub", ".vscode") and not path.is_symlink():
                continue
            content = str(path.readlink()) if path.is_symlink() else path.read_text() if path.is_file() else None
            found[relative] = (path.lstat().st_mode, content)
    return found


@given(before=actions(), meanwhile=actions("pipe"))
def test_all_is_as_before(tmp_path_factory, baseline_of, before, meanwhile):
    root = tmp_path_factory.mktemp("root")
    for action in before:
        act(root, *action)
    state = protected_in(root)
    baseline = baseline_of(root)

    for action in meanwhile:
        act(root, *action)
    baseline.check()

    now = protected_in(root)
    deleted = {name for name in state if "/" in name and not (root / name).parent.is_dir()}
    unprotected = {"sub", ".vscode"}
    assert {name: value for name, value in now.items() if name not in unprotected} == {
        name: value for name, value in state.items() if name not in deleted | unprotected
    }
    assert baseline.check() == []


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path):
    """A repository with a commit."""
    git(tmp_path, "init", "-q")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
    return tmp_path


def test_the_changed_version_is_kept_as_evidence(tmp_path, baseline_of):
    file = tmp_path / "AGENTS.md"
    file.write_text("mine")
    baseline = baseline_of(tmp_path)
    file.write_text("evil")

    (undone,) = baseline.check()

    assert (file.read_text(), undone.path, Path(undone.evidence).read_text()) == ("mine", str(file), "evil")


def test_what_one_program_leaves_is_undone_when_another_ends(tmp_path, baseline_of):
    baseline = baseline_of(tmp_path)
    assert baseline.check() == []
    (tmp_path / ".pi").mkdir()
    (tmp_path / ".pi" / "settings.json").write_text("{}")

    assert [each.path for each in baseline.check()] == [str(tmp_path / ".pi")]
    assert not (tmp_path / ".pi").exists()
    assert baseline.check() == []


@pytest.mark.parametrize("place", [".", "sub", "a/b/c"])
def test_files_are_protected_in_subfolders(tmp_path, baseline_of, place):
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    baseline = baseline_of(tmp_path)
    (tmp_path / place / "AGENTS.md").write_text("evil")

    assert [each.path for each in baseline.check()] == [str(tmp_path / place / "AGENTS.md")]


def test_packages_of_a_project_may_bring_such_files(tmp_path, baseline_of):
    baseline = baseline_of(tmp_path)
    (tmp_path / "node_modules" / "one").mkdir(parents=True)
    (tmp_path / "node_modules" / "one" / "AGENTS.md").write_text("how to build one")

    assert baseline.check() == []


def test_a_folder_may_be_moved_and_copied_and_deleted_with_its_files(tmp_path, baseline_of):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "AGENTS.md").write_text(f"rules of {name}")
    baseline = baseline_of(tmp_path)
    (tmp_path / "one").rename(tmp_path / "three")
    shutil.copytree(tmp_path / "three", tmp_path / "four")
    shutil.rmtree(tmp_path / "two")

    assert baseline.check() == []
    assert (tmp_path / "three" / "AGENTS.md").exists()
    assert not (tmp_path / "two").exists()


def test_a_folder_that_became_a_link_leads_no_restored_file_out(tmp_path, baseline_of, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "tasks.json").write_text("mine")
    baseline = baseline_of(tmp_path)
    shutil.rmtree(tmp_path / ".vscode")
    (tmp_path / ".vscode").symlink_to(outside)

    baseline.check()

    assert (tmp_path / ".vscode" / "tasks.json").read_text() == "mine"
    assert list(outside.iterdir()) == []


def test_a_folder_that_became_a_link_and_is_not_protected_leads_no_restored_file_out(
    tmp_path, baseline_of, tmp_path_factory
):
    outside = tmp_path_factory.mktemp("outside")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "AGENTS.md").write_text("mine")
    baseline = baseline_of(tmp_path)
    shutil.rmtree(tmp_path / "sub")
    (tmp_path / "sub").symlink_to(outside)

    baseline.check()

    assert list(outside.iterdir()) == []


def test_a_repository_that_was_moved_away_comes_back(project, baseline_of):
    baseline = baseline_of(project)
    (project / ".git").rename(project / ".git2")
    (project / ".git" / "hooks").mkdir(parents=True)
    (project / ".git" / "hooks" / "pre-commit").write_text("evil")

    assert [each.path for each in baseline.check()] == [str(project / ".git")]
    git(project, "log")
    assert not (project / ".git2").exists()
    assert not (project / ".git" / "hooks" / "pre-commit").exists()


def test_what_git_makes_in_new_repositories_stays(project, baseline_of):
    baseline = baseline_of(project)
    git(project, "init", "-q", "new")
    git(project / "new", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
    git(project, "clone", "-q", "new", "cloned")
    git(project / "cloned", "worktree", "add", "-q", "../tree")
    git(project / "cloned", "config", "user.name", "a")
    git(project, "worktree", "add", "-q", "--detach", "mine")

    assert baseline.check() == []
    git(project / "tree", "log")


def test_later_lines_without_programs_stay(project, baseline_of):
    git(project, "config", "alias.mine", "!run")
    baseline = baseline_of(project)
    git(project, "remote", "add", "origin", "https://example.org/a.git")

    assert baseline.check() == []
    git(project, "config", "alias.yours", "!run")
    assert [each.path for each in baseline.check()] == [str(project / ".git" / "config")]
    assert b"yours" not in (project / ".git" / "config").read_bytes()


PLANTED = {
    "a nested repository": ("sub", "config core.fsmonitor {x}"),
    "its hooks": ("sub", "hook pre-commit"),
    "its hooks elsewhere": ("sub", "config core.hooksPath {x}"),
    "an included file": ("sub", "config include.path {x}"),
    "a remote that is a program": ("sub", "config remote.origin.url ext::{x}"),
    "a value that goes on": ("sub", "append [user]\n\tname = a\\\n\tb\n[core]\n\tfsmonitor = {x}\n"),
    "a header with a key": ("sub", "append [core] fsmonitor = {x}\n"),
    "a configuration of a worktree": ("sub", "write .git/config.worktree [core]\n\tfsmonitor = {x}\n"),
    "a common folder": ("sub", "write .git/commondir ../../evil\n"),
    "the folder of submodules": (".git/modules/sub", "bare config core.fsmonitor {x}"),
    "a bare repository": ("sub/bare", "bare config core.fsmonitor {x}"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_no_program_is_left_in(what, project, baseline_of):
    place, action = PLANTED[what]
    program = project / "x.sh"
    program.write_text(f"#!/bin/sh\necho ran >> '{project.parent}/ran'\n")
    program.chmod(0o755)
    baseline = baseline_of(project)
    bare = action.startswith("bare ")
    git(project, "init", "-q", *(["--bare"] if bare else []), place)
    git_folder = project / place / ("" if bare else ".git")
    verb, _, rest = action.removeprefix("bare ").partition(" ")
    words = [each.replace("{x}", str(program)) for each in rest.split()]
    rest = rest.replace("{x}", str(program))
    if verb == "config":
        git(project / place, "config", *words)
    elif verb == "hook":
        shutil.copy(program, git_folder / "hooks" / rest)
    elif verb == "append":
        with (git_folder / "config").open("a") as file:
            file.write(rest)
    else:
        name, _, content = rest.partition(" ")
        (project / place / name).write_text(content)

    assert baseline.check() != []
    assert baseline.check() == []
    left = [file for file in git_folder.rglob("*") if file.is_file() and str(program) in file.read_text("latin-1")]
    assert left == []
    if not bare:
        git(project / place, "status")


def test_git_status_at_the_top_runs_nothing_of_a_nested_repository(project, baseline_of):
    program = project / "x.sh"
    program.write_text(f"#!/bin/sh\necho ran >> '{project.parent}/ran'\n")
    program.chmod(0o755)
    baseline = baseline_of(project)
    git(project, "init", "-q", "sub")
    git(project / "sub", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    git(project, "add", "sub")
    git(project / "sub", "config", "core.fsmonitor", str(program))
    (project.parent / "ran").unlink(missing_ok=True)

    baseline.check()
    git(project, "status")

    assert not (project.parent / "ran").exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_git_is_not_led_to_a_repository_that_is_not_compared(kind, project, baseline_of, tmp_path_factory):
    hidden = tmp_path_factory.mktemp("temp") / "evil"
    git(hidden.parent, "init", "-q", "--bare", str(hidden))
    scanner = Scanner(NAMES, cwd=str(project), roots=[str(project)], hidden=[], agent_dir="/nowhere")
    baseline = Baseline(scanner, evidence=str(hidden.parent / "e"), writable=[str(project), str(hidden.parent)])
    baseline.accept()
    (project / "sub").mkdir()
    if kind == "file":
        (project / "sub" / ".git").write_text(f"gitdir: {hidden}\n")
    else:
        (project / "sub" / ".git").symlink_to(hidden)

    assert [each.path for each in baseline.check()] == [str(project / "sub" / ".git")]


def test_pis_own_directory_in_the_project_is_compared_in_part(tmp_path, baseline_of):
    for name in ("agent", "agent/sessions", "agent/sandbox-evidence"):
        (tmp_path / name).mkdir()
    baseline = baseline_of(tmp_path)
    (tmp_path / "agent" / "sessions" / "x.jsonl").write_text("{}")
    (tmp_path / "agent" / "sandbox-evidence" / "AGENTS.md").write_text("evil")
    (tmp_path / "agent" / "mcp.json").write_text("{}")

    assert [each.path for each in baseline.check()] == [str(tmp_path / "agent" / "mcp.json")]


def test_what_no_program_can_change_is_the_users(tmp_path, baseline_of):
    (tmp_path / "AGENTS.md").write_text("mine")
    baseline = baseline_of(tmp_path)
    baseline.untouched = [str(tmp_path / "AGENTS.md")]
    (tmp_path / "AGENTS.md").write_text("mine, better")

    assert baseline.check() == []
    baseline.untouched = []
    assert baseline.check() == []


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_repository_among_packages_counts_if_the_status_of_the_project_shows_it(project, baseline_of, version):
    (project / "node_modules").mkdir()
    git(project, "config", "index.version", version)
    baseline = baseline_of(project)
    for name in ("one", "two"):
        git(project, "init", "-q", f"node_modules/{name}")
        git(
            project / "node_modules" / name,
            *("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"),
        )
        git(project / "node_modules" / name, "config", "core.fsmonitor", "/evil")
    git(project, "add", "--force", "node_modules/one")

    assert [each.path for each in baseline.check()] == [str(project / "node_modules" / "one" / ".git" / "config")]


@pytest.mark.parametrize("name", ["/{outside}", "../outside", "link"])
def test_an_index_that_was_written_by_hand_leads_nowhere_else(name, tmp_path, baseline_of):
    project, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    git(tmp_path, "init", "-q", "project")
    baseline = baseline_of(project)
    (outside / "AGENTS.md").write_text("the user's")
    (project / "link").symlink_to(outside)
    path = name.format(outside=str(outside)[1:]).encode()
    entry = b"\0" * 24 + b"\0\0\xe0\0" + b"\0" * 12 + b"x" * 20 + len(path).to_bytes(2, "big") + path + b"\0"
    (project / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\1" + entry)

    assert baseline.check() == []
    assert (outside / "AGENTS.md").read_text() == "the user's"
