"""Scripts that misbehave: each ends, harms nothing, and the model learns what was wrong; the next script works."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

import pi_codemode
import pi_tools
from pi_codemode.script_process import can_confine
from pi_hookspecs import Tool, ToolCallResult, ToolResult, hookimpl
from pi_testing import tool_call
from pi_testing.patience import PATIENCE

pytestmark = [
    pytest.mark.slow,  # each starts a process, and some run into a deadline
    pytest.mark.skipif(not can_confine(), reason="this kernel cannot confine programs"),
]


class Guard:
    """Blocks a tool, and counts how often it was asked."""

    asked = 0

    @hookimpl
    def tool_call(self, event):
        self.asked += 1
        return ToolCallResult(block=True, reason="not today") if event.tool_name == "blocked" else None


class Tools:
    """A tool that is blocked, one that never ends, and one that waits until that has begun."""

    def __init__(self):
        self.waiting = asyncio.Event()
        self.cancelled = asyncio.Event()

    @hookimpl
    def register_tools(self):
        async def blocked(*_):
            raise AssertionError("a blocked tool ran")

        async def waits(*_):
            self.waiting.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()

        async def begun(*_):
            await self.waiting.wait()
            return ToolResult()

        parameters = {"type": "object"}
        return [
            Tool(name="blocked", description="Blocked.", parameters=parameters, execute=blocked),
            Tool(name="waits", description="Waits.", parameters=parameters, execute=waits),
            Tool(name="begun", description="Waits for its beginning.", parameters=parameters, execute=begun),
        ]


@pytest.fixture
def guard():
    return Guard()


@pytest.fixture
def tools():
    return Tools()


@pytest.fixture
def pi_plugins(guard, tools):
    return {"codemode": pi_codemode, "tools": pi_tools, "guard": guard, "more": tools}


BAD = {
    "a loop": ("while True: pass", "Script timed out after 1 seconds"),
    "a loop that catches everything": (
        "while True:\n    try:\n        pass\n    except BaseException:\n        pass",
        "Script timed out after 1 seconds",
    ),
    "a fork": ("import os\nos.fork()", "PermissionError"),
    "forks without end": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        "Script timed out after 1 seconds",
    ),
    "processes of a pool": (
        "import multiprocessing\nmultiprocessing.get_context('fork').Process(target=print).start()",
        "Error",
    ),
    "the end of pi": (
        "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0))",
        "PermissionError",
    ),
    "a mode of a file": ("import os\nos.chmod(os.path.expanduser('~'), 0o700)", "PermissionError"),
    "a program": ("import subprocess\nsubprocess.run(['/bin/sh', '-c', 'id'])", "PermissionError"),
    "the environment of pi": ("open(f'/proc/{__import__(\"os\").getppid()}/environ', 'rb').read()", "PermissionError"),
    "its own memory of pi": ("open('/proc/self/environ', 'rb').read()", "PermissionError"),
    "a module that is not there": ("import numpy", "ModuleNotFoundError: No module named 'numpy'"),
    "a gigabyte of output": ("line = 'x' * 1023 + '\\n'\nfor _ in range(1 << 20):\n    print(line, end='')", "16 MB"),
    "a gigabyte in one piece": ("print('x' * (1 << 30))", "16 MB"),
    "a gigabyte as the value": ("'x' * (1 << 30)", "the value of the script is larger than 16 MB"),
    "a gigabyte as data": ("['x' * 1024] * (1 << 20)", "the value of the script is larger than 16 MB"),
    "a message of its own": ("import os\nos.write(3, b'{\"type\": \"call\"}\\n' * 3)\nos.write(4, b'no\\n' * 3)", ""),
    "recursion into code mode": ("await codemode(code='1')", "NameError: name 'codemode' is not defined"),
    "recursion by the list of tools": ("await tools['codemode'](code='1')", "KeyError: 'codemode'"),
    "endless recursion": ("def f():\n    return f()\nf()", "RecursionError"),
    "the end of the process": ("import os\nos._exit(3)", "it ended with exit code 3"),
    "a crash": ("import ctypes\nctypes.string_at(0)", ""),
}


@pytest.mark.pi(settings={"codemode": {"enabled": True}})
@pytest.mark.parametrize("name", BAD)
async def test_a_bad_script_ends_and_the_next_one_works(ran, pi_session, name):
    code, reason = BAD[name]

    result = await ran(code, timeout=1 if "timed out" in reason else 60)
    after = await ran("1 + 1")

    assert result.is_error
    assert reason in result.text
    assert len(result.text) < 60_000
    assert (after.text, after.is_error) == ("2", False)
    assert await _no_children()
    assert [*Path(pi_session.cwd).iterdir()] == []


@pytest.mark.pi(settings={"codemode": {"enabled": True}})
async def test_a_script_that_calls_a_blocked_tool_in_a_loop_is_ended(ran, guard):
    result = await ran("while True:\n    try:\n        await blocked()\n    except ToolError:\n        pass")

    assert result.is_error
    assert "made 1000 calls, and went on although more are refused" in result.text
    assert guard.asked == 1001  # of the script itself, and of its calls


@pytest.mark.pi(settings={"codemode": {"enabled": True}})
async def test_calls_that_a_script_leaves_running_are_cancelled_with_it(ran, tools):
    result = await ran(
        "import asyncio\nleft = [asyncio.ensure_future(waits()) for _ in range(3)]\nawait begun()\nlen(left)"
    )

    assert (result.text, result.is_error) == ("3", False)
    assert tools.waiting.is_set()
    assert tools.cancelled.is_set()


@pytest.mark.pi(settings={"codemode": {"enabled": True}})
async def test_an_abort_ends_a_script_and_its_calls(pi_session, script, tools):
    script.turn(tool_call("codemode", code="await gather(waits(), waits())"))
    running = asyncio.create_task(pi_session.prompt("go"))
    await asyncio.wait_for(tools.waiting.wait(), PATIENCE)
    await pi_session.abort()
    await asyncio.wait_for(running, PATIENCE)

    assert tools.cancelled.is_set()
    assert await _no_children()


async def _no_children():
    """Return whether the processes of scripts end; what was killed needs a moment to be gone."""
    for _ in range(200):
        if not _children():
            return True
        await asyncio.sleep(0.05)
    return False


def _children():
    """Return the processes below this one that run scripts."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, IndexError):
            continue
        if b"script_host.py" in command and state[0] != "Z" and _is_below(int(state[1])):
            found.append(command)
    return found


def _is_below(pid):
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False
