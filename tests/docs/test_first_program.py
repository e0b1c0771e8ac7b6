"""A first program that embeds pi: two tools, the text as it grows, and what it cost."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio
from pi_core import create_agent_session

def show(event):
    if event.type == "message_update" and event.assistant_message_event.type == "text_delta":
        print(event.assistant_message_event.delta, end="", flush=True)

async def main():
    async with create_agent_session(model="offline/rules", tools=["read", "grep"]) as session:
        session.subscribe(show)
        await session.prompt("read tides.txt")
        print(session.get_session_stats().cost)

asyncio.run(main())
"""


def run(program, folder):
    (folder / "tides.txt").write_text("Low at six.\n")
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "PI_CODING_AGENT_DIR": str(folder / "agent")}
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_it_prints_the_answer_as_it_grows_and_its_cost(tmp_path):
    done = run(PROGRAM, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "Low at six." in done.stdout
    assert done.stdout.endswith("0.0\n")


@pytest.mark.slow
def test_subscribing_to_one_kind_of_delta_is_short_for_the_same(tmp_path):
    head, rest = PROGRAM.split("def show(event):")
    function = "\n    print(event.assistant_message_event.delta, end='', flush=True)\n"
    short = f"{head}def show(event):{function}\nasync def{rest.partition('async def')[2]}"

    done = run(short.replace("subscribe(show)", 'subscribe(show, "text_delta")'), tmp_path)

    assert done.stdout == run(PROGRAM, tmp_path).stdout
