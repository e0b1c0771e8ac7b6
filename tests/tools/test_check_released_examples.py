"""``check_released_examples`` takes the examples from the history."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_released_examples  # noqa: E402 - a script's folder, not a package
from check_released_examples import RELEASED, unpack  # noqa: E402


@pytest.fixture
def history(tmp_path, monkeypatch):
    """Return a repository whose second commit changed an example, and the examples' name in the script."""
    folder = tmp_path / "repository"
    (folder / "examples").mkdir(parents=True)

    def git(*arguments):
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
        done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet")
    for content in ("released", "changed"):
        for name in ("conftest.py", "pyproject.toml", "examples/hello.py"):
            (folder / name).write_text(content)
        git("add", ".")
        git("commit", "--quiet", f"--message={content}")
    monkeypatch.setattr(check_released_examples, "RELEASED", git("rev-parse", "HEAD~1"))
    return folder


def test_the_examples_are_those_of_the_commit_that_is_named(history, tmp_path):
    assert unpack(history, tmp_path)

    assert (tmp_path / "examples" / "hello.py").read_text() == "released"


def test_a_repository_without_that_commit_is_reported(history, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check_released_examples, "RELEASED", RELEASED)
    monkeypatch.setattr(check_released_examples, "ROOT", history)

    assert check_released_examples.main() == 0
    assert f"there is no commit {RELEASED}" in capsys.readouterr().out
