"""``pi install`` in fresh environments, as people have them: pi's own distributions stay as they are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
sys.path.insert(0, str(ROOT / "tools"))

from check_released_examples import RELEASED  # noqa: E402 - a script's folder, not a package

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
NEXT = "1.99.0"

pytestmark = pytest.mark.slow


def run(*command, env, code=0):
    done = subprocess.run([*map(str, command)], env=env, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels():
    """The wheels of pi."""
    return Path(run(sys.executable, ROOT / "tools" / "build_wheels.py", env=dict(os.environ)).strip())


@pytest.fixture(scope="module")
def released():
    """The wheels of 1.0.0, from the history."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "build_wheels.py", "--commit", RELEASED],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"the clone has no history: {done.stderr}")
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def newer(tmp_path_factory):
    """The wheels of the next version of pi, as the release tool makes them in a copy of this repository."""
    copy = tmp_path_factory.mktemp("pi-next")
    files = run("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", env=dict(os.environ))
    for name in files.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    for arguments in (["init", "--quiet"], ["add", "--all"], [*identity, "commit", "--quiet", "--message", "Copy"]):
        run("git", "-C", copy, *arguments, env=dict(os.environ))
    run(sys.executable, copy / "tools" / "release.py", NEXT, "--until", "versions", env=dict(os.environ))
    return Path(run(sys.executable, copy / "tools" / "build_wheels.py", env=dict(os.environ)).strip())


def upgrade(kind, python, newer, env):
    """Upgrade pi itself by hand, as people do where it is installed so; ``pi update`` is new in 1.1."""
    if kind == "uv tool":
        run("uv", "tool", "upgrade", "-q", "--find-links", newer, "pluggypi", env=env)
    else:
        into = ["--python", python, "--find-links", newer, "--upgrade", "pluggypi"]
        run("uv", "pip", "install", "-q", *into, env=env)


def environment(kind, folder, wheels, env):
    """Make an environment with pi; return its ``pi`` and its ``python``."""
    if kind == "uv tool":
        env |= {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
        run("uv", "tool", "install", "-q", "--python", sys.executable, "--find-links", wheels, "pluggypi", env=env)
        return folder / "bin" / "pi", folder / "tools" / "pluggypi" / "bin" / "python"
    if kind == "user":  # where pip install --user puts it, seen by an interpreter that is not a virtual environment
        python, base = Path(sys.base_prefix) / "bin" / "python3", folder / "user"
        into = ["--python", python, "--prefix", base, "--break-system-packages"]
        run("uv", "pip", "install", "-q", *into, "--find-links", wheels, "pluggypi", env=env)
        env |= {"PYTHONUSERBASE": str(base)}
        return base / "bin" / "pi", python
    run("uv", "venv", "-q", "--python", sys.executable, folder / "env", env=env)
    python = folder / "env" / "bin" / "python"
    run("uv", "pip", "install", "-q", "--python", python, "--find-links", wheels, "pluggypi", env=env)
    if kind == "read-only":
        for path in (folder / "env").rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o555)
    return folder / "env" / "bin" / "pi", python


def freeze(python, env):
    """Return the names and versions of all distributions that an interpreter finds, a user's own included."""
    program = "from importlib.metadata import distributions as d; print(*sorted(f'{e.name}=={e.version}' for e in d()))"
    return [tuple(each.split("==")) for each in run(python, "-c", program, env=env).split()]


@pytest.mark.parametrize("kind", ["venv", "uv tool", "read-only", "user"])
def test_install_run_update_and_remove_leave_the_environment_as_it_is(bench, wheels, tmp_path, kind):
    bench.plugin("tides", "1.0")
    env = {
        name: value for name, value in os.environ.items() if name not in ("UV_NO_INDEX", "PIP_NO_INDEX", "VIRTUAL_ENV")
    }
    env.pop("UV_CACHE_DIR")
    pi, python = environment(kind, tmp_path, wheels, env)
    env["UV_NO_INDEX"] = "1"
    before = freeze(python, env)

    run(pi, "install", "tides", env=env)
    plugins = {each["name"]: each["version"] for each in json.loads(run(pi, "plugins", "--json", env=env))}
    bench.plugin("tides", "1.1")
    run(pi, "update", "--extensions", env=env)
    answered = run(pi, "--model", "offline/rules", "-p", "hello", env=env)
    run(pi, "update", "--rollback", env=env)
    rolled_back = bench.installed()
    run(pi, "remove", "tides", env=env)

    assert plugins["tides"] == "1.0"
    assert answered
    assert rolled_back == {"pluggypi-tides": "1.0"}
    assert bench.installed() == {}
    assert freeze(python, env) == before
    for path in tmp_path.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)


@pytest.mark.parametrize("kind", ["venv", "uv tool"])
def test_what_is_installed_goes_on_when_pi_itself_is_upgraded(bench, wheels, newer, tmp_path, kind):
    bench.plugin("tides", "1.0")
    env = {
        name: value for name, value in os.environ.items() if name not in ("UV_NO_INDEX", "PIP_NO_INDEX", "VIRTUAL_ENV")
    }
    env.pop("UV_CACHE_DIR")
    pi, python = environment(kind, tmp_path, wheels, env)
    env["UV_NO_INDEX"] = "1"
    run(pi, "install", "tides", env=env)
    assert NEXT not in run(pi, "--version", env=env)

    with_index = {name: value for name, value in env.items() if name != "UV_NO_INDEX"}
    run(pi, "update", env={**with_index, "UV_FIND_LINKS": str(newer)})
    after = freeze(python, env)

    assert NEXT in run(pi, "--version", env=env)
    plugins = {each["name"]: each for each in json.loads(run(pi, "plugins", "--json", env=env))}
    assert (plugins["tides"]["version"], plugins["tools"]["version"]) == ("1.0", NEXT)
    assert run(pi, "--model", "offline/rules", "-p", "hello", env=env)
    bench.plugin("tides", "1.1")
    run(pi, "update", "--extensions", env=env)
    assert bench.installed() == {"pluggypi-tides": "1.1"}
    run(pi, "update", "--rollback", env=env)
    assert bench.installed() == {"pluggypi-tides": "1.0"}
    run(pi, "remove", "tides", env=env)
    assert bench.installed() == {}
    assert freeze(python, env) == after


@pytest.mark.parametrize("kind", ["venv", "uv tool"])
def test_an_installation_of_1_0_becomes_this_version_and_keeps_sessions_and_settings(
    bench, released, wheels, tmp_path, kind
):
    env = {name: value for name, value in os.environ.items() if name not in ("UV_NO_INDEX", "PIP_NO_INDEX")}
    env = {name: value for name, value in env.items() if name not in ("UV_CACHE_DIR", "VIRTUAL_ENV")}
    pi, python = environment(kind, tmp_path, released, env)
    (bench.cwd / "tide.txt").write_text("high at noon\n")
    assert run(pi, "--version", env=env) == "1.0.0\n"
    run(pi, "config", "set", "retry.maxRetries", "7", env=env)
    run(pi, "--model", "offline/rules", "--name", "ebb", "-p", "Read tide.txt", env=env)
    (session,) = (bench.agent_dir / "sessions").rglob("*.jsonl")
    before = session.read_text()

    upgrade(kind, python, wheels, env)
    answered = run(pi, "--model", "offline/rules", "-c", "-p", "List the files here", env=env)

    assert run(pi, "--version", env=env) == f"{VERSION}\n"
    assert {version for name, version in freeze(python, env) if name.startswith("pluggypi")} == {VERSION}
    assert "tide.txt" in answered
    assert "ebb" in run(pi, "sessions", "list", env=env)
    assert session.read_text().startswith(before)
    assert "List the files here" in session.read_text()
    assert run(pi, "config", "get", "retry.maxRetries", env=env) == "7\n"
    assert run(pi, "doctor", env=env)
    program = "from pi_terminal_kit.changelog import changes; print(changes())"
    assert run(python, "-c", program, env=env).startswith(f"## {VERSION} (")
