"""A home folder and a project with the files of another agent, and ``pi import`` on them."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define

from pi_core import PluginHost, Settings
from pi_import.command import run as run_command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@define
class Machine:
    """A user's machine.

    Attributes:
        home: The home folder.
        work: The project, the working directory.
        agent: The agent directory.
        run: Runs ``pi import`` with arguments; returns exit code, output and messages.
    """

    home: Path
    work: Path
    agent: Path
    run: Callable[..., tuple[int, str, str]]

    def write(self, files: dict[str, str]) -> None:
        """Write files: names that begin with ``~/`` in the home folder, others in the project.

        ``@WORK@`` stands for the project's folder, and ``@HASH@`` for its SHA-256, in names and contents.
        """
        work = str(self.work)
        for given, content in files.items():
            name, text = (
                each.replace("@WORK@", work).replace("@HASH@", sha256(work.encode()).hexdigest())
                for each in (given, content)
            )
            file = self.home / name[2:] if name.startswith("~/") else self.work / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        """Return the rows of ``pi import ... --json``."""
        return json.loads(self.run(*arguments, "--json")[1])

    def outcomes(self, *arguments: str) -> dict[str, str]:
        """Return the outcome of each thing, by kind and name."""
        return {f"{row['kind']} {row['name']}": row["outcome"] for row in self.rows(*arguments)}

    def read(self, name: str) -> Any:
        """Return a file of the agent directory, or with ``.pi/`` of the project; JSON is parsed."""
        file = self.work / name if name.startswith(".pi/") else self.agent / name
        text = file.read_text(encoding="utf-8")
        return json.loads(text) if file.suffix == ".json" else text

    def snapshot(self) -> dict[str, bytes]:
        """Return all files of pi, without caches."""
        return {
            str(file): file.read_bytes()
            for folder in (self.agent, self.work / ".pi")
            for file in folder.rglob("*")
            if file.is_file() and "cache" not in file.parts
        }


@pytest.fixture
def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pi_plugin_index: Path
) -> Machine:
    home, work, agent = tmp_path / "home", tmp_path / "work", tmp_path / "agent"
    for folder in (home, work, agent):
        folder.mkdir()
    (agent / "cache").symlink_to(pi_plugin_index, target_is_directory=True)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    monkeypatch.chdir(work)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_command([*arguments], PluginHost(Settings.load(work)))
        return code, *capsys.readouterr()

    return Machine(home, work, agent, run)
