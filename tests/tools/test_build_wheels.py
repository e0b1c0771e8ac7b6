"""``build_wheels`` builds what a release publishes, once for each content, of the work tree or of a commit."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import build_wheels  # noqa: E402 - a script's folder, not a package
from build_wheels import BuildFailed, build_commit, build_tree  # noqa: E402

PROJECT = """
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "1.0"
requires-python = ">=3.11"
"""
WORKSPACE = '[tool.uv.workspace]\nmembers = ["parts/*"]\n[tool.hatch.build.targets.wheel]\nbypass-selection = true\n'


class Clone:
    """A workspace of two distributions, in a repository with one commit."""

    def __init__(self, root):
        self.root = root
        self.write("pyproject.toml", PROJECT.format(name="whole") + WORKSPACE)
        self.write("parts/tide/pyproject.toml", PROJECT.format(name="tide"))
        self.write("parts/tide/src/tide/__init__.py", "high = 1\n")
        self.write(".gitignore", "build/\n*.log\n")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=begin")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def git(self, *arguments):
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path / "clone")


def module(folder):
    with zipfile.ZipFile(folder / "tide-1.0-py3-none-any.whl") as wheel:
        return wheel.read("tide/__init__.py").decode()


def test_every_member_becomes_a_wheel_and_a_source_distribution(clone):
    folder = build_tree(clone.root)

    assert {each.name for each in folder.glob("*.whl")} == {"tide-1.0-py3-none-any.whl", "whole-1.0-py3-none-any.whl"}
    assert {each.name for each in (folder / "sdists").iterdir()} == {"tide-1.0.tar.gz", "whole-1.0.tar.gz"}


def test_the_same_content_is_built_once_and_another_anew(clone, monkeypatch):
    first = build_tree(clone.root)
    clone.write("notes.log", "ignored by git\n")
    with monkeypatch.context() as patch:
        patch.setattr(build_wheels, "_build", None)
        assert build_tree(clone.root) == first

    clone.write("parts/tide/src/tide/__init__.py", "high = 2\n")
    second = build_tree(clone.root)

    assert (module(first), module(second)) == ("high = 1\n", "high = 2\n")


def test_a_commit_is_built_as_it_was(clone):
    clone.write("parts/tide/src/tide/__init__.py", "high = 2\n")

    assert module(build_commit(clone.root, "HEAD")) == "high = 1\n"
    with pytest.raises(BuildFailed, match="rev-parse"):
        build_commit(clone.root, "0000000")


def test_a_build_that_fails_leaves_nothing_that_a_later_one_takes_for_built(clone):
    clone.write("parts/tide/pyproject.toml", PROJECT.format(name="tide").replace("hatchling.build", "flit.build"))

    for _ in range(2):
        with pytest.raises(BuildFailed, match="tide is not built with"):
            build_tree(clone.root)


def test_old_folders_go(clone):
    folders = []
    for height in range(build_wheels.KEPT + 2):
        clone.write("parts/tide/src/tide/__init__.py", f"high = {height}\n")
        folders.append(build_tree(clone.root))

    assert [each.exists() for each in folders] == [False, False] + [True] * build_wheels.KEPT
