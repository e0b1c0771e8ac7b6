"""Each kind of plugin code with each kind of misbehaviour: the plugin is named, and the next prompt is answered."""

from __future__ import annotations

import json
import re

import pytest

pytestmark = pytest.mark.slow  # each starts a program that takes seconds

MISBEHAVIOUR = {
    "sleeps": "time.sleep(600)",
    "spins": "while True: pass",
    "matches": 're.match(r"(a+)+$", "a" * 60 + "b")',
    "waits for a program": "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])",
    "swallows": """
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
""",
}

FAILURES = {
    "raises": 'raise ValueError("broken")',
    "exits": "sys.exit(3)",
    "raises what is no Exception": "raise BaseException('odd')",
}

KINDS = {
    "hook": """
@hookimpl
def turn_start(event):
    misbehave()
""",
    "async hook": """
@hookimpl
async def message_end(event):
    await asyncio.sleep(0)
    misbehave()
""",
    "tool": """
@tool
async def bad() -> str:
    "Be bad."
    misbehave()
    return ""

@hookimpl
def register_tools():
    return [bad]
""",
    "command": """
async def handler(arguments, ctx):
    misbehave()

@hookimpl
def register_commands():
    return [Command(name="bad", description="Be bad.", handler=handler)]
""",
    "task": """
async def work():
    await asyncio.sleep(0)
    misbehave()

@hookimpl
async def agent_start(event):
    global task
    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
""",
    "callback": """
@hookimpl
async def agent_start(event):
    asyncio.get_running_loop().call_soon(misbehave)
    await asyncio.sleep(0.01)
""",
}

HEAD = """
import asyncio, re, subprocess, sys, time
from pi_hookspecs import Command, hookimpl, tool

def misbehave():
    {body}
"""

PROMPTS = {"tool": "call bad with {}", "command": "/bad"}


def run(fake, kind, body):
    fake.install("bad", HEAD.format(body=body) + KINDS[kind])
    (fake.agent_dir / "settings.json").write_text(json.dumps({"hooks": {"blockTimeout": 1.2}}))
    return fake.run("--model", "offline/rules", "-p", PROMPTS.get(kind, "hello"), "list the files here")


def named(stderr):
    return set(re.findall(r"Plugin '([^']+)'", stderr))


@pytest.mark.parametrize("body", MISBEHAVIOUR.values(), ids=MISBEHAVIOUR)
@pytest.mark.parametrize("kind", KINDS)
def test_what_blocks_is_named_and_interrupted_and_the_next_prompt_is_answered(fake, kind, body):
    done = run(fake, kind, body)

    assert done.returncode == (1 if kind == "command" else 0), done.stderr
    assert "This folder is empty." in done.stdout
    assert named(done.stderr) == {"bad"}
    assert re.search(r"has blocked everything else for \d+ s in misbehave \(", done.stderr)
    assert "bad.py, line " in done.stderr
    assert "unexpected" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("body", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("kind", ["hook", "async hook", "tool", "command"])
def test_what_raises_is_contained_and_the_next_prompt_is_answered(fake, kind, body):
    done = run(fake, kind, body)

    assert done.returncode == (1 if kind == "command" else 0), done.stderr
    assert "This folder is empty." in done.stdout
    assert named(done.stderr) <= {"bad"}
    assert "unexpected" not in done.stderr


def test_a_plugin_that_ends_the_process_is_named_at_once_and_at_the_next_start_and_what_was_stored_is_kept(fake):
    fake.install("bad", HEAD.format(body="import os; os._exit(7)") + KINDS["tool"])

    done = fake.run("--model", "offline/rules", "-p", "list the files here", "call bad with {}")
    (fake.agent_dir / "settings.json").write_text('{"plugins": {"disabled": ["bad"]}}')
    following = fake.run("--model", "offline/rules", "-c", "-p", "hello")
    after = fake.run("--model", "offline/rules", "-c", "-p", "hello")

    assert done.returncode == 7
    assert "Error: Plugin 'bad' ended pi: it called os._exit(7) in " in done.stderr
    assert "Plugin 'bad' (end): the last pi was ended: it called os._exit(7) in " in following.stderr
    assert following.returncode == 0
    assert "the last pi was ended" not in after.stderr
    stored = "".join(each.read_text() for each in fake.agent_dir.glob("sessions/**/*.jsonl"))
    assert "list the files here" in stored
    assert "call bad with" in stored
