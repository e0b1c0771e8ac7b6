"""The programs in README.md, "Use it from Python", and in pi_core's are run as they stand there, each in a folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
PROGRAM = re.compile(r"^## Use it from Python\n.*?^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
CORE_README = README.parent / "pi_core" / "README.md"
SESSIONS = re.compile(r"^## Sessions in a program\n.*?^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
SHORT_FORM = re.compile(r"`(pi_core\.run\(.*?\))`")


def run(code, folder):
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "PI_CODING_AGENT_DIR": str(folder / "agent")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_program_streams_an_answer_and_uses_its_tool(tmp_path):
    code = PROGRAM.search(README.read_text(encoding="utf-8"))["code"]

    done = run(code, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "\n\nThe files in poetry" in done.stdout
    assert "Odes\nSonnets\n" in done.stdout
    assert len(code.splitlines()) <= 22


@pytest.mark.slow
def test_the_short_form_returns_the_text(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tide.py").touch()
    call = SHORT_FORM.search(README.read_text(encoding="utf-8"))[1]

    done = run(f"import pi_core\nprint({call})", tmp_path)

    assert "tide.py" in done.stdout, done.stderr


@pytest.mark.slow
def test_sessions_of_the_same_services_answer_on_their_own(tmp_path):
    (tmp_path / "tide.py").touch()

    done = run(SESSIONS.search(CORE_README.read_text(encoding="utf-8"))["code"], tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "tide.py" in done.stdout
    assert "did not understand" in done.stdout
