"""End to end: plugins without packaging, from the user's folder, a trusted project, settings and ``-e``."""

from __future__ import annotations

import json
import shutil
from textwrap import dedent

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

LOUD = """
import sys
import threading
import time

print("at import")
threading.Thread(target=time.sleep, args=(60,)).start()


def activate(pi):
    print("in activate")
    pi.register_flag("todo-file", type=str, description="Start from this file")
    pi.register_flag("plan")

    @pi.on("session_start")
    def start(event):
        print("flags", pi.get_flag("todo-file"), pi.get_flag("plan"))

    @pi.on("input")
    async def shout(event):
        from pi_hookspecs import InputResult

        print("in a handler")
        return InputResult(text=event.text.upper())
"""

SHOUT = """
from pi_hookspecs import InputResult, hookimpl


@hookimpl
def input(event):
    return InputResult(text=event.text.upper())
"""


PROVIDER = """
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
async function* streamSimple(model) {
  const content = [{ type: "text", text: `I am ${model.id}` }];
  const message = { role: "assistant", api: model.api, provider: model.provider, model: model.id, usage, content,
    stopReason: "stop", timestamp: Date.now() };
  yield { type: "start", partial: message };
  yield { type: "done", reason: "stop", message };
}
export default (pi) => pi.registerProvider("echo", {
  baseUrl: "http://127.0.0.1:9", apiKey: "k", api: "echo-api", streamSimple,
  models: [{ id: "echo-1", name: "Echo 1", reasoning: false, input: ["text"], contextWindow: 1000, maxTokens: 100,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
});
"""


@pytest.fixture
def extend(fake):
    """Write an extension: of the project unless the path says otherwise."""

    def write(code, path=".pi/extensions/mine.py"):
        file = fake.cwd / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(code))
        return file

    return write


def answer(pi, *arguments, **how):
    return pi.run("-p", "--model", "fake/echo", "hello", *arguments, **how)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_model_of_an_extension_that_has_never_run_can_be_chosen(fake, extend):
    file = extend(PROVIDER, "../echo.mjs")
    done, wrong = (fake.run("-p", "-e", str(file), "--model", f"{name}/echo-1", "hi") for name in ("echo", "ecko"))

    assert done.stdout.strip() == "I am echo-1"
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "Unknown model: ecko/echo-1. Did you mean echo/echo-1" in wrong.stderr

    file.write_text(f"{PROVIDER}// changed")
    unknown = fake.run("-p", "-e", str(file), "--model", "ecko/echo-1", "hi")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "Unknown model: ecko/echo-1" in unknown.stderr


def test_an_untrusted_projects_extension_does_not_run_and_after_approve_it_does(fake, extend):
    extend(SHOUT)
    before, after = answer(fake), answer(fake, "--approve")

    assert before.stdout.strip() == "hello"
    assert "not used: .pi/extensions" in before.stderr
    assert after.stdout.strip() == "HELLO"


def test_one_of_this_run_runs_where_others_do_not(fake, extend):
    extend(SHOUT, "shout.py")
    extend("raise SystemExit(7)", "../agent/extensions/broken.py")
    done = answer(fake, "-ne", "-e", "shout.py")

    assert (done.stdout.strip(), done.stderr) == ("HELLO", "")


def test_the_users_run_everywhere_and_what_is_wrong_is_a_warning(fake, extend):
    extend(SHOUT, "../agent/extensions/shout.py")
    extend("def activate(pi):\n    x = (\n", "../agent/extensions/bad.py")
    done = answer(fake)

    assert (done.stdout.strip(), done.returncode) == ("HELLO", 0)
    assert "Plugin 'bad' (import): not loaded: SyntaxError: '(' was never closed" in done.stderr
    assert "bad.py, line 2)" in done.stderr


def test_stdout_stays_clean_and_flags_of_activate_reach_the_plugin(fake, extend):
    extend(LOUD, "loud.py")
    done = answer(fake, "-e", "loud.py", "--mode", "json", "--todo-file", "list.md", "--plan")
    events = [json.loads(line) for line in done.stdout.splitlines()]

    assert done.returncode == 0
    assert events[0]["type"] == "session"
    assert "flags list.md True" in done.stderr
    assert all(text in done.stderr for text in ("at import", "in activate", "in a handler"))


BELOW = """
import atexit, os, subprocess, sys


def write(what):
    os.write(1, f"{what} descriptor\\n".encode())
    sys.__stdout__.write(f"{what} stream\\n")
    sys.__stdout__.flush()
    subprocess.run(["echo", f"{what} program"], check=True)


write("at import")
atexit.register(write, "at the end")


def activate(pi):
    write("in activate")
    pi.on("turn_start", lambda event: write("in a hook"))
"""


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        (
            ["--mode", "json"],
            lambda out: [json.loads(line)["type"] for line in out.splitlines()][-1] == "agent_settled",
        ),
        (["-p"], lambda out: out == "hello\n"),
        (["--mode", "text"], lambda out: out == "hello\n"),
        ([], lambda out: out == "hello\n"),
    ],
    ids=["json", "print", "text", "pipe"],
)
def test_what_is_written_below_python_is_no_answer(fake, extend, arguments, parsed):
    extend(BELOW, "below.py")
    fake.install(
        "installed-below", "from pi_hookspecs import hookimpl\n" + BELOW + "\n\nactivate = hookimpl(activate)\n"
    )
    done = fake.run("--model", "fake/echo", "-e", "below.py", *arguments, "hello")

    assert done.returncode == 0
    assert parsed(done.stdout)
    assert all(line.find("}") > 0 or "{" not in line for line in done.stdout.splitlines())
    for moment in ("at import", "in activate", "in a hook", "at the end"):
        assert [done.stderr.count(f"{moment} {how}") for how in ("descriptor", "stream", "program")] == [2, 2, 2]


def test_a_subcommand_of_a_plugin_has_stdout_for_itself(fake):
    fake.install("talks", TALKS)

    assert fake.run("talk").stdout == "from a program\n"


TALKS = """
import subprocess

from pi_hookspecs import Subcommand, hookimpl


def talk(arguments, host):
    return subprocess.run(["echo", "from a program"]).returncode


@hookimpl
def register_subcommands():
    return [Subcommand("talk", run=talk)]
"""


def test_a_task_or_thread_that_fails_unawaited_is_reported_with_its_location(fake, extend):
    extend(TASK, "task.py")
    done = answer(fake, "-e", "task.py")

    assert "ValueError: left behind (in " in done.stderr
    assert "task.py, line 6)" in done.stderr
    assert "Warning: Plugin 'task' failed in thread 'counting': ZeroDivisionError: division by zero (in " in done.stderr
    assert "Traceback" not in done.stderr


TASK = """\
import asyncio, gc, threading


def activate(pi):
    async def fail():
        raise ValueError("left behind")

    @pi.on("turn_start")
    async def begin(event):
        asyncio.get_running_loop().create_task(fail())
        thread = threading.Thread(target=lambda: 1 / 0, name="counting")
        thread.start()
        thread.join()
        await asyncio.sleep(0)
        gc.collect()
"""


def test_an_undeclared_flag_is_still_an_error(fake, extend):
    extend(LOUD.replace("threading.Thread", "# "), "loud.py")
    done = answer(fake, "-e", "loud.py", "--todo-fil", "x")

    assert done.returncode == 1
    assert "Unknown option: --todo-fil. Did you mean --todo-file" in done.stderr


@pytest.mark.parametrize("given", ["nope.py", "./nope"])
def test_an_extension_that_is_not_there_is_an_error(fake, given):
    done = answer(fake, "-e", given)

    assert done.returncode == 1
    assert f"Cannot load extension '{given}'" in done.stderr


def test_one_can_be_disabled_by_name(fake, extend):
    extend(SHOUT, "../agent/extensions/shout.py")
    done = answer(fake, "--disable", "shout")

    assert (done.stdout.strip(), done.stderr) == ("hello", "")


def test_one_with_an_installed_plugins_name_gets_a_number(fake, extend):
    extend(SHOUT, "../agent/extensions/tools.py")
    done = answer(fake)

    assert done.stdout.strip() == "HELLO"
    assert "another plugin is named 'tools'" in done.stderr


def test_the_line_mode_reloads(fake, extend, at_terminal):
    command = "def activate(pi):\n    pi.register_command('say', lambda args, ctx: ctx.ui.notify('version {}'))\n"
    extend(command.format(1), "../agent/extensions/say.py")
    terminal = at_terminal(fake, "--model", "fake/echo")
    terminal.until("Ctrl-D exits")
    terminal.type("/say\r")
    terminal.until("version 1")
    extend(command.format(2), "../agent/extensions/say.py")
    terminal.type("/reload\r")
    terminal.until("were reloaded")
    terminal.type("/say\r")
    terminal.until("version 2")
    terminal.type("/quit\r")

    assert terminal.end()[1] == 0


def test_offline_nothing_is_fetched_for_an_extension(fake, extend):
    extend("# /// script\n# dependencies = ['no-such-distribution-anywhere']\n# ///\n" + SHOUT, "needy.py")
    uv = fake.cwd / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text('#!/bin/sh\necho "offline: ${UV_OFFLINE:-no}" >&2\nexit 3\n')
    uv.chmod(0o755)

    asked = [answer(fake, "-e", "needy.py", *how, PATH=str(uv.parent)).stderr for how in ([], ["--offline"])]

    assert ["offline: no" in asked[0], "offline: 1" in asked[1]] == [True, True]


@pytest.mark.parametrize(
    ("settings", "options", "starts"),
    [
        ({}, [], True),
        ({"extensions": ["-builtin:mcp"]}, [], False),
        ({"extensions": ["-builtin:mcp"]}, ["-e", "builtin:mcp"], True),
        ({}, ["-ne"], False),
        ({}, ["-ne", "-e", "builtin:mcp"], True),
    ],
)
def test_a_server_starts_only_where_the_built_in_extension_is_on(fake, settings, options, starts):
    server = {"command": "touch", "args": [str(fake.cwd / "started")]}
    (fake.agent_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"tide": server}}))
    (fake.agent_dir / "settings.json").write_text(json.dumps(settings))
    done = answer(fake, *options)

    assert done.stdout.strip() == "hello"
    assert (fake.cwd / "started").exists() == starts
