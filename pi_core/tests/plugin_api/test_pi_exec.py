"""``exec``: programs without a shell, bounded in time and output, killed with all that they started."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from pi_core.base.process import program
from pi_core.base.process.program import run_program
from pi_hookspecs import AbortController
from pi_testing import tool_call, until
from pi_testing.patience import PATIENCE


@pytest.fixture
def python(tmp_path):
    """Run Python code as a program."""

    def run(code, *args, **options):
        return run_program(sys.executable, ["-c", code, *args], cwd=tmp_path, **options)

    return run


async def test_output_code_and_folder(python, tmp_path):
    done = await python("import os, sys; print(os.getcwd()); print('oops', file=sys.stderr); sys.exit(3)")

    assert done.stdout.strip() == str(tmp_path.resolve())
    assert (done.stderr, done.code, done.killed, done.truncated) == ("oops\n", 3, False, False)


async def test_no_shell_sees_the_arguments(python):
    done = await python("import sys; print(sys.argv[1])", "$HOME; echo hi")

    assert done.stdout == "$HOME; echo hi\n"


async def test_variables_are_added_to_those_of_the_process(pi_session):
    code = "import os; print(os.environ['PI_NOTE'], 'PATH' in os.environ)"

    done = await pi_session.ctx.exec(sys.executable, ["-c", code], env={"PI_NOTE": "here"})

    assert done.stdout == "here True\n"


@pytest.mark.parametrize(
    ("command", "args", "message"), [("no-such-program", [], "No such file"), (sys.executable, ["a\0b"], "null byte")]
)
async def test_a_program_that_cannot_be_started_is_a_result(tmp_path, command, args, message):
    done = await run_program(command, args, cwd=tmp_path)

    assert (done.code, done.killed) == (127, False)
    assert message in done.stderr


async def test_a_folder_that_is_not_there_is_a_result(tmp_path):
    assert (await run_program(sys.executable, cwd=tmp_path / "gone")).code == 127


async def test_stdin_is_empty(python):
    assert (await python("import sys; print(repr(sys.stdin.read()))")).stdout == "''\n"


async def test_a_timeout_kills_what_the_program_started_too(tmp_path):
    script = "sleep 600 & echo $! > child; echo begun; wait"  # a shell, unlike Python, has surely begun by then
    done = await run_program("sh", ["-c", script], cwd=tmp_path, timeout=3)

    assert (done.killed, done.stdout) == (True, "begun\n")
    assert done.code > 128
    child = int((tmp_path / "child").read_text())
    await until(lambda: has_ended(child))


async def test_an_abort_kills_a_program_that_will_not_listen(python, tmp_path):
    abort = AbortController()
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); open('ready', 'w').close(); time.sleep(600)"
    running = asyncio.create_task(python(code, signal=abort.signal))
    await until((tmp_path / "ready").exists)
    abort.abort("enough")
    done = await running

    assert (done.killed, done.code) == (True, 128 + 9)


async def test_a_signal_that_was_aborted_before_starts_nothing(python, tmp_path):
    abort = AbortController()
    abort.abort("enough")
    done = await python("open('begun', 'w')", signal=abort.signal)

    assert done.killed
    assert not (tmp_path / "begun").exists()


async def test_a_cancelled_wait_leaves_nothing_behind(python, tmp_path):
    code = (
        "import os, time; open('pid.part', 'w').write(str(os.getpid())); os.rename('pid.part', 'pid'); time.sleep(600)"
    )
    running = asyncio.create_task(python(code))
    await until((tmp_path / "pid").exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    child = int((tmp_path / "pid").read_text())
    await until(lambda: has_ended(child))


async def test_output_beyond_the_limit_is_read_and_dropped(python, monkeypatch):
    monkeypatch.setattr(program, "OUTPUT_BYTES", 1000)
    done = await python("print('x' * 3_000_000)")

    assert (done.code, len(done.stdout), done.truncated) == (0, 1000, True)


async def test_a_daemon_that_keeps_the_pipe_does_not_hold_the_result_up(python, tmp_path):
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print(child.pid, flush=True)"
    )
    done = await asyncio.wait_for(python(code), PATIENCE)
    os.kill(int(done.stdout), 9)

    assert done.code == 0


async def test_undecodable_output_is_replaced(python):
    assert (await python("import os; os.write(1, b'a\\xffb')")).stdout == "a\ufffdb"


async def test_a_tool_runs_programs_under_its_own_abort(activated, script):
    results = []

    def activate(pi):
        @pi.register_tool
        async def sleep(ctx: object) -> str:
            """Sleep."""
            asyncio.get_running_loop().call_later(0.3, ctx.abort)
            results.append(await ctx.exec(sys.executable, ["-c", "import time; time.sleep(600)"]))
            return "done"

    session = await activated(activate)
    script.turn(tool_call("sleep"))
    await session.prompt("sleep")

    assert results[0].killed


async def test_pi_runs_programs_in_the_sessions_folder(activated, tmp_path):
    held = []
    await activated(held.append)
    done = await held[0].exec(sys.executable, ["-c", "import os; print(os.getcwd())"])

    assert done.stdout.strip() == str(tmp_path.resolve())


def has_ended(pid):
    """Whether a process has ended; its parent may still have to collect it."""
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - a line of text
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                return True
        os.kill(pid, 0)
    except OSError:
        return True
    return False
