"""A shell of IPython with the magics, a scripted model, and a user who answers ``input``."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from pi_core import SessionManager
from pi_jupyter.magics import PiMagics


class Shell:
    """A shell; ``run`` executes a cell and returns what it displayed."""

    def __init__(self, shell, magics):
        self.shell = shell
        self.magics = magics
        self.result = None

    def run(self, cell):
        with capture_output() as captured:
            done = self.shell.run_cell(cell, store_history=False)
        self.result = done.result
        final = {}
        for number, each in enumerate(captured.outputs):
            final[(each.transient or {}).get("display_id", number)] = each.data
        html = "\n".join(data.get("text/html", "") for data in final.values())
        plain = "\n".join(data.get("text/plain", "") for data in final.values())
        outputs = [*captured.outputs]
        return SimpleNamespace(
            html=html, plain=plain, printed=captured.stdout + captured.stderr, outputs=outputs, error=done.error_in_exec
        )


@pytest.fixture
def shell(tmp_path, script, pi_host, pi_options, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("NO_COLOR", "1")
    cwd = tmp_path / "work"
    cwd.mkdir()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    stores = (SessionManager.in_memory(cwd), SessionManager.create(cwd, tmp_path / "sessions", host=pi_host))
    magics = PiMagics(
        shell,
        cwd=cwd,
        host=pi_host,
        settings=pi_host.settings,
        model=script.model,
        plugins={"script": script},
        session_manager=stores[pi_options.stored],
        tools=["+*"] if pi_options.tool_names is None else pi_options.tool_names,
    )
    shell.register_magics(magics)
    yield Shell(shell, magics)
    magics.close()
    InteractiveShell.clear_instance()


@pytest.fixture
def user(monkeypatch):
    """The answers of the user to ``input``; none means that there is no user. ``asked`` has the prompts."""
    answers, asked = [], []

    def answer(prompt=""):
        asked.append(prompt)
        if not answers:
            raise EOFError
        return answers.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    return SimpleNamespace(answers=answers, asked=asked)
