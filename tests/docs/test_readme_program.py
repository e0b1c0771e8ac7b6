"""The programs in README.md, "Use it from Python", and in pi_core's are run as they stand there, each in a folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

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


def test_the_program_streams_an_answer_uses_its_tool_and_keeps_every_event(tmp_path):
    code = PROGRAM.search(README.read_text(encoding="utf-8"))["code"]

    done = run(code, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "Odes\nSonnets\n" in done.stdout
    assert len(code.splitlines()) <= 25
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    kinds = [event["type"] for event in events]
    assert (kinds[0], kinds[-2:]) == ("agent_start", ["agent_end", "agent_settled"])
    updates = [event["assistantMessageEvent"] for event in events if event["type"] == "message_update"]
    shown = {"text_delta": lambda update: update["delta"], "text_end": lambda _: "\n"}
    assert "".join(shown[update["type"]](update) for update in updates if update["type"] in shown) == done.stdout
    (ended,) = (event for event in events if event["type"] == "tool_execution_end")
    assert (ended["toolName"], ended["result"]["content"][0]["text"]) == ("ls", "Odes\nSonnets")


def test_the_short_form_returns_the_text(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tide.py").touch()
    call = SHORT_FORM.search(README.read_text(encoding="utf-8"))[1]

    done = run(f"import pi_core\nprint({call})", tmp_path)

    assert "tide.py" in done.stdout, done.stderr


def test_sessions_of_the_same_services_answer_on_their_own(tmp_path):
    (tmp_path / "tide.py").touch()

    done = run(SESSIONS.search(CORE_README.read_text(encoding="utf-8"))["code"], tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "tide.py" in done.stdout
    assert "did not understand" in done.stdout
