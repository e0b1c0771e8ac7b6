"""``pi install example:NAME`` copies an example of the documentation, and installs the copy."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from pi_hookspecs import UnknownName
from pi_packages.examples import copied, example_rows

MEMBER = Path(__file__).parents[1]
EXAMPLES = MEMBER.parents[2] / "examples"
if not EXAMPLES.is_dir():
    pytest.skip("the examples are only in the repository", allow_module_level=True)


@pytest.mark.slow
def test_an_example_is_copied_installed_and_removed(bench):
    copy = bench.agent_dir / "examples" / "no-force-push"

    installed = bench.run("install", "-y", "example:no-force-push")
    _, listed = bench.run("list")
    removed = bench.run("remove", "-y", "example:no-force-push")
    _, listed_later = bench.run("list")

    assert (installed[0], removed[0]) == (0, 0)
    assert (copy / "pi_plugin.json").read_text() == (EXAMPLES / "no-force-push" / "pi_plugin.json").read_text()
    assert str(copy) in listed
    assert str(copy) not in listed_later


def test_a_copy_that_was_changed_is_kept(tmp_path):
    lines = []
    first = Path(copied("example:hello", tmp_path, lines.append))
    (first / "README.md").write_text("mine")

    second = copied("example:hello", tmp_path, lines.append)

    assert (second, (first / "README.md").read_text()) == (str(first), "mine")
    assert len(lines) == 1
    assert str(first) in lines[0]


def test_a_dry_run_copies_nothing(tmp_path):
    path = copied("example:hello", tmp_path, print, dry_run=True)

    assert Path(path, "pyproject.toml").is_file()
    assert list(tmp_path.iterdir()) == []


def test_other_sources_are_left_as_they_are(tmp_path):
    assert copied("./example:hello", tmp_path, print) == "./example:hello"


@pytest.mark.parametrize("name", ["helo", "", "../hello", "hello/src"])
def test_what_is_no_example_is_refused(name, tmp_path):
    with pytest.raises(UnknownName, match="Unknown example"):
        copied(f"example:{name}", tmp_path, print)


def test_the_search_finds_examples_by_what_they_do(bench):
    code, found = bench.run("search", "directory", "trees")

    assert code == 0
    assert "example:keep-trees" in found
    assert {f"example:{folder.name}" for folder in EXAMPLES.glob("*") if (folder / "pyproject.toml").is_file()} <= {
        row["source"] for row in example_rows()
    }


@pytest.mark.slow
def test_the_wheel_and_the_source_distribution_have_the_examples(tmp_path):
    subprocess.run(["uv", "build", "-q", "--out-dir", tmp_path, MEMBER], check=True)  # the wheel from the sdist
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    assert "pi_packages/examples/keep-trees/src/pi_keep_trees/__init__.py" in names
    assert "pi_packages/examples/no-force-push/pi_plugin.json" in names
    assert [name for name in names if "__pycache__" in name] == []
