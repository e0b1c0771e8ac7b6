"""The examples of the pages in docs/ run as they stand there, each in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    """Return a page's code blocks of one language."""
    found = BLOCK.finditer((DOCS / page).read_text(encoding="utf-8"))
    return [block["code"] for block in found if block["language"] == language]


def run(code: str, folder: Path) -> str:
    """Run a program in a folder of its own, without the developer's keys and files; return what it printed."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "PI_CODING_AGENT_DIR": str(folder / "agent")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("call", "printed"), [("models.stream(", "0.0"), ("register_api_provider(", "Hello\n")])
def test_the_model_layer_answers_as_documented(tmp_path: Path, call: str, printed: str) -> None:
    (program,) = (block for block in blocks("models.md", "python") if call in block)

    assert printed in run(program, tmp_path)


@pytest.mark.parametrize("number", [0, 1])
def test_the_models_files_of_the_page_have_no_problem(tmp_path: Path, number: int) -> None:
    content = blocks("models.md", "json")[number]
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "models.json").write_text(content, encoding="utf-8")
    program = (
        "from pi_core import ModelRegistry\n"
        "models = ModelRegistry.create()\n"
        "problems = models.warnings\n"
        "print(models.exact('ollama', 'qwen3:8b').context_window, problems)"
    )

    assert json.loads(content)["providers"]
    assert run(program, tmp_path) == "40960 []\n"
