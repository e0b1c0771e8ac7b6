"""The commands of README.md: few, right wherever they are typed, and the same as those of .ci/run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands(beginning: str) -> list[str]:
    lines = (line.partition(" #")[0].strip() for block in BLOCKS for line in block.splitlines())
    return [line for line in lines if line.startswith(beginning)]


def test_the_command_for_the_tests_is_the_last_step_of_ci() -> None:
    (tests,) = [each for each in commands("uv run") if "pytest" in each]

    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith(f"\nstep {tests}")


def test_what_is_installed_goes_into_the_clones_own_environment() -> None:
    folders = [each.with_name("README.md") for each in ROOT.glob("examples/*/pyproject.toml")]
    texts = [README, *(each.read_text(encoding="utf-8") for each in folders)]
    messages = [each for text in texts for each in re.findall(r"uv pip (?:un)?install [^\n`]*", text)]

    assert len(messages) >= len(folders)
    assert [each for each in messages if "--python .venv " not in each] == []


def test_the_first_command_brings_no_tools_of_developers() -> None:
    uv = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]

    assert uv["default-groups"] == []
