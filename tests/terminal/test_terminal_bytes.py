"""Whatever files, models, sessions and plugins are called and say: every sequence that reaches a terminal is of pi."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudoterminals")

HOSTILE = (
    "a\x1b]52;c;b3duZWQ=\x07b\x1b]0;owned\x1b\\c\x1bPq\x1b\\d\x1bce\x9b2Jf\x1b[2J\x1b[?1049hg\u202eh\x08\x0ei\x1b[31"
)
LOOKS = 15
"""After so many looks without output, and with nothing to compute, a program waits for keys."""

SEEN = r"[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
PLAIN = re.compile(rf"(?:{SEEN}|\r|\n|\t|\x1b\[[0-9;]*m)*")
"""What a command may write: text, line ends and colours."""

SCREEN = re.compile(
    rf"(?:{SEEN}|\r|\n"
    r"|\x1b\[[0-9]+;[0-9]+r|\x1b\[r|\x1bM"  # rows that scroll, by line ends or the other way
    r"|\x1b\[[0-9;]*[mH]|\x1b\[K|\x1b\[2J|\x1b\[2[23];0t"  # colours, positions, ends of rows, one clear, the title kept
    r"|\x1b\[\?(?:25|7|1000|1002|1003|1004|1006|1015|1049|2004|2026|2048)[hl]|\x1b\[\?2026\$p|\x1b\[>25u|\x1b\[<u"
    r"|\x1b\[\?u|\x1b\[c|\x1b\[>4(?:;2)?m"  # asks for the protocol of keys, and takes xterm's
    rf"|\x1b\]0;{SEEN}*\x07|\x1b\]8;[^\x00-\x1f]*\x1b\\|\x1b\]11;\?(?:\x07|\x1b\\)|\x1b\]22;[a-z]*\x07)*"
)
"""What the screen may write, besides: what it draws with."""

EXTENSION = f"""
from pi_hookspecs import Command, Line, Run, hookimpl


@hookimpl
def register_commands():
    async def nothing(args, ctx):
        pass

    return [Command(name="tide", description={HOSTILE!r}, handler=nothing)]


@hookimpl
def session_start(event, ctx):
    ctx.ui.set_status("tide", {HOSTILE!r})
    ctx.ui.set_widget("tide", [{HOSTILE!r}, Line.of(Run({HOSTILE!r}))])
    ctx.ui.notify({HOSTILE!r}, "warning")
    ctx.ui.set_title({HOSTILE!r})
"""


@pytest.fixture
def home(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which everything that has a name has a hostile one; ``PWD`` is the working directory."""
    work, agent = tmp_path / HOSTILE.replace("/", ""), tmp_path / "agent"
    (agent / "extensions").mkdir(parents=True)
    work.mkdir()
    (work / ".git").mkdir()
    (work / ".git" / "HEAD").write_text(f"ref: refs/heads/{HOSTILE}\n")
    (agent / "extensions" / "tide.py").write_text(EXTENSION)
    provider = {"baseUrl": "http://127.0.0.1:9", "api": "openai-completions", "apiKey": "k"}
    models = [{"id": f"tide{HOSTILE}", "name": HOSTILE}]
    (agent / "models.json").write_text(json.dumps({"providers": {"harbour": {**provider, "models": models}}}))
    (tmp_path / "talk.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in _entries(work)))
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(tmp_path),
        "PWD": str(work),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "PI_CODING_AGENT_DIR": str(agent),
        "PI_OFFLINE": "1",
    }


def _entries(work: Path) -> list[dict[str, object]]:
    stamp = "2026-01-01T00:00:00.000Z"
    call = {"type": "toolCall", "id": "c1", "name": HOSTILE, "arguments": {"path": HOSTILE, "x": HOSTILE}}
    who = {"api": "openai-completions", "provider": "offline", "model": HOSTILE, "stopReason": "toolUse"}
    usage = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2}
    cost = {"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}}
    said = [{"type": "text", "text": f"**{HOSTILE}** [l](https://a.example/{HOSTILE})\n\n```{HOSTILE}\n{HOSTILE}\n```"}]
    messages: list[dict[str, object]] = [
        {"role": "user", "content": [{"type": "text", "text": HOSTILE}]},
        {"role": "assistant", "content": [*said, call], **who, "usage": {**usage, **cost}},
        {"role": "toolResult", "toolCallId": "c1", "toolName": HOSTILE, "content": said, "isError": False},
        {
            "role": "bashExecution",
            "command": HOSTILE,
            "output": HOSTILE,
            "exitCode": 0,
            "cancelled": False,
            "truncated": False,
        },
    ]
    rows: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "t1", "timestamp": stamp, "cwd": str(work)}
    ]
    parent = None
    for number, message in enumerate(messages):
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": stamp}
        rows.append({**entry, "message": {**message, "timestamp": 1_767_268_800_000 + number}})
        parent = f"{number:08x}"
    named = {"type": "session_info", "id": "ffffffff", "parentId": parent, "timestamp": stamp, "name": HOSTILE}
    return [*rows, named]


def written(home: Mapping[str, str], *arguments: str, ready: str = "", keys: Sequence[str] = ()) -> str:
    """Return all that ``pi`` writes to a terminal of 90x30.

    Args:
        home: The environment.
        arguments: The command line.
        ready: A text; once it is there, keys are typed.
        keys: What is typed, each when ``pi`` has written all that the one before led to.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 90, 0, 0))
    command = [sys.executable, "-P", "-m", "pi_cli", *arguments]
    streams = {"stdin": its, "stdout": its, "stderr": its}
    process = subprocess.Popen(command, **streams, cwd=home["PWD"], env=home, start_new_session=True)
    os.close(its)
    try:
        data = _read(ours, psutil.Process(process.pid), ready, [*keys])
        assert process.wait(PATIENCE) == 0, data.decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return data.decode()


def _read(descriptor: int, process: psutil.Process, ready: str, keys: list[str]) -> bytes:
    data, looks, end = b"", 0, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([descriptor], [], [], 0.02)[0]:
            looks = 0
            try:
                data += os.read(descriptor, 65536)
            except OSError:  # the program has ended
                return data
        elif process.status() in {psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP}:
            looks = 0
        elif looks < LOOKS:
            looks += 1
        elif keys and ready in data.decode(errors="replace"):
            os.write(descriptor, keys.pop(0).encode())
            looks = 0
    raise AssertionError(f"{keys!r} are not typed, or it does not end: {data.decode(errors='replace')!r}")


def rest(allowed: re.Pattern[str], text: str) -> str:
    """Return what follows the part of a text that is allowed; empty for a text that is allowed as a whole."""
    found = allowed.match(text)
    return text[found.end() if found else 0 :][:80]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["plugins"], ["--list-models"]], ids=" ".join)
def test_a_command_writes_text_and_colours(home: Mapping[str, str], arguments: list[str]) -> None:
    text = written(home, *arguments)

    assert rest(PLAIN, text) == ""
    assert "tide" in text


@pytest.mark.slow
def test_an_answer_and_the_list_of_sessions_are_text_and_colours(home: Mapping[str, str], tmp_path: Path) -> None:
    stored = str(tmp_path / "talk.jsonl")

    answer = written(home, "--model", "offline/rules", "--session", stored, "-p", f"say {HOSTILE}")
    written(home, "--model", "offline/rules", "-p", f"say {HOSTILE}")
    sessions = written(home, "sessions", "list")

    assert rest(PLAIN, answer) == rest(PLAIN, sessions) == ""
    assert "say a" in sessions


@pytest.mark.slow
def test_the_screen_writes_only_what_it_draws_with(home: Mapping[str, str], tmp_path: Path) -> None:
    arguments = ["--model", "offline/rules", "--session", str(tmp_path / "talk.jsonl")]

    keys = ["/session\r", "/tree\r", "\x1b[A\x1b[B", "\x1b[27u", "/he", "lp\r", "\x0f", "\x1b[5~", "!echo hi\r", "\x04"]

    text = written(home, *arguments, ready="rules", keys=keys)

    assert rest(SCREEN, text) == ""
    assert text.count("\x1b[?1049h") == 1
    assert "]0;owned" not in text


@pytest.mark.slow
def test_the_line_mode_writes_no_sequence_of_others(home: Mapping[str, str], tmp_path: Path) -> None:
    arguments = ["--tui-mode", "regular", "--model", "offline/rules", "--session", str(tmp_path / "talk.jsonl")]

    text = written(home, *arguments, ready="rules", keys=["/session\r", "/help\r", "/quit\r"])

    for harm in ("\x1b]52", "]0;owned\x1b", "\x1bP", "\x1bc", "\x9b", "\x1b[?1049h", "\u202e", "\x08\x0e"):
        assert harm not in text, harm
