"""The index makes starting cheap: once it is warm, what is installed is known without importing any of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

LOUD = 50

MARK = """
import pathlib

pathlib.Path(__file__).with_suffix(".imported").touch()
"""

FAILING = f"""{MARK}
print("imported in vain " * 100)
raise RuntimeError("nobody should have imported this")
"""

HEALTHY = f"""{MARK}
from pi_hookspecs import hookimpl

@hookimpl
def agent_start(event):
    pathlib.Path(__file__).with_suffix(".ran").touch()
"""


class Installation:
    """An environment's plugins, 50 of which cannot be imported, and one that works."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"
        self.site.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PI_CODING_AGENT_DIR": str(folder / "agent"),
            "PYTHONPATH": str(self.site),
        }
        for number in range(LOUD):
            self.install(f"loud-{number}", FAILING)
        self.install("healthy", HEALTHY)

    def install(self, name: str, source: str) -> None:
        module = name.replace("-", "_")
        (self.site / f"{module}.py").write_text(source)
        metadata = self.site / f"{module}-1.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (metadata / "entry_points.txt").write_text(f"[pi]\n{name} = {module}\n")

    def pi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "pi_cli", *arguments],
            cwd=self.site.parent,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )

    def imported(self) -> set[str]:
        """Return what was imported since the last look."""
        marks = list(self.site.glob("*.imported"))
        for mark in marks:
            mark.unlink()
        return {mark.stem for mark in marks}


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_version_and_help_import_no_plugin_without_an_index(installation: Installation) -> None:
    installation.pi("--version")
    installation.pi("--help")

    assert installation.imported() == set()


def test_warm_index_answers_for_plugins_without_importing_them(installation: Installation) -> None:
    installation.pi("plugins")
    imported_cold = installation.imported()
    installation.pi("--version")
    again = installation.pi("plugins", "--json")
    installation.pi("plugins")

    assert len(imported_cold) == LOUD + 1
    assert installation.imported() == set()
    rows = {row["name"]: row for row in json.loads(again.stdout)}
    assert not any(rows[f"loud-{number}"]["loads"] for number in range(LOUD))
    assert rows["healthy"]["hooks"] == [{"name": "agent_start", "answers": "notify"}]


def test_a_healthy_plugin_works_next_to_fifty_broken_ones(installation: Installation) -> None:
    installation.pi("plugins")
    installation.imported()

    done = installation.pi("--model", "offline/rules", "-p", "List the files here")

    assert installation.imported() == {"healthy"}
    assert (installation.site / "healthy.ran").exists()
    assert "site/" in done.stdout
    assert done.stderr.count("Warning: Plugin 'loud-") == LOUD
