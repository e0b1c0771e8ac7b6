"""docs/first-plugin.md is followed to the letter: its files are written, its commands run, their output is as it says.

The part of ``uv`` is played here: ``uv sync`` becomes metadata next to the sources, as an editable install writes it,
and ``uv run`` runs the tools of this environment.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "first-plugin.md"
STEP = re.compile(
    r"(?:^\*\*`(?P<file>[^`]+)`\*\*\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
TOOLS = {
    "pi": ["-P", "-m", "pi_cli"],
    "pytest": ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"],
    "mypy": ["-m", "mypy", "--cache-dir", os.devnull],
    "ruff": ["-m", "ruff"],
}


class Reader:
    """Somebody who does what the page says, in an empty folder."""

    def __init__(self, folder, index):
        self.folder = folder / "work"
        self.site = folder / "site"
        for each in (self.folder, self.site, folder / "agent"):
            each.mkdir()
        (folder / "agent" / "cache").symlink_to(index, target_is_directory=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self.env = {**kept, "HOME": str(folder), "PI_CODING_AGENT_DIR": str(folder / "agent"), "PYTHONUTF8": "1"}

    def type(self, command):
        """Run a command; return what it printed."""
        words = shlex.split(command)
        if words[0] == "cd":
            self.folder /= words[1]
            return ""
        if words == ["uv", "sync"]:
            return self._install()
        if words[:2] == ["uv", "run"]:
            words = words[2:]
        done = subprocess.run(
            [sys.executable, *TOOLS[words[0]], *words[1:]],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout

    def _install(self):
        project = tomllib.loads((self.folder / "pyproject.toml").read_text())["project"]
        metadata = self.site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        points = "".join(f"{name} = {value}\n" for name, value in project["entry-points"]["pi"].items())
        (metadata / "entry_points.txt").write_text(f"[pi]\n{points}")
        self.env["PYTHONPATH"] = os.pathsep.join([str(self.site), str(self.folder / "src")])
        return ""


def commands(text):
    """Yield each command of a console block with the lines that it is to print."""
    for part in text.split("$ ")[1:]:
        command, *lines = part.splitlines()
        yield command, [" ".join(line.split()) for line in lines if line.strip()]


@pytest.fixture
def reader(tmp_path, pi_plugin_index):
    return Reader(tmp_path, pi_plugin_index)


@pytest.mark.slow
def test_the_page_can_be_followed(reader):
    steps = list(STEP.finditer(PAGE.read_text()))

    for step in steps:
        if step["file"]:
            (reader.folder / step["file"]).write_text(step["text"])
        elif step["language"] == "console":
            for command, expected in commands(step["text"]):
                printed = reader.type(command)
                output = " ".join(printed.split())
                for line in expected:
                    assert line in output, f"$ {command}\n{printed}"
        else:  # an excerpt of a file that is there
            assert step["text"] in (reader.folder / "pyproject.toml").read_text()
    assert "failed" not in reader.type("uv run pytest")
