"""``tools/release.py`` sets every version and bound, keeps to the contract, and can be repeated."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

ROOT = Path(__file__).parents[2]
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
GIT |= {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture
def tree(tmp_path):
    """A copy of what a release changes and runs, as a repository."""
    copy = tmp_path / "pi"
    for file in [
        *ROOT.glob("pyproject.toml"),
        *ROOT.glob("hookspecs/pyproject.toml"),
        *ROOT.glob("pi_core/pyproject.toml"),
        *ROOT.glob("plugins/*/*/pyproject.toml"),
        *ROOT.glob("examples/review/pyproject.toml"),
        *ROOT.glob("tools/*.py"),
        *ROOT.glob("docs/reference/contract*.json"),
        ROOT / "CHANGELOG.md",
        ROOT / "plugins/frontends/cli/src/pi_cli/__init__.py",
        ROOT / "plugins/kits/provider-kit/src/pi_provider_kit/http_client.py",
    ]:
        target = copy / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    (copy / "hookspecs" / "src" / "pi_hookspecs").mkdir(parents=True)
    (copy / "changelog.d").mkdir()
    (copy / "changelog.d" / "+tides.added.md").write_text("Tides are shown.\n")
    git(copy, "init", "--quiet")
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--message", "Begin")
    return copy


def git(tree, *arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=tree, env={**os.environ, **GIT}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def release(tree, *arguments):
    return subprocess.run(
        [sys.executable, tree / "tools" / "release.py", *arguments],
        env={**os.environ, **GIT},
        capture_output=True,
        text=True,
        check=False,
    )


def project(tree, folder="."):
    return tomllib.loads((tree / folder / "pyproject.toml").read_text())["project"]


def test_versions_bounds_changelog_and_contract_are_set(tree):
    done = release(tree, "1.4.0", "--until", "contract")

    assert done.returncode == 0, done.stderr
    assert {project(file.parent)["version"] for file in tree.rglob("pyproject.toml")} == {"1.4.0"}
    assert "pluggypi-cli>=1.4.0,<2" in project(tree)["dependencies"]
    assert "pluggypi-hookspecs>=1.4,<2" in project(tree, "plugins/policies/retry")["dependencies"]
    assert "attrs>=25.3" in project(tree, "hookspecs")["dependencies"]
    assert '__version__ = "1.4.0"' in (tree / "plugins/frontends/cli/src/pi_cli/__init__.py").read_text()
    assert "## 1.4.0" in (tree / "CHANGELOG.md").read_text()
    assert "Tides are shown." in (tree / "CHANGELOG.md").read_text()
    assert not list((tree / "changelog.d").glob("*.md"))
    assert json.loads((tree / "docs/reference/contract-1.4.json").read_text())["version"] == "1.4.0"
    assert (tree / "hookspecs/src/pi_hookspecs/contracts/contract-1.4.json").is_file()


def test_the_addresses_of_the_project_are_in_the_metadata_of_all_distributions(tree):
    file = tree / "pyproject.toml"
    file.write_text(file.read_text().replace('repository = ""', 'repository = "https://code.example/harbour/pi/"'))
    git(tree, "commit", "--quiet", "--all", "--message", "Move")

    release(tree, "1.4.0", "--until", "versions")
    repeated = release(tree, "1.4.0", "--until", "versions")

    expected = {
        "Repository": "https://code.example/harbour/pi",
        "Issues": "https://code.example/harbour/pi/issues",
        "Changelog": "https://code.example/harbour/pi/blob/main/CHANGELOG.md",
    }
    assert [project(each.parent).get("urls") for each in tree.rglob("pyproject.toml")] == [
        expected for _ in tree.rglob("pyproject.toml")
    ]
    assert "1.4.0 already" in repeated.stdout


@pytest.mark.slow
def test_a_repeated_release_changes_nothing_more(tree):
    release(tree, "1.4.0", "--until", "contract")
    before = git(tree, "status", "--porcelain"), (tree / "CHANGELOG.md").read_text()

    done = release(tree, "1.4.0", "--until", "contract")

    assert done.returncode == 0, done.stderr
    assert "1.4.0 already" in done.stdout
    assert (git(tree, "status", "--porcelain"), (tree / "CHANGELOG.md").read_text()) == before


def test_a_dry_run_names_the_steps_and_changes_nothing(tree):
    done = release(tree, "1.4.0", "--dry-run")

    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        *("versions", "changelog", "contract", "build", "check", "commit", "tag")
    ]
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "tag") == ""


def test_a_break_of_the_contract_needs_a_new_major_version(tree):
    file = tree / "docs" / "reference" / "contract-1.0.json"
    old = json.loads(file.read_text())
    old["hooks"]["tide_turns"] = dict(old["hooks"]["turn_end"])
    file.write_text(json.dumps(old))
    git(tree, "commit", "--quiet", "--all", "--message", "Break")

    refused = release(tree, "1.4.0", "--until", "contract", "--dry-run")
    allowed = release(tree, "2.0.0", "--until", "contract", "--dry-run")

    assert refused.returncode == 1
    assert "hook tide_turns: removed" in refused.stderr
    assert allowed.returncode == 0, allowed.stderr


@pytest.mark.parametrize("version", ["0.9.0", "1.4", "1.4.0rc1", "next", "v1.4.0", "01.4.0"])
def test_what_is_no_next_version_is_refused(tree, version):
    done = release(tree, version)

    assert done.returncode == 1
    assert "Not released" in done.stderr
    assert git(tree, "status", "--porcelain") == ""


def test_a_tree_with_other_changes_is_refused(tree):
    (tree / "CHANGELOG.md").write_text("something else\n")

    done = release(tree, "1.4.0")

    assert done.returncode == 1
    assert "the work tree has changes: CHANGELOG.md" in done.stderr


def test_a_tag_of_another_commit_is_refused(tree):
    git(tree, "tag", "v1.4.0")
    (tree / "CHANGELOG.md").write_text("later\n")
    git(tree, "commit", "--quiet", "--all", "--message", "Later")

    assert "names another commit" in release(tree, "1.4.0").stderr


def test_fragments_that_come_late_join_the_section_of_their_version(tree):
    release(tree, "1.4.0", "--until", "changelog")
    (tree / "changelog.d").mkdir(exist_ok=True)  # git removed it with its last file
    (tree / "changelog.d" / "+ebb.fixed.md").write_text("Ebb is no longer\nflood.\n")
    (tree / "changelog.d" / "+moon.added.md").write_text("The moon rises.\n")

    done = release(tree, "1.4.0", "--until", "changelog")

    assert done.returncode == 0, done.stderr
    text = (tree / "CHANGELOG.md").read_text()
    section = text.partition("## 1.4.0")[2].partition("\n## ")[0]
    assert section.partition("### Added")[2].split("\n### ") == [
        "\n\n- Tides are shown.\n- The moon rises.\n",
        "Fixed\n\n- Ebb is no longer\n  flood.\n\n",
    ]
    assert text.count("## 1.4.0") == 1
    assert text.partition("\n## 1.1.0")[2] == (ROOT / "CHANGELOG.md").read_text().partition("\n## 1.1.0")[2]
    assert not list((tree / "changelog.d").glob("*.md"))


def test_the_contract_of_a_version_grows_until_its_tag(tree):
    release(tree, "1.4.0", "--until", "contract")
    released = tree / "docs/reference/contract-1.4.json"

    released.write_text("{}")
    release(tree, "1.4.0", "--until", "contract")
    assert json.loads(released.read_text())["version"] == "1.4.0"

    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "Release")
    git(tree, "tag", "v1.4.0")
    released.write_text("{}")
    git(tree, "commit", "--quiet", "--all", "--message", "Later")
    release(tree, "1.4.1", "--until", "contract")
    assert released.read_text() == "{}"
