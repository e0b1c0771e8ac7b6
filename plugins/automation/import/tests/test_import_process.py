"""The real ``pi`` in a fresh home: takes Claude Code over, runs its hook, and continues its conversation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow

SESSION = "4f35e220-c435-4cf7-b9b9-f40426042847"
GUARD = """import json, sys
call = json.load(sys.stdin)
if "forbidden" in call["tool_input"]["command"]:
    sys.stderr.write("no forbidden commands")
    sys.exit(2)
"""


@pytest.fixture
def pi(tmp_path):
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("PI_", "CLAUDE_"))}
    environ |= {"HOME": str(home), "OLLAMA_HOST": "http://127.0.0.1:9"}

    def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("pi")), *arguments]
        return subprocess.run(
            command, cwd=work, env=environ, input=given, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    run.home, run.work = home, work
    return run


def test_claude_code_is_taken_over_its_hook_refuses_and_its_conversation_goes_on(pi):
    folder = pi.home / ".claude"
    projects = folder / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(pi.work))
    projects.mkdir(parents=True)
    (folder / "guard.py").write_text(GUARD)
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": f"{sys.executable} ~/.claude/guard.py"}]}
    (folder / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    common = {"isSidechain": False, "cwd": str(pi.work), "sessionId": SESSION, "timestamp": "2026-01-20T11:57:17.716Z"}
    question = {**common, "uuid": "u", "parentUuid": None, "type": "user"}
    answer = {**common, "uuid": "a", "parentUuid": "u", "type": "assistant"}
    block = {"type": "text", "text": "Forty-two tides."}
    lines = [
        {**question, "message": {"role": "user", "content": "How many tides?"}},
        {**answer, "message": {"id": "m", "role": "assistant", "model": "claude-opus-4-5", "content": [block]}},
    ]
    (projects / f"{SESSION}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))

    dry = pi("import", "claude", "--dry-run")
    files = [file for file in (pi.home / ".pi").rglob("*") if file.is_file() and "cache" not in file.parts]
    done = pi("import", "claude")
    again = pi("import", "claude")
    doctor = pi("doctor")
    refused = pi("-p", "--model", "offline/rules", "Run `echo forbidden`")
    runs = pi("-p", "--model", "offline/rules", "Run `echo welcome`")
    continued = pi("-p", "--session", SESSION, "--model", "offline/rules", "Run `echo more`")
    stored = next((pi.home / ".pi" / "agent" / "sessions").rglob(f"*{SESSION}.jsonl")).read_text()

    assert "Nothing was changed (--dry-run): 2 imported" in dry.stdout
    assert files == []
    assert "2 changes made. pi -r lists the sessions." in done.stdout
    assert "0 imported, 0 imported with changes, 2 already here" in again.stdout
    assert "Claude Code" not in doctor.stdout
    assert "no forbidden commands" in refused.stdout + refused.stderr
    assert "welcome" in runs.stdout
    assert continued.returncode == 0, continued.stderr
    assert "How many tides?" in stored
    assert stored.count('"role":"assistant"') >= 2


def test_a_project_that_is_not_trusted_changes_nothing_and_runs_nothing(pi):
    pi.home.mkdir()
    marker = pi.work / "marker"
    (pi.work / ".claude").mkdir()
    hook = {"hooks": [{"type": "command", "command": f"touch '{marker}'"}]}
    settings = {"hooks": {"PreToolUse": [hook], "UserPromptSubmit": [hook]}}
    (pi.work / ".claude" / "settings.json").write_text(json.dumps(settings))
    (pi.work / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": {"command": "touch", "args": [str(marker)]}}}))
    (pi.work / ".pi").mkdir()
    (pi.work / ".pi" / "hooks.json").write_text(json.dumps({"hooks": settings["hooks"]}))

    taken = pi("import", "claude")
    asked = pi("-p", "--model", "offline/rules", "Run `echo welcome`")

    assert "this folder is not trusted: run pi trust first, or add --approve" in taken.stdout
    assert not (pi.home / ".pi" / "agent" / "mcp.json").exists()
    assert not (pi.home / ".pi" / "agent" / "hooks.json").exists()
    assert "welcome" in asked.stdout
    assert ".pi/hooks.json" in asked.stderr
    assert not marker.exists()
