"""Which programs are used: what settings say, where they are found, and what an untrusted project cannot start."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings
from pi_core.settings.trust import ProjectTrust
from pi_diagnostics.linters import findings
from pi_diagnostics.options import read_options
from pi_diagnostics.servers import TABLE, find_program, wanted


@pytest.fixture
def options(tmp_path):
    """``options(user, project)``: the options for values of ``diagnostics`` in both files."""

    def read(user, project=None):
        agent, folder = tmp_path / "agent", tmp_path / "project"
        (folder / ".pi").mkdir(parents=True)
        agent.mkdir()
        (agent / "settings.json").write_text(json.dumps({"diagnostics": user}))
        (folder / ".pi" / "settings.json").write_text(json.dumps({"diagnostics": project or {}}))
        trust = ProjectTrust.given(folder, is_trusted=True)
        settings = Settings.load(folder, agent, trust=trust)
        PluginHost(settings).declare_settings(settings)
        return read_options(settings)

    return read


def program(folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return str(folder / name)


def test_the_user_adds_replaces_and_switches_off(options):
    zls = {"command": ["zls", "--stdio"], "languages": {"zig": "zig", ".ZON": "zig"}}

    read = options({"servers": {"zls": zls, "pyright": {**zls, "languages": {".py": "python"}}, "ruff": False}})

    assert read.problems == ()
    assert read.checkers["zls"].command == ("zls", "--stdio")
    assert sorted(read.checkers["zls"].languages) == [".zig", ".zon"]
    assert [[each.name for each in group] for group in wanted(read.checkers, "a.PY")] == [
        ["basedpyright", "pyright", "pylsp"]
    ]
    assert read.checkers["pyright"].command == ("zls", "--stdio")


def test_the_settings_of_the_readme_are_valid(options):
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    (example,) = re.findall(r"^```json\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)

    read = options(json.loads(example)["diagnostics"])

    assert read.problems == ()
    assert read.checkers["zls"].languages == {".zig": "zig"}
    assert "pyright" not in read.checkers


def test_a_project_only_switches_off(options):
    own = {"command": ["./evil"], "languages": {".py": "python"}}

    read = options({"timeout": 3}, {"servers": {"evil": own, "ruff": False}, "timeout": 15, "enabled": False})

    assert read.problems == ()
    assert "evil" not in read.checkers
    assert "ruff" not in read.checkers
    assert read.seconds == 3
    assert not read.enabled


def test_a_project_does_not_switch_on_what_the_user_switched_off(options):
    assert not options({"enabled": False}, {"enabled": True}).enabled


@pytest.mark.parametrize(
    "entry", [True, [], {}, {"command": "zls", "languages": {".z": "z"}}, {"command": ["zls"], "languages": []}]
)
def test_a_server_that_makes_no_sense_is_reported_with_its_value(options, entry):
    read = options({"servers": {"zls": entry}})

    assert dict(read.checkers) == TABLE
    assert repr(entry) in read.problems[0]


@pytest.mark.parametrize("seconds", [0, -1, "2", True, 1e9, None])
def test_a_timeout_that_makes_no_sense_is_the_default(options, seconds):
    assert options({"timeout": seconds}).seconds == 2


@pytest.mark.parametrize("folder", [".venv/bin", "node_modules/.bin"])
def test_a_trusted_projects_own_program_comes_first(tmp_path, programs, folder):
    own = program(tmp_path / folder, "ruff")

    assert find_program(TABLE["ruff"], tmp_path, trusted=True) == own
    assert find_program(TABLE["ruff"], tmp_path, trusted=False) == str(programs / "ruff")


def test_an_untrusted_projects_program_is_not_found_on_path_either(tmp_path, monkeypatch):
    program(tmp_path / "bin", "clangd")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    for path in (str(tmp_path / "bin"), "bin", f"{tmp_path}/elsewhere/../bin"):
        monkeypatch.setenv("PATH", path)
        assert find_program(TABLE["clangd"], tmp_path, trusted=False) is None
        assert find_program(TABLE["clangd"], tmp_path, trusted=True) is not None


def test_what_runs_code_of_the_project_needs_trust(tmp_path, programs):
    found = program(programs, "rust-analyzer")

    assert find_program(TABLE["rust-analyzer"], tmp_path, trusted=True) == found
    assert find_program(TABLE["rust-analyzer"], tmp_path, trusted=False) is None


def test_eslint_is_that_of_the_project(tmp_path, programs):
    program(programs, "eslint")
    assert find_program(TABLE["eslint"], tmp_path, trusted=True) is None

    own = program(tmp_path / "node_modules/.bin", "eslint")

    assert find_program(TABLE["eslint"], tmp_path, trusted=True) == own


def test_the_errors_of_eslint_are_read_and_its_warnings_are_not():
    printed = json.dumps(
        [
            {
                "filePath": "/a.js",
                "messages": [
                    {"ruleId": "no-undef", "severity": 2, "message": "'x' is not defined.", "line": 3, "column": 7},
                    {"ruleId": "semi", "severity": 1, "message": "Missing semicolon.", "line": 3, "column": 9},
                    {"ruleId": None, "fatal": True, "severity": 2, "message": "Parsing error", "line": 1, "column": 1},
                ],
            }
        ]
    )

    undefined, fatal = findings("eslint", printed, "eslint")

    assert (undefined.line, undefined.column, undefined.code) == (3, 7, "no-undef")
    assert fatal.code == ""
