"""Tiny wheels written by hand, and ``pi install`` on them: no index, no network, no build."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import pi_packages
from pi_core.host import PluginHost
from pi_core.settings import Settings
from pi_hookspecs import PiError
from pi_packages import commands
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = """
from pi_hookspecs import hookimpl

@hookimpl
def turn_end(event): pass
"""

PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "pluggypi-reef"
version = "1.0"

[project.entry-points.pi]
reef = "pi_reef"
"""

BACKEND = """
import os, zipfile

def _wheel(folder, files):
    path = os.path.join(folder, "pluggypi_reef-1.0-py3-none-any.whl")
    info = "pluggypi_reef-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: pluggypi-reef\\nVersion: 1.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/entry_points.txt", "[pi]\\nreef = pi_reef\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return os.path.basename(path)

def build_wheel(folder, *_):
    return _wheel(folder, {"pi_reef.py": open("pi_reef.py").read()})

def build_editable(folder, *_):
    return _wheel(folder, {"reef.pth": os.getcwd()})
"""


def write_wheel(folder, name, version="1.0", *, files=None, requires=(), plugins=None):
    """Write a wheel and return its path; ``plugins`` are entry points, ``files`` texts by path."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace('-', '_')}-{version}"
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    contents = {
        **(files or {}),
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if plugins:
        lines = "".join(f"{key} = {value}\n" for key, value in plugins.items())
        contents[f"{stem}.dist-info/entry_points.txt"] = f"[pi]\n{lines}"
    record = "".join(f"{path},{_hash(text)},{len(text.encode())}\n" for path, text in contents.items())
    contents[f"{stem}.dist-info/RECORD"] = f"{record}{stem}.dist-info/RECORD,,\n"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for each, text in contents.items():
            wheel.writestr(zipfile.ZipInfo(each), text)
    return path


def _hash(text):
    return f"sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()}"


class Bench:
    """An agent directory, a folder of wheels, and the commands on them, in this process or as ``pi``."""

    def __init__(self, folder: Path, capsys) -> None:
        self.home = folder / "home"
        self.agent_dir = self.home / ".pi" / "agent"
        self.wheels = folder / "wheels"
        self.cwd = folder / "work"
        self._capsys = capsys
        self.notices = ""
        for each in (self.agent_dir, self.wheels, self.cwd):
            each.mkdir(parents=True)
        self.set("packages.findLinks", [str(self.wheels)])

    def plugin(self, name, version="1.0", *, source=PLUGIN, requires=("pluggypi-hookspecs>=1,<2",), **more):
        """Write the wheel of ``pluggypi-NAME``, a plugin of one module."""
        module = f"pi_{name.replace('-', '_')}"
        files = {f"{module}.py": dedent(source), **more}
        return write_wheel(
            self.wheels, f"pluggypi-{name}", version, files=files, requires=requires, plugins={name: module}
        )

    def held_plugin(self, version, grants):
        """Write a wheel of the plugin ``tides`` with these grants; None for none."""
        files = {"pi_tides/__init__.py": PLUGIN}
        if grants is not None:
            files["pi_tides/pi_plugin.json"] = json.dumps({"grants": grants})
        return write_wheel(self.wheels, "pluggypi-tides", version, files=files, plugins={"tides": "pi_tides"})

    def library(self, name, version="1.0", requires=(), files=None):
        """Write the wheel of a distribution that is not a plugin."""
        files = files or {f"{name}.py": f"version = {version!r}\n"}
        return write_wheel(self.wheels, name, version, files=files, requires=requires)

    def set(self, key, value):
        """Write a setting of the user."""
        Settings.load(self.cwd, self.agent_dir).set(key, value)

    @property
    def settings(self):
        """The user's settings file."""
        file = self.agent_dir / "settings.json"
        return json.loads(file.read_text())

    def run(self, name, *arguments, trust=None, installed=False):
        """Run a subcommand in this process; return its exit code and stdout. An error's text is returned, too."""
        self._capsys.readouterr()
        host = PluginHost(Settings.load(self.cwd, self.agent_dir, trust=trust), installed=installed)
        if not installed:
            host.add(pi_packages, "packages")
        try:
            code = commands.run(name, [*map(str, arguments)], host)
        except PiError as error:
            return getattr(error, "exit_code", 1), str(error)
        output, self.notices = self._capsys.readouterr()
        return code, output

    def ok(self, name, *arguments, **options):
        """Run a subcommand that succeeds; return stdout."""
        code, output = self.run(name, *arguments, **options)
        assert code == 0, output
        return output

    def fails(self, name, *arguments, **options):
        """Run a subcommand that fails with 1, and changes nothing; return the error."""
        before = self.state()
        code, output = self.run(name, *arguments, **options)
        assert code == 1, output
        assert self.state() == before
        return output

    def installed(self):
        """Return the versions of the distributions in force, by name."""
        found = self.generation()
        return {name: each["version"] for name, each in found.get("distributions", {}).items()}

    def generation(self):
        """Return the description of the generation in force; empty without one."""
        roots = list(self.agent_dir.glob("packages/cp*/current"))
        if not roots:
            return {}
        name = roots[0].read_text().strip()
        folder = roots[0].parent / "gen" / name
        assert folder.is_dir()
        return json.loads(folder.with_name(f"{name}.json").read_text())

    def state(self):
        """Return everything that a change may change."""
        lock = self.agent_dir / "pylock.pi.toml"
        return self.generation(), self.settings, lock.read_text() if lock.exists() else None

    def command(self, *arguments):
        """Return a command line for ``pi``."""
        return [sys.executable, "-P", "-m", "pi_cli", *map(str, arguments)]

    def pi(self, *arguments, code=0, **environ):
        """Run the real ``pi``; return stdout."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.cwd,
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + (done.stderr if code else "")


@pytest.fixture(scope="session")
def caches(tmp_path_factory):
    """What uv keeps between runs, and the stubs of pi's environment, which no test changes."""
    return tmp_path_factory.mktemp("caches")


@pytest.fixture
def trusting(monkeypatch):
    """Take plugins for loadable without a process that tries it: half of the time of an installation."""
    loads = {"loads": True, "problems": [], "hooks": [], "tools": [], "commands": []}
    monkeypatch.setattr("pi_packages.change.probe", lambda plugins, *_: {name: dict(loads) for name in plugins})


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys, caches):
    """An empty agent directory, and a folder of wheels that the user's settings name."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(caches / "uv"))
    bench = Bench(tmp_path, capsys)
    (bench.agent_dir / "packages" / "work").mkdir(parents=True)
    (caches / "base").mkdir(exist_ok=True)
    (bench.agent_dir / "packages" / "work" / "base").symlink_to(caches / "base")
    monkeypatch.chdir(bench.cwd)
    return bench


@pytest.fixture
def reef(tmp_path):
    """The folder of a Python project, ``pluggypi-reef``, which brings its own build backend."""
    folder = tmp_path / "coast" / "reef"
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pi_reef.py").write_text(PLUGIN.replace("event", ""))
    return folder
