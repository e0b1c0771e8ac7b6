"""``pi plugin new``: what it writes passes its own tests, mypy and ruff, whatever the plugin is called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from pi_cli.plugin_new import _KINDS, write_plugin

pytestmark = pytest.mark.slow  # each starts programs that take seconds

NAMES = {
    "tool": "word-count",
    "provider": "acme",
    "hooks": "keep-trees",
    "command": "answers",
    "extension": "call-count",
    "login": "acme-login",
    "exporter": "plain-text",
    "service": "low-priority",
    "mode": "markdown",
    "store": "shelf",
}
LONGEST = "abcdefghij-abcdefghi-abcdefghi"


def tool(folder, *command):
    """Run one of the tools of the workspace in a new plugin's folder; return what it said if it failed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PI_", "PYTEST_"))}
    paths = [str(folder / "src"), str(folder.with_name("site")), kept.get("PYTHONPATH", "")]
    env = {**kept, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """A folder with a plugin of each kind, in folders of their names."""
    folder = tmp_path_factory.mktemp("plugins")
    for kind, name in NAMES.items():
        write_plugin(name, kind, folder / name)
        metadata = folder / "site" / f"pluggypi_{name.replace('-', '_')}-0.1.0.dist-info"  # as if it were installed
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pluggypi-{name}\nVersion: 0.1.0\n")
        (metadata / "entry_points.txt").write_text(f"[pi]\n{name} = pi_{name.replace('-', '_')}\n")
    return folder


def test_every_kind_is_tested_here():
    assert {*NAMES, "process"} == {*_KINDS}


def test_a_new_program_passes_its_tests_and_is_a_plugin(pi, tmp_path):
    folder = tmp_path / "low-tide"
    written = write_plugin("low-tide", "process", folder)

    assert tool(folder, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:pytester") == ""
    assert "acme" not in "".join((folder / each).read_text() for each in written).lower()
    done = pi.run("-e", str(folder), "--model", "offline/rules", "-p", "Run: rm -rf build")
    assert "Deleting trees is not allowed here." in done.stdout


def test_what_comes_next_for_a_program_needs_no_environment(pi):
    done = pi.run("plugin", "new", "low-tide", "--kind", "process")

    assert "\nNext: cd low-tide && python -m pytest\n" in done.stdout


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_new_plugin_passes_its_tests(plugins, name):
    assert tool(plugins / name, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:pytester") == ""


def test_new_plugins_pass_mypy(plugins):
    """All at once, as most of the time goes into pi's own packages; the settings are those that each of them has."""
    parts = [f"{name}/{part}" for name in NAMES.values() for part in ("src", "tests")]
    projects = [tomllib.loads((plugins / name / "pyproject.toml").read_text()) for name in NAMES.values()]
    settings = [project["tool"]["mypy"] for project in projects]

    assert settings == [{"strict": True, "files": ["src", "tests"], "mypy_path": "src"}] * len(NAMES)
    assert tool(plugins, "mypy", "--strict", "--cache-dir", os.devnull, *parts) == ""


def test_new_plugins_pass_ruff_whatever_they_are_called(plugins, tmp_path):
    for kind, (number, name) in product(NAMES, enumerate(["x", LONGEST])):
        write_plugin(name, kind, tmp_path / f"{kind}-{number}")

    for folder in (plugins, tmp_path):
        assert tool(folder, "ruff", "check", "--no-cache") == ""
        assert tool(folder, "ruff", "format", "--no-cache", "--check") == ""


@pytest.mark.parametrize("kind", NAMES)
def test_no_file_speaks_of_another_plugin(tmp_path, kind):
    written = write_plugin("keep-trees", kind, tmp_path)

    assert {str(each) for each in written} >= {
        ".github/workflows/ci.yml",
        ".gitignore",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "src/pi_keep_trees/__init__.py",
        "src/pi_keep_trees/py.typed",
    }
    for each in written:
        text = (tmp_path / each).read_text()
        assert "acme" not in f"{each}{text}".lower()
        assert not any(mark in text for mark in ("<description>", "<usage>", "<dependencies>", "<year>"))


@pytest.mark.parametrize("kind", NAMES)
def test_it_is_a_distribution_with_an_entry_point_that_names_what_it_imports(tmp_path, kind):
    write_plugin("keep-trees", kind, tmp_path)
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    imported = {
        line.split()[1].partition(".")[0]
        for file in (tmp_path / "src").rglob("*.py")
        for line in map(str.strip, file.read_text().splitlines())
        if line.startswith("from pi_")
    }

    assert project["name"] == "pluggypi-keep-trees"
    assert project["entry-points"]["pi"] == {"keep-trees": "pi_keep_trees"}
    declared = {each.partition(">=")[0] for each in project["dependencies"]}
    needed = {f"pluggypi-{each.removeprefix('pi_').replace('_', '-')}" for each in imported - {"pi_keep_trees"}}
    assert needed <= declared


def test_the_command_says_what_it_wrote_and_what_comes_next(pi):
    done = pi.run("plugin", "new", "word-count", "--kind", "tool")

    assert (done.returncode, done.stderr) == (0, "")
    assert "word-count/pyproject.toml\n" in done.stdout
    assert "\nNext: cd word-count && uv sync && uv run pytest\n" in done.stdout
    assert "\nWithout installing it: pi -e word-count\n" in done.stdout
    assert (pi.cwd / "word-count" / "src" / "pi_word_count" / "_tool.py").is_file()


@pytest.mark.parametrize("path", ["acme-models", "acme-models/src/pi_acme_models"], ids=["folder", "package"])
def test_what_was_written_runs_without_being_installed(pi, path):
    pi.run("plugin", "new", "acme-models", "--kind", "provider")

    done = pi.run("-e", path, "--list-models", "acme-models", "--all")

    assert (done.returncode, done.stderr) == (0, "")
    assert "acme-models  small" in done.stdout


LISTED = {
    "word-count": {"tools": ["word_count"]},
    "acme": {"providers": ["acme"], "models": ["acme"]},
    "keep-trees": {"hooks": ["system_prompt", "tool_call"]},
    "answers": {"commands": ["answers"]},
    "call-count": {"hooks": ["activate"]},
    "acme-login": {"models": ["acme-login"], "logins": ["acme-login"]},
    "plain-text": {"exporters": ["plain-text"]},
    "low-priority": {"services": ["Launcher"]},
    "markdown": {"modes": ["markdown"]},
    "shelf": {"session_stores": ["shelf"]},
}
"""What `pi plugins --json` lists of each."""


def test_every_kind_is_loaded_from_its_folder(pi, plugins):
    folders = [argument for name in NAMES.values() for argument in ("-e", str(plugins / name))]

    done = pi.run(*folders, "plugins", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    assert listed(done.stdout) == LISTED


def test_every_kind_is_found_where_it_is_installed(pi, plugins):
    paths = [plugins / "site", *(plugins / name / "src" for name in NAMES.values())]
    pi.env["PYTHONPATH"] = os.pathsep.join([*map(str, paths), pi.env["PYTHONPATH"]])

    done = pi.run("plugins", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    assert listed(done.stdout) == LISTED


def listed(output):
    """Return what `pi plugins --json` lists of the new plugins, which all have to be loaded."""
    found = {each["name"]: each for each in json.loads(output) if each["name"] in LISTED and each["loads"]}
    hooks = {name: {"hooks": [hook["name"] for hook in each["hooks"]]} for name, each in found.items() if each["hooks"]}
    return {name: {**each["registers"], **hooks.get(name, {})} for name, each in found.items()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show"], "Unknown command of pi plugin: show"),
        (["new", "--kind", "tool"], "pi plugin new takes one name, not 0"),
        (["new", "Word_Count", "--kind", "tool"], "'Word_Count' cannot be a plugin's name"),
        (["new", "a" * 31, "--kind", "tool"], "cannot be a plugin's name"),
        (["new", "import", "--kind", "tool"], "it is a Python keyword"),
        (["new", "tools", "--kind", "tool"], "A plugin named 'tools' is installed, from pluggypi-tools"),
        (["new", "mine"], "Specify what the plugin adds: --kind tool | provider | hooks | command | "),
        (["new", "mine", "--kind", "tol"], "Unknown kind of plugin: tol. Did you mean tool?"),
        (["new", "mine", "--kind", "xyz"], "Unknown kind of plugin: xyz. Use one of tool, provider"),
        (["new", "mine", "--kind", "tool", "--dir", "."], "The folder '.' is not empty"),
    ],
    ids=["command", "no-name", "spelling", "length", "keyword", "taken", "no-kind", "near", "far", "folder"],
)
def test_what_cannot_be_is_refused_in_one_line(pi, arguments, message):
    (pi.cwd / "there").write_text("already")

    done = pi.run("plugin", *arguments)

    assert done.returncode == 1
    assert message in done.stderr
    assert [*pi.cwd.iterdir()] == [Path(pi.cwd / "there")]


def test_its_help_names_every_kind(pi):
    done = pi.run("plugin", "--help")

    assert done.stdout.startswith("Usage: pi plugin new NAME --kind KIND")
    assert all(f"  {kind} " in done.stdout for kind in NAMES)
