"""A start installs what is locked and missing; it never moves a version, and never fails because of a package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds

SAY = """
from pi_hookspecs import hookimpl

@hookimpl
def turn_end(event):
    print("the tide turns")
"""


@pytest.fixture
def elsewhere(bench):
    """A bench whose settings and lock come from another machine."""
    bench.plugin("tides", "1.0", source=SAY)
    bench.ok("install", "tides")
    shutil.rmtree(bench.agent_dir / "packages")
    bench.plugin("tides", "1.1", source=SAY)
    return bench


def answer(bench, **environ):
    """Run a prompt; return stderr, to which plugins print."""
    command = bench.command("--model", "offline/rules", "-p", "hello")
    done = subprocess.run(
        command,
        cwd=bench.cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_what_is_locked_is_installed_before_the_first_prompt(elsewhere):
    assert "Installing pypi:pluggypi-tides" in answer(elsewhere)
    assert elsewhere.installed() == {"pluggypi-tides": "1.0"}
    assert "the tide turns" in answer(elsewhere)


@pytest.mark.slow
def test_what_cannot_be_installed_is_a_warning(elsewhere):
    (elsewhere.agent_dir / "pylock.pi.toml").unlink()

    assert "Warning: pypi:pluggypi-tides: not installed." in answer(elsewhere)
    assert elsewhere.installed() == {}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["offline", "setting"])
def test_nothing_is_installed_if_that_is_switched_off(elsewhere, how):
    if how == "setting":
        elsewhere.set("packages.autoInstall", False)

    errors = answer(elsewhere, **({"PI_OFFLINE": "1"} if how == "offline" else {}))

    assert "Installing" not in errors
    assert "Not installed here: pypi:pluggypi-tides. Run pi sync" in errors
    assert elsewhere.installed() == {}


GUARD = """
from pi_hookspecs import ToolCallResult, hookimpl

@hookimpl
def tool_call(event):
    return ToolCallResult(block=True, reason="not here")
"""


@pytest.fixture
def guarded(bench):
    """A bench without the guard that its settings and lock name, and without a package index that has it."""
    bench.plugin("harbour", "1.0", source=GUARD)
    bench.plugin("tides", "1.0", source=SAY)
    bench.ok("install", "harbour", "tides")
    shutil.rmtree(bench.agent_dir / "packages")
    return bench


def start(bench, *options, **environ):
    command = bench.command("--model", "offline/rules", *options, "-p", "hello")
    return subprocess.run(
        command,
        cwd=bench.cwd,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_guard_that_is_not_installed_any_more_stops_the_session(guarded):
    refused = start(guarded, PI_OFFLINE="1")
    opened = start(guarded, "--disable", "harbour", PI_OFFLINE="1")

    assert refused.returncode == 1
    assert "plugin 'harbour' of pypi:pluggypi-harbour decides about tool_call, and the package is not" in refused.stderr
    assert "tides" not in refused.stderr.partition("No session starts")[2]
    assert opened.returncode == 0


def test_a_guard_that_is_installed_again_opens_the_session(guarded):
    assert start(guarded).returncode == 0
    assert guarded.installed() == {"pluggypi-harbour": "1.0", "pluggypi-tides": "1.0"}


def test_a_lock_says_which_plugins_are_guards(guarded):
    sources = tomllib.loads((guarded.agent_dir / "pylock.pi.toml").read_text())["tool"]["pi"]["sources"]

    assert {each["name"]: each.get("guards") for each in sources} == {
        "pluggypi-harbour": {"harbour": ["tool_call"]},
        "pluggypi-tides": None,
    }


EXTENSION = """
from pi_hookspecs import hookimpl

@hookimpl
def turn_end(event):
    print("the tide turns")
"""


def run(bench, *given, code=0):
    """Run a prompt with ``-e``; return stderr."""
    options = [each for source in given for each in ("-e", str(source))]
    command = bench.command("--model", "offline/rules", *options, "-p", "hello")
    done = subprocess.run(
        command, cwd=bench.cwd, env=os.environ, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def test_a_wheel_is_installed_for_single_runs_and_once(bench):
    wheel = bench.plugin("tides", source=EXTENSION)

    first = run(bench, wheel)
    wheel.unlink()
    second = run(bench, wheel)

    assert "for this run" in first
    assert "for this run" not in second
    assert "the tide turns" in first
    assert "the tide turns" in second
    assert bench.installed() == {}
    assert "packages" not in bench.settings


@pytest.mark.slow
def test_a_repository_of_extensions_is_used_for_a_run(bench, tmp_path):
    folder = tmp_path / "moon" / "extensions"
    folder.mkdir(parents=True)
    (folder / "ebb.py").write_text(EXTENSION)
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path / "moon", check=True)

    assert "the tide turns" in run(bench, f"git:{tmp_path / 'moon'}")


@pytest.mark.slow
def test_what_cannot_be_installed_for_a_run_ends_it(bench):
    assert "pluggypi-nosuch" in run(bench, "pypi:pluggypi-nosuch", code=1)


def resources(bench, *given):
    """Return what ``pi resources`` lists of skills, prompts and themes, with ``-e``."""
    options = [each for source in given for each in ("-e", str(source))]
    return {each["name"] for each in json.loads(bench.pi(*options, "resources", "--json")) if "moon" in each["name"]}


@pytest.mark.slow
def test_skills_prompts_and_themes_of_a_source_are_used_for_a_run(bench):
    skill = "---\nname: moon\ndescription: tells the moon\n---\nLook up.\n"
    files = {
        "share/pi/skills/moon/SKILL.md": skill,
        "share/pi/prompts/moonrise.md": "Say when the moon rises.\n",
    }
    shared = {f"pluggypi_tides-1.0.data/data/{path}": text for path, text in files.items()}
    wheel = bench.plugin("tides", source=EXTENSION, **shared)
    folder = bench.cwd / "dark"
    (folder / "skills" / "moonless").mkdir(parents=True)
    (folder / "skills" / "moonless" / "SKILL.md").write_text(skill.replace("name: moon", "name: moonless"))

    assert resources(bench, wheel, "./dark") == {"moon", "moonrise", "moonless"}
    assert resources(bench) == set()

    (folder / "prompts").mkdir()
    (folder / "prompts" / "moonset.md").write_text("Say when the moon sets.\n")
    assert resources(bench, "./dark") == {"moonless", "moonset"}
