"""The programs on docs/sdk.md are run as they stand there, each in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PAGE = Path(__file__).parents[2] / "docs" / "sdk.md"
PROGRAM = re.compile(r"^## (?P<title>[^\n]*)\n(?:(?!^## ).)*?^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
PROGRAMS = {found["title"]: found["code"] for found in PROGRAM.finditer(PAGE.read_text(encoding="utf-8"))}

CLIENT = """
import asyncio, contextlib, gc
from pi_core.conversation import AgentSession

sessions, settled = [], []
start = AgentSession.start

async def remembered(session):
    if session not in sessions:
        sessions.append(session)
        session.subscribe(lambda event: settled.append(event.aborted), "agent_settled")
    await start(session)

AgentSession.start = remembered

async def ask(question, stays):
    body, gone = [], asyncio.Event()

    async def receive():
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        body.append(message.get("body", b""))
        if not stays and any(body):
            gone.set()
            await asyncio.Event().wait()  # a network that takes no more

    scope = {"type": "http", "method": "GET", "path": "/answer", "headers": [], "query_string": b"q=" + question,
             "asgi": {"version": "3.0"}}
    await app(scope, receive, send)
    return b"".join(body).decode(), len([piece for piece in body if piece])

async def main():
    print(*await ask(b"read%20notes.txt", stays=True), sep="\\n")
    await ask(b"read%20long.txt", stays=False)  # more than waits for a slow consumer
    while len(settled) < 2:
        await asyncio.sleep(0.01)
    print("settled, aborted:", settled)

asyncio.run(main())
"""


@pytest.fixture
def run(tmp_path, pi_plugin_index):
    """Run a program of the page in a folder with notes; ``run(title, *arguments, more="")``."""
    (tmp_path / "notes.txt").write_text("one two three\nfour\n")
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "cache").symlink_to(pi_plugin_index, target_is_directory=True)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(tmp_path / "agent")}

    def finished(title, *arguments, more=""):
        command = [sys.executable, "-W", "error", "-c", PROGRAMS[title] + more, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return finished


def test_every_program_of_the_page_is_run_here():
    code = PAGE.read_text(encoding="utf-8").count("```python")

    assert set(PROGRAMS) == {
        "One answer",
        "Data instead of text",
        "Custom types",
        "A conversation",
        "A web app that streams",
        "Many prompts",
        "A bot with a tool",
    }
    assert len(PROGRAMS) == code


def test_one_answer(run):
    output = run("One answer")

    assert "notes.txt" in output
    assert re.search(r"^[1-9]\d* tokens, 0.0 dollars$", output, re.MULTILINE)


def test_data_instead_of_text(run):
    assert run("Data instead of text") == "4\n"


def test_data_of_your_own_types(run):
    assert run("Custom types") == "Decimal('4')\n"


def test_a_conversation(run):
    output = run("A conversation")

    assert "notes.txt has 4 words" in output
    assert int(output.splitlines()[-1]) > 0


def test_a_web_app_streams_and_stops_when_its_client_goes(run, tmp_path):
    (tmp_path / "long.txt").write_text("five words on each line\n" * 1000)

    output = run("A web app that streams", more=CLIENT)

    assert "one two three\nfour" in output
    assert int(output.splitlines()[-2]) > 5  # pieces
    assert output.splitlines()[-1] == "settled, aborted: [False, True]"


@pytest.mark.slow
def test_many_prompts(run, tmp_path):
    for number in range(49):
        (tmp_path / f"part-{number}.txt").write_text("word " * number)

    assert run("Many prompts") == "50 answers, 0 failed\n"


def test_a_bot_with_a_tool_that_remembers_its_users(run, tmp_path):
    first = run("A bot with a tool", "read hours.txt")
    second = run("A bot with a tool", "read it, please")

    assert "Open from nine to five." in first
    assert "Open from nine to five." in second
    assert len(list((tmp_path / "chats" / "ada").rglob("*.jsonl"))) == 1
