"""What docs/acp.md says to editors and programs works as it is written there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings
from pi_testing.patience import PATIENCE

PAGE = (Path(__file__).parents[2] / "docs" / "acp.md").read_text(encoding="utf-8")
ZED, JETBRAINS = (
    json.loads(each)["agent_servers"]["pi"]
    for each in re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
)
(PROGRAM,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    agent_dir = tmp_path / "agent"
    agent_dir.mkdir()
    (agent_dir / "settings.json").write_text('{"defaultProvider": "offline", "defaultModel": "rules"}')
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPYCACHEPREFIX", "TMPDIR"}}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.pop('PATH')}"
    return {**kept, "PATH": path, "HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(agent_dir)}


def test_all_editors_start_the_same_command():
    (neovim,) = re.findall(r'pi = \{ command = "(.*?)", args = \{ "(.*?)" \} \}', PAGE)
    (toad,) = re.findall(r'`toad acp "(.*?)"`', PAGE)

    commands = [[each["command"], *each["args"]] for each in (ZED, JETBRAINS)]
    assert [*commands, [*neovim], shlex.split(toad)] == [["pi", "acp"]] * 4


@pytest.mark.slow
def test_the_command_of_the_settings_answers_an_editor(tmp_path, environ):
    pi = ZED
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}

    done = subprocess.run(
        [pi["command"], *pi["args"]],
        input=json.dumps(hello).encode() + b"\n",
        cwd=tmp_path,
        env={**environ, **pi["env"]},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )

    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["agentInfo"]["name"] == "pi"


@pytest.mark.slow
def test_the_program_edits_a_file(tmp_path, environ):
    (tmp_path / "tide.py").write_text("def tide(hour):\n    return 0\n")
    prompt = 'Replace "return 0" with "return hour % 12" in tide.py'

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, prompt],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tide.py").read_text() == "def tide(hour):\n    return hour % 12\n"
    marks = re.findall(r"\[(Edit [^]]*|diff|end_turn)\]", done.stdout)
    assert marks == ["Edit tide.py: Allow", "diff", "end_turn"]


def test_the_setting_of_the_page_is_one():
    assert PluginHost(Settings.in_memory()).known_settings.find(("acp", "terminal")).default is False
