"""The agents for Harbor and Inspect AI, with the real packages; ``tools/install_evaluation_tools.py`` installs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "adapters"
SOURCE = Path(__file__).parents[1] / "src" / "pi_eval"
TOOLS = Path(__file__).parents[4] / ".evaluation-tools"
SCRIPTS = Path(sys.executable).parent

pytestmark = pytest.mark.slow


@pytest.fixture
def run_in(tmp_path):
    """Runs a script in the environment of a package, and returns what it prints."""

    def run(environment, script, *arguments):
        python = TOOLS / environment / "bin" / "python"
        if not python.exists():
            pytest.skip(f"{environment} is not installed; run tools/install_evaluation_tools.py")
        done = subprocess.run(
            [python, HERE / script, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_harbors_converter_reads_a_session_of_its_own_command_line(run_in, tmp_path):
    place = tmp_path / "home"
    place.mkdir()

    outcome = run_in("harbor", "run_harbor.py", SOURCE / "harbor.py", SCRIPTS, place)

    assert outcome["name"] == "pluggypi"
    assert "pi --print --mode json" in outcome["command"]
    assert "--max-turns 7" in outcome["command"]
    assert outcome["stripped"].strip() == "pi --x"
    assert outcome["steps"] == [["user", []], ["agent", ["read"]], ["agent", []]]
    assert all(outcome["tokens"])


def test_inspect_answers_the_requests_of_pi_and_scores_what_it_did(run_in, tmp_path):
    outcome = run_in("inspect", "run_inspect.py", SOURCE / "inspect_agent.py", SCRIPTS / "pi", tmp_path / "logs")

    assert (outcome["status"], outcome["error"], outcome["score"]) == ("success", None, "C")
    assert outcome["messages"][0] == ["user", "Make a file"]
    assert outcome["messages"][2] == ["tool", "words\n"]
    assert outcome["messages"][3] == ["assistant", "The file is made."]
