"""A plugin that forks does not make a second pi: the child ends where it comes back, and stores nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")]

FORKS = """
import asyncio, os, sys
from pi_hookspecs import hookimpl, tool

def fork():
    child = os.fork()
    if child == 0:
        return True
    _, status = os.waitpid(child, 0)
    print("child:", os.waitstatus_to_exitcode(status), file=sys.stderr)
    return False

"""

IN_A_HOOK = """
@hookimpl
async def turn_start(event, ctx):
    if fork():
        {leave}
"""

IN_A_TOOL = """
@tool
async def forks() -> str:
    "Fork."
    if fork():
        {leave}
    return "done"

@hookimpl
def register_tools():
    return [forks]
"""

IN_ACTIVATE = """
@hookimpl
def activate(pi):
    if fork():
        {leave}
"""

BY_ITSELF = """
import multiprocessing, os, subprocess, sys
from pi_hookspecs import hookimpl

@hookimpl
def turn_start(event, ctx):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        ctx.ui.notify(f"pool: {pool.apply(pow, (2, 5))}")
    done = subprocess.run([sys.executable, "-c", "print(7)"], preexec_fn=lambda: None, capture_output=True, text=True)
    ctx.ui.notify(f"program: {done.stdout.strip()}")
    if os.fork() == 0:
        os._exit(0)
    os.wait()
"""


def stored(agent_dir: Path) -> list[str]:
    """Return the roles of what was said in the one session that is stored."""
    (file,) = (agent_dir / "sessions").glob("*/*.jsonl")
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    roles = [each["message"]["role"] for each in entries if each["type"] == "message"]
    return [role for role in roles if role != "system"]


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit(3)", 3),
        ("sys.exit()", 0),
        ("return", 1),
        ("raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0, '__repr__': lambda self: 1 / 0})", 1),
        ("await asyncio.sleep(9)", 1),
    ],
)
def test_a_child_that_comes_back_out_of_a_hook_ends_there(fake, leave, code):
    fake.install("forking", FORKS + IN_A_HOOK.format(leave=leave))

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr.count("child:") == 1
    assert done.stderr.endswith(f"child: {code}\n")
    assert ("Plugin 'forking' called os.fork" in done.stderr) == ("exit" not in leave)
    assert stored(fake.agent_dir) == ["user", "assistant"]


def test_a_child_that_comes_back_out_of_a_tool_ends_there(fake):
    fake.install("forking", FORKS + IN_A_TOOL.format(leave="sys.exit(4)"))

    done = fake.run("--model", "fake/tools", "-p", '[["forks", {}]]')

    assert done.returncode == 0
    assert done.stdout.count("Seen:") == 1
    assert done.stderr.count("child: 4") == 1
    assert stored(fake.agent_dir) == ["user", "assistant", "toolResult", "assistant"]


def test_a_child_that_comes_back_out_of_activate_ends_there(fake):
    fake.install("forking", FORKS + IN_ACTIVATE.format(leave="sys.exit(0)"))

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr == "child: 0\n"


def test_children_that_end_by_themselves_are_left_alone(fake):
    fake.install("forking", BY_ITSELF)

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "pool: 32\nprogram: 7\n")
    assert stored(fake.agent_dir) == ["user", "assistant"]
