"""What plugins leave behind, block or cancel does not keep pi from ending, and from saying how."""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING

import pytest

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # each starts programs that take seconds

TASK = """
import asyncio
from pi_hookspecs import hookimpl

async def stubborn():
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass

@hookimpl
def session_start(event):
    global task
    task = asyncio.get_running_loop().create_task(stubborn())
"""

THREAD = """
import threading, time
from pi_hookspecs import hookimpl

@hookimpl
def session_start(event):
    threading.Thread(target=time.sleep, args=[50], name="sleeper").start()
"""

OWN_THREAD = """
import threading, time
from pi_hookspecs import hookimpl

def work():
    time.sleep(600)

@hookimpl
def session_start(event):
    threading.Thread(target=work, name="worker").start()
"""

EXIT_HANDLER = """
import atexit, time

def wait():
    time.sleep(600)

atexit.register(wait)

from pi_hookspecs import hookimpl

@hookimpl
def turn_start(event):
    pass
"""

BLOCKED = """
import time
from pi_hookspecs import hookimpl

@hookimpl
def {hook}(event, ctx):
    ctx.ui.notify("blocked")
    time.sleep(600)
"""

STOPS = """
import asyncio
from pi_hookspecs import hookimpl

@hookimpl
async def turn_start(event):
    asyncio.get_running_loop().stop()
    await asyncio.sleep(600)

@hookimpl
def session_shutdown(event):
    pass
"""

CANCELS = """
import asyncio
from pi_hookspecs import hookimpl

@hookimpl
async def {hook}(event):
    asyncio.current_task().cancel()
    await asyncio.sleep(1)
"""


STUBBORN = """
import asyncio
from pi_hookspecs import hookimpl

@hookimpl
async def {hook}(event, ctx):
    ctx.ui.notify("waiting")
    while True:
        try:
            await asyncio.sleep(600)
        except BaseException:
            pass
"""


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (TASK, "task 'stubborn' of plugin 'leaving'"),
        (OWN_THREAD, "thread 'worker' of plugin 'leaving'"),
        (THREAD, "thread 'sleeper'"),  # it runs none of the plugin's code
    ],
)
def test_what_a_plugin_leaves_running_is_named_and_left(fake, source, name):
    fake.install("leaving", source)

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr == f"Warning: pi exits although something that a plugin started is still running: {name}\n"


def test_exit_handler_that_does_not_end_is_named_and_left(fake):
    fake.install("waiting", EXIT_HANDLER)

    done = fake.run("--model", "fake/fail", "-p", "hello")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        "Warning: pi exits although something that a plugin started is still running: "
        f"exit handler 'wait' ({fake.site / 'waiting.py'}, line 4)"
    )


def test_thread_that_ends_in_time_is_waited_for(fake):
    fake.install("leaving", THREAD.replace("args=[50]", "args=[0.5]"))

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


@pytest.mark.parametrize(
    ("hook", "stored"),
    [
        ("session_start", None),
        ("input", ["user"]),
        ("before_agent_start", ["user"]),
        ("turn_start", ["user", "assistant"]),
        ("agent_end", ["user", "assistant"]),
        ("session_shutdown", ["user", "assistant"]),
    ],
)
def test_plugin_that_cancels_pi_is_named_in_one_line_and_the_prompt_is_kept(fake, hook, stored):
    fake.install("cancelling", CANCELS.format(hook=hook))

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    where = "raised it (in" if hook == "session_shutdown" else f"hook that ran: {hook}"
    assert where in done.stderr
    assert "plugin 'cancelling'" in done.stderr
    assert roles_stored(fake.agent_dir) == stored


def roles_stored(agent_dir: Path) -> list[str] | None:
    """Return the roles of what was said in the one session that is stored; None where none is."""
    for file in (agent_dir / "sessions").glob("*/*.jsonl"):
        entries = [json.loads(line) for line in file.read_text().splitlines()]
        roles = [each["message"]["role"] for each in entries if each["type"] == "message"]
        return [role for role in roles if role != "system"]
    return None


@pytest.mark.parametrize("hook", ["session_start", "before_agent_start", "agent_end"])
def test_the_plugin_that_stops_the_event_loop_is_named_also_where_other_hooks_run_until_it_has_stopped(fake, hook):
    fake.install("stopping", STOPS.replace("turn_start", hook).replace("    await asyncio.sleep(600)\n", ""))

    done = fake.run("--model", "offline/rules", "-p", "hello")

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Event loop stopped before Future completed. (plugin 'stopping' stopped it)" in done.stderr


def test_the_error_of_a_stopped_event_loop_names_the_plugin(fake):
    fake.install("stopping", STOPS)

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert done.returncode == 1
    assert "Error: unexpected RuntimeError: Event loop stopped" in done.stderr
    assert "(plugin 'stopping' stopped it)" in done.stderr


def test_one_polite_kill_ends_a_blocked_event_loop(fake):
    fake.install("blocked", BLOCKED.format(hook="turn_start"))
    process = fake.start("--model", "fake/echo", "-p", "hi")
    assert process.stderr.readline() == b"blocked\n"

    process.send_signal(signal.SIGTERM)

    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert b"Traceback" not in err


def test_hook_that_swallows_every_cancellation_is_named_and_the_answer_comes(fake):
    fake.install("stubborn", STUBBORN.format(hook="before_agent_start"))
    (fake.agent_dir / "settings.json").write_text('{"hooks": {"plugins": {"stubborn": {"timeout": 0.2}}}}')

    done = fake.run("--model", "fake/echo", "-p", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "Plugin 'stubborn' failed in before_agent_start" in done.stderr
    assert "it ignored every cancellation" in done.stderr


@pytest.mark.parametrize("hook", ["session_start", "before_agent_start"])
def test_one_ctrl_c_ends_a_hook_that_swallows_every_cancellation(fake, hook):
    fake.install("stubborn", STUBBORN.format(hook=hook))
    process = fake.start("--model", "fake/echo", "-p", "hi")
    assert process.stderr.readline() == b"waiting\n"

    process.send_signal(signal.SIGINT)

    _, err = process.communicate(timeout=PATIENCE)  # the hook's own deadline is ten minutes
    assert process.returncode == 130
    assert b"Plugin 'stubborn' failed in " + hook.encode() in err
    assert err.endswith(b"Aborted\n")


def test_a_blocking_hook_is_reported_while_it_blocks(fake):
    fake.install("blocked", BLOCKED.format(hook="turn_start"))
    process = fake.start("--model", "fake/echo", "-p", "hi")
    assert process.stderr.readline() == b"blocked\n"

    line = process.stderr.readline()

    process.kill()
    process.communicate()
    assert re.match(rb"Warning: Plugin 'blocked' has blocked everything else for \d+ s in turn_start \(", line)
    assert line.endswith(b"blocked.py, line 8); it is interrupted after 10 s\n")
