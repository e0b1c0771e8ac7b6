"""Notebooks in a real kernel: that of docs/notebooks.md, the stop button, and questions."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from pi_testing.patience import PATIENCE

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        find_spec("nbclient") is None, reason="needs nbclient: uv run python tools/heavy_environments.py jupyter --test"
    ),
    pytest.mark.filterwarnings("default"),  # those of Jupyter
]

PAGE = Path(__file__).parents[4] / "docs" / "notebooks.ipynb"


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

    NotebookClient(book, timeout=PATIENCE, resources={"metadata": {"path": str(home)}}).execute()

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

    def run(self, code: str, *answers: str, stop_at: str = "", click: str = "") -> tuple[str, dict]:
        """Execute a cell; return what it displayed, and its reply.

        Args:
            code: The cell.
            answers: What the user answers to questions.
            stop_at: Press the stop button when this is displayed.
            click: Click on the button with this label.
        """
        shown, waiting, stopped, buttons = "", [*answers], [], {}

        def display(message: dict) -> None:
            nonlocal shown
            content = message["content"]
            state = content.get("data", {}).get("state", {})
            if message["msg_type"] == "comm_open" and state.get("_model_name") == "ButtonModel":
                buttons[state["description"]] = content["comm_id"]
            if click in buttons:
                self._click(buttons.pop(click))
            shown += content.get("text", "") + content.get("data", {}).get("text/plain", "")
            if stop_at and stop_at in shown and not stopped:
                stopped.append(True)
                self.manager.interrupt_kernel()

        def answer(message: dict) -> None:
            self.client.input(waiting.pop(0))

        reply = self.client.execute_interactive(
            code, timeout=PATIENCE, output_hook=display, stdin_hook=answer, allow_stdin=True
        )
        return shown, reply["content"]

    def _click(self, comm: str) -> None:
        data = {"method": "custom", "content": {"event": "click"}}
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        self.client.shell_channel.send(message)


@pytest.fixture
def kernel(home, pi_agent_dir) -> Kernel:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(cwd=str(home), startup_timeout=PATIENCE)
    (pi_agent_dir / "settings.json").write_text('{"guardrails": {"enabled": true}}')
    kernel = Kernel(manager, client)
    kernel.run("%load_ext pi\n%pi_model offline/rules")
    yield kernel
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("dialogs", ["input", "widgets"])
def test_the_stop_button_ends_an_answer_and_the_conversation_continues(kernel, dialogs) -> None:
    kernel.run(f"%pi_dialogs {dialogs}")

    _, stopped = kernel.run("%%pi\nrun `sleep 600`", stop_at="sleep 600")
    after, _ = kernel.run("%pi Write a.txt: high at 6")

    assert (stopped["status"], stopped["ename"]) == ("error", "Stopped")
    assert "Wrote a.txt" in after


@pytest.mark.parametrize(
    ("dialogs", "refusal", "agreement"),
    [("input", {"answers": ("",)}, {"answers": ("1",)}), ("widgets", {"click": "Refuse"}, {"click": "Allow once"})],
)
def test_a_question_is_answered(kernel, home, dialogs, refusal, agreement) -> None:
    build = home / "build"
    build.mkdir()
    kernel.run(f"%pi_dialogs {dialogs}")

    def answered(cell: str, answers: tuple[str, ...] = (), click: str = "") -> tuple[str, dict]:
        return kernel.run(cell, *answers, click=click)

    _, refused = answered("%%pi\nrun `rm -rf build`", **refusal)
    was_there = build.exists()
    asked, agreed = answered("answer = %pi --new run `rm -rf build`", **agreement)
    value, _ = kernel.run("answer.text")

    assert (refused["status"], agreed["status"]) == ("ok", "ok"), (refused, agreed)
    assert ("\n1. Allow" in asked) == (dialogs == "input")
    assert was_there
    assert not build.exists()
    assert "build" in value


def test_the_stop_button_ends_a_question(kernel, home) -> None:
    (home / "build").mkdir()

    _, stopped = kernel.run("%%pi\nrun `rm -rf build`", stop_at="VBox")

    assert stopped["ename"] == "Stopped"
    assert (home / "build").exists()
