"""Notebooks in a real kernel: that of docs/notebooks.md, the stop button, and questions."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        find_spec("nbclient") is None, reason="needs nbclient: uv run python tools/heavy_environments.py jupyter --test"
    ),
    pytest.mark.filterwarnings("default"),  # those of Jupyter
]

PAGE = Path(__file__).parents[4] / "docs" / "notebooks.ipynb"
SECONDS = 60
"""After which a kernel that hangs fails the test; nothing is measured with it."""


@pytest.fixture
def home(tmp_path, pi_agent_dir, monkeypatch) -> Path:
    """The folder in which the kernel works."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def stable(outputs: list[dict]) -> list[dict]:
    """Return outputs without what differs from run to run."""
    text = re.sub(r"\b\d+(\.\d+)? m?s\b", "0 s", json.dumps(outputs))
    return [{key: value for key, value in each.items() if key != "metadata"} for each in json.loads(text)]


def test_the_page_of_the_documentation_is_executed_as_it_is_printed(home) -> None:
    import nbformat
    from nbclient import NotebookClient

    printed = nbformat.read(PAGE, as_version=4)
    book = nbformat.read(PAGE, as_version=4)

    NotebookClient(book, timeout=SECONDS, resources={"metadata": {"path": str(home)}}).execute()

    book.metadata = printed.metadata
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    if os.environ.get("WRITE_SNAPSHOTS"):
        nbformat.write(book, PAGE)
        return
    for cell, known in zip(book.cells, printed.cells, strict=True):
        if cell.cell_type == "code":
            assert stable(cell.outputs) == stable(known.outputs), cell.source


class Kernel:
    """A kernel with a user."""

    def __init__(self, manager, client) -> None:
        self.manager = manager
        self.client = client

    def run(self, code: str, *answers: str, stop_at: str = "") -> tuple[str, dict]:
        """Execute a cell; return what it displayed, and its reply.

        Args:
            code: The cell.
            answers: What the user answers to questions.
            stop_at: Press the stop button when this is displayed.
        """
        shown, waiting, stopped = "", [*answers], []

        def display(message: dict) -> None:
            nonlocal shown
            content = message["content"]
            shown += content.get("text", "") + content.get("data", {}).get("text/plain", "")
            if stop_at and stop_at in shown and not stopped:
                stopped.append(True)
                self.manager.interrupt_kernel()

        def answer(message: dict) -> None:
            self.client.input(waiting.pop(0))

        reply = self.client.execute_interactive(
            code, timeout=SECONDS, output_hook=display, stdin_hook=answer, allow_stdin=True
        )
        return shown, reply["content"]


@pytest.fixture
def kernel(home, pi_agent_dir) -> Kernel:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(home), startup_timeout=SECONDS)
    (pi_agent_dir / "settings.json").write_text('{"guardrails": {"enabled": true}}')
    kernel = Kernel(manager, client)
    kernel.run("%load_ext pi_jupyter\n%pi_model offline/rules")
    yield kernel
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_the_stop_button_ends_an_answer_and_a_question_is_answered(kernel, home) -> None:
    build = home / "build"
    build.mkdir()

    _, stopped = kernel.run("%%pi\nrun `sleep 60`", stop_at="sleep 60")
    _, refused = kernel.run("%%pi\nrun `rm -rf build`", "")
    was_there = build.exists()
    asked, agreed = kernel.run("%%pi --new\nrun `rm -rf build`", "1")

    assert (stopped["status"], stopped["ename"]) == ("error", "Stopped")
    assert (refused["status"], agreed["status"]) == ("ok", "ok"), (refused, agreed)
    assert "\n1. Allow" in asked, asked
    assert was_there
    assert not build.exists()
