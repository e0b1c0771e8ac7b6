"""The files for CI services are valid, and their commands run as they are with the packages that they install."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

CI = Path(__file__).parents[1]
ROOT = CI.parents[1]
ACTION = yaml.safe_load((CI / "github" / "action.yml").read_text())
JOB = yaml.safe_load((CI / "gitlab" / "pi-review.gitlab-ci.yml").read_text())["pi-review"]

PYTHON = """#!/bin/sh
printf '%s\\n' "$@" >> "$INSTALLED"
"""
PI = f"""#!/bin/sh
exec {sys.executable} -P -m pi_cli "$@"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "github/action.yml"),
        ("vendor.github-workflows", "github/review.yml"),
        ("vendor.gitlab-ci", "gitlab/pi-review.gitlab-ci.yml"),
    ],
)
def test_the_file_is_valid_for_its_service(schema, file):
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, CI / file]
    done = subprocess.run(check, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_gives_what_the_action_takes():
    workflow = yaml.safe_load((CI / "github" / "review.yml").read_text())
    (step,) = (each for each in workflow["jobs"]["review"]["steps"] if each.get("id") == "pi")

    assert {*step["with"]} <= {*ACTION["inputs"]}
    assert {name for name, each in ACTION["inputs"].items() if each.get("required")} <= {*step["with"]}
    assert "${{" not in "".join(each.get("run", "") for each in ACTION["runs"]["steps"])


@pytest.fixture
def run(tmp_path, git):
    """Runs commands in a repository with two commits, with `pi review` installed from its wheel."""
    from hatchling.builders.wheel import WheelBuilder

    project = shutil.copytree(CI.parent / "review", tmp_path / "build" / "review")
    (wheel,) = WheelBuilder(str(project)).build(directory=str(tmp_path / "build"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "bin").mkdir()
    for name, text in (("python", PYTHON), ("pi", PI)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    git.folder = tmp_path / "repository"
    git.folder.mkdir()
    git.init()
    git.commit("second", "a.txt", "two\n")
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "INSTALLED": str(tmp_path / "installed"),
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path / "site"),
    }

    def run(script, **variables):
        command = ["bash", "-e", "-o", "pipefail", "-c", script]
        done = subprocess.run(
            command, cwd=git.folder, env=environ | variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def are_published(file):
    """Whether each package that was to be installed is one that a release publishes."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    folders = [ROOT, *(ROOT / each for each in tool["pi"]["published-examples"])]
    published = {tomllib.loads((each / "pyproject.toml").read_text())["project"]["name"] for each in folders}
    wanted = {line for line in file.read_text().splitlines() if line.startswith("pluggypi")}
    return len(wanted) == 2 and {each.partition("==")[0] for each in wanted} <= published


@pytest.mark.slow
def test_the_action_installs_pi_and_annotates_a_change(run, tmp_path):
    variables = {
        "FAIL_ON": "error", "MAX_COST": "1", "MAX_REQUESTS": "9", "MODEL": "offline/rules",
        "REVISIONS": "HEAD~1...HEAD",
        "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output"), "VERSION": "1.2.3",
    }  # fmt: skip
    steps = [each for each in ACTION["runs"]["steps"] if "run" in each]
    assert {name for each in steps for name in each["env"]} <= {*variables}

    printed = [run(each["run"], **variables) for each in steps]

    assert are_published(tmp_path / "installed")
    assert "pluggypi-review==1.2.3" in (tmp_path / "installed").read_text()
    assert "Summary: " in printed[1]
    sarif = (tmp_path / "output").read_text().strip().partition("=")[2]
    assert json.loads(Path(sarif).read_text())["version"] == "2.1.0"


@pytest.mark.slow
def test_the_job_installs_pi_and_writes_its_reports(run, tmp_path, git):
    variables = {
        **JOB["variables"],
        "PI_CODING_AGENT_DIR": str(tmp_path / "agent"),
        "PI_REVIEW_MODEL": "offline/rules",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD~1",
        "CI_COMMIT_SHA": "HEAD",
    }

    run("\n".join(JOB["script"]), **variables)

    assert are_published(tmp_path / "installed")
    assert isinstance(json.loads((git.folder / JOB["artifacts"]["reports"]["codequality"]).read_text()), list)
    assert (git.folder / JOB["artifacts"]["reports"]["junit"]).read_text().startswith("<testsuite ")
