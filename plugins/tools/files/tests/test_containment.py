"""Nothing that a command started outlives what it may outlive: the processes are counted."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

import pi_tools
from pi_hookspecs import AbortController
from pi_process_kit.supervised import SupervisedStarter
from pi_process_kit.supervisor.service import KEEPER_GRACE
from pi_tools import BashOptions, create_bash_tool
from pi_tools.commands.background import running
from pi_tools.commands.local import LocalBashOperations

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the supervisor is Linux's")]

# A child, a grandchild in a session of its own, two whose parent has gone, one of no environment, one that ignores
# signals.
FAMILY = (
    "sleep {t} & "
    "setsid sleep {t} & "
    "(setsid bash -c 'setsid sleep {t} & exec -a other sleep {t}' &) ; "
    "env -i sleep {t} & "
    "(trap '' TERM INT HUP; exec sleep {t}) & "
    "sleep 0.3; "
)


def family(token, then=""):
    return FAMILY.format(t=token) + (then or f"sleep {token}")


async def test_a_timeout_leaves_nothing(call, token, none_left):
    result = await call("bash", command=family(token), timeout=1)

    assert "timed out after 1 seconds" in result.content[0].text
    assert await none_left(token) == []


async def test_when_the_result_is_there_the_processes_are_gone(call, token, alive):
    await call("bash", command=family(token), timeout=1)

    assert alive(token) == []


async def test_an_abort_leaves_nothing(call, token, alive, none_left, until):
    controller = AbortController()
    running = asyncio.create_task(call("bash", command=family(token), signal=controller.signal))
    await until(lambda: len(alive(token)) >= 6)

    controller.abort()

    assert (await running).content[0].text == "Command aborted"
    assert await none_left(token) == []


async def test_a_cancelled_call_leaves_nothing(call, token, alive, none_left, until):
    running = asyncio.create_task(call("bash", command=family(token)))
    await until(lambda: len(alive(token)) >= 6)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert await none_left(token) == []


async def test_many_processes_that_still_multiply_are_ended(call, token, none_left):
    command = f"f() {{ sleep 0.05; [ $1 -eq 0 ] || {{ f $(($1-1)) & f $(($1-1)) & }}; sleep {token}; }}; f 7"

    await call("bash", command=command, timeout=0.3)

    assert await none_left(token) == []


async def test_a_process_that_runs_away_is_caught(call, tmp_path, token, none_left):
    """Each one starts the next in a session of its own and ends, 3000 times: any that is inspected has gone."""
    script = f"run-{token}"
    (tmp_path / script).write_text(f'[ "$1" -gt 3000 ] || (setsid bash {script} $(($1+1)) &)')

    await call("bash", command=f"bash {script} 0; sleep {token}", timeout=0.5)

    assert await none_left(script) == []
    assert await none_left(token) == []


async def test_a_normal_end_leaves_nothing_where_nothing_was_put_in_the_background(call, ctx, token, none_left):
    await call("bash", command="sleep 0.01; true")

    assert running(ctx.session.id) == []
    assert await none_left(token) == []


async def test_what_was_put_in_the_background_lives_with_the_session_and_is_named_at_its_end(
    call, ctx, token, alive, none_left, until
):
    await call("bash", command=family(token, "echo done"))
    await until(lambda: len(alive(token)) == len(running(ctx.session.id)) == 6)

    assert len(alive(token)) == 6
    assert len(running(ctx.session.id)) == 6
    await pi_tools.session_shutdown(SimpleNamespace(reason="reload"), ctx)
    assert len(alive(token)) == 6

    await pi_tools.session_shutdown(SimpleNamespace(reason="quit"), ctx)

    assert await none_left(token) == []
    [(level, message)] = ctx.ui
    assert level == "warning"
    assert message.startswith("Ended 6 background processes that commands had left running: ")
    assert f"sleep {token}" in message


async def test_a_process_in_the_background_may_go_on_writing(call, tmp_path, until):
    command = (
        "(for i in $(seq 20000); do echo $i; done; touch finished) & "
        "sleep 0.01; kill -STOP $!; (sleep 0.3; kill -CONT $!) & echo"
    )

    await call("bash", command=command)
    await until((tmp_path / "finished").exists)

    assert (tmp_path / "finished").exists()


@pytest.mark.parametrize("how", ["option", "setting"])
async def test_background_processes_may_end_with_their_command(request, call, ctx, token, how):
    alive, tmp_path = map(request.getfixturevalue, ("alive", "tmp_path"))
    ctx.settings["bash.keepBackground"] = False if how == "setting" else None
    tool = create_bash_tool(tmp_path, BashOptions(keep_background=False if how == "option" else None))

    await call("bash", tool=tool, command=family(token, "echo done"))

    assert alive(token) == []


async def test_a_keeper_that_is_killed_takes_its_command_along(failure, text, token, none_left):
    assert "watched the command was killed" in await failure("bash", command=family(token, "kill -9 $PPID; sleep 60"))

    assert await none_left(token) == []
    assert await text("bash", command="echo next") == "next\n"


@pytest.mark.parametrize("which", ["g", "s"])
async def test_a_guardian_or_supervisor_that_is_killed_takes_all_along(text, failure, token, none_left, which):
    command = f"{ANCESTORS}setsid sleep {token} & sleep 0.1; kill -9 ${which}; sleep {token}"

    assert "watched the command was killed" in await failure("bash", command=command)

    assert await none_left(token) == []
    assert await text("bash", command="echo next") == "next\n"


@pytest.fixture
def own_bash(tmp_path):
    """``bash`` with a guardian and a supervisor of its own."""
    return create_bash_tool(tmp_path, BashOptions(operations=LocalBashOperations(start=SupervisedStarter())))


ANCESTORS = "k=$PPID; s=$(ps -o ppid= $k); g=$(ps -o ppid= $s); "


async def test_the_processes_that_watch_commands_have_no_keys_in_their_environment(call, own_bash, monkeypatch):
    monkeypatch.setenv("MADE_UP_API_KEY", "sk-made-up")
    command = ANCESTORS + "for pid in $k $s $g; do cat /proc/$pid/comm; cat /proc/$pid/environ; done; env"

    result = await call("bash", tool=own_bash, command=command)

    watchers, _, own = result.content[0].text.partition("pi-guardian\n")
    assert watchers == "pi-keeper\npi-supervisor\n"
    assert own.count("sk-made-up") == own.count("MADE_UP_API_KEY=sk-made-up\n") == 1
    assert not own.startswith("MADE_UP")


async def test_a_keeper_that_is_stopped_goes_on(text):
    assert await text("bash", command="kill -STOP $PPID; echo done") == "done\n"


STOPPED = {
    "keeper": "kill -STOP $k; ",
    "keeper and supervisor": "kill -STOP $s $k; ",
    "all": "kill -STOP $g $s $k; ",
    "keeper, again and again": "(while sleep 0.01; do kill -STOP $k; done) & ",
}


@pytest.mark.parametrize("which", STOPPED)
async def test_an_abort_leaves_nothing_though_what_watches_is_stopped(call, token, alive, none_left, until, which):
    controller = AbortController()
    command = f"{ANCESTORS}setsid sleep {token} & {STOPPED[which]}sleep {token}"
    running = asyncio.create_task(call("bash", command=command, signal=controller.signal))
    await until(lambda: sum("-c" not in line for line in alive(token)) >= 2)

    controller.abort()

    assert (await running).content[0].text == "Command aborted"
    assert await none_left(token) == []


TRACE = """
import ctypes, os, sys, time
PTRACE_ATTACH = 16
for pid in sys.argv[2:]:
    ctypes.CDLL(None).ptrace(PTRACE_ATTACH, int(pid), 0, 0)
os.execlp("sleep", "sleep", sys.argv[1])
"""


def traces_keeper(tmp_path, token):
    """Return a command that holds its keeper as a debugger does: SIGCONT does not help; if the system lets it."""
    (tmp_path / "trace.py").write_text(TRACE)
    return f"setsid {sys.executable} trace.py {token} $PPID & sleep {token}"


async def test_an_abort_leaves_nothing_though_the_keeper_is_traced(request, call, tmp_path, token, monkeypatch):
    alive, none_left, until = map(request.getfixturevalue, ("alive", "none_left", "until"))
    monkeypatch.setattr("pi_process_kit.supervisor.service.KEEPER_GRACE", 0.1)
    controller = AbortController()
    running = asyncio.create_task(call("bash", command=traces_keeper(tmp_path, token), signal=controller.signal))
    await until(lambda: sum("sleep 3600" in line and "-c" not in line for line in alive(token)) == 2)

    controller.abort()

    assert (await running).content[0].text == "Command aborted"
    assert await none_left(token) == []


async def test_the_end_of_pi_is_the_end_of_all_though_the_keeper_is_traced(request, tmp_path, token, monkeypatch):
    alive, none_left, until = map(request.getfixturevalue, ("alive", "none_left", "until"))
    monkeypatch.chdir(tmp_path)
    program = start(traces_keeper(tmp_path, token))
    await until(lambda: sum("sleep 3600" in line and "-c" not in line for line in alive(token)) == 2)

    end(program, signal.SIGKILL)

    assert await none_left(token) == []
    assert await none_left(f"service.main({program.pid})") == []


@pytest.mark.parametrize("escaped", ["setsid", "env -i setsid"])
async def test_a_child_that_escaped_does_not_outlive_keeper_and_supervisor(text, failure, token, none_left, escaped):
    command = f"{ANCESTORS}{escaped} sleep {token} & sleep 0.1; kill -9 $s $k; sleep {token}"

    assert "watched the command was killed" in await failure("bash", command=command)

    assert await none_left(token) == []
    assert await text("bash", command="echo next") == "next\n"


async def test_when_the_supervisor_is_killed_too_the_session_of_the_command_is_ended(failure, text, token, none_left):
    command = f"sleep {token} & kill -9 $(ps -o ppid= $PPID) $PPID; sleep {token}"

    assert "watched the command was killed" in await failure("bash", command=command)

    assert await none_left(token) == []
    assert await text("bash", command="echo next") == "next\n"


def test_what_another_event_loop_started_is_ended_at_once(ctx, token, alive):
    bash = create_bash_tool(ctx.cwd)
    arguments = {"command": f"sleep {token} & echo"}
    asyncio.run(bash.execute("1", arguments, AbortController().signal, lambda _: None, ctx))
    assert len(alive(token)) == 1

    asyncio.run(pi_tools.session_shutdown(SimpleNamespace(reason="quit"), ctx))

    assert alive(token) == []
    [(_, message)] = ctx.ui
    assert "Not all" not in message


async def test_all_pythons_may_be_ended_by_name(text):
    assert "pi-keeper" in await text("bash", command="cat /proc/$PPID/comm")


PROGRAM = """
import asyncio, os, pathlib, signal, sys, time, types
import pi_tools
from pi_hookspecs import AbortController

ctx = types.SimpleNamespace(
    cwd=pathlib.Path.cwd(), session=types.SimpleNamespace(id="s", file=None), model=None, thinking_level="off"
)

async def main():
    if sys.argv[2] == "graceful":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    options = pi_tools.BashOptions(keep_background=True if sys.argv[2] == "keep" else None)
    bash = pi_tools.create_bash_tool(ctx.cwd, options)
    result = await bash.execute("1", {"command": sys.argv[1]}, AbortController().signal, lambda _: None, ctx)
    if sys.argv[2] == "fork":
        pid = os.fork()
        if not pid:
            time.sleep(60)
            os._exit(0)
        print(pid, flush=True)
    print("done", flush=True)
    if sys.argv[2] in ("background", "keep", "fork"):
        await asyncio.sleep(60)

asyncio.run(main())
"""


def start(command, how=""):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, command, how],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end(process, number, *, group=False):
    if group:
        os.killpg(process.pid, number)
    else:
        os.kill(process.pid, number)
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("how", ["", "graceful"])
@pytest.mark.parametrize(
    ("number", "group"),
    [
        (signal.SIGTERM, False),
        (signal.SIGKILL, False),
        (signal.SIGINT, True),
        (signal.SIGTERM, True),
        (signal.SIGHUP, True),
    ],
)
async def test_the_end_of_pi_is_the_end_of_all(request, token, number, group, how):
    alive, none_left, until = map(request.getfixturevalue, ("alive", "none_left", "until"))
    program = start(family(token), how)
    await until(lambda: len(alive(token)) >= 8)  # the program's own command line has the token too

    end(program, number, group=group)

    assert await none_left(token) == []


@pytest.mark.parametrize("which", STOPPED)
async def test_the_end_of_pi_is_the_end_of_all_though_what_watches_is_stopped(token, alive, none_left, until, which):
    program = start(f"{ANCESTORS}setsid sleep {token} & {STOPPED[which]}sleep {token}")
    await until(lambda: sum("-c" not in line for line in alive(token)) >= 2)

    end(program, signal.SIGKILL)

    assert await none_left(token) == []
    assert await none_left(f"service.main({program.pid})") == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_the_end_of_pi_is_the_end_of_what_is_in_the_background(token, alive, none_left, until, number):
    program = start(family(token, "true"), "background")
    program.stdout.readline()
    await until(lambda: len(alive(token)) == 7)
    assert len(alive(token)) == 7

    end(program, number)

    assert await none_left(token) == []


async def test_a_process_that_pi_forked_and_that_outlives_it_holds_nothing_up(token, alive, until):
    program = start(family(token, "true"), "fork")
    fork = program.stdout.readline().split()[0].decode()
    program.stdout.readline()

    end(program, signal.SIGKILL)

    await until(lambda: len(alive(token)) == 1)
    [left] = alive(token)
    os.kill(int(fork), signal.SIGKILL)
    assert left.startswith(f"{fork} ")


async def test_a_program_that_ends_by_itself_leaves_nothing(token, none_left):
    program = start(family(token, "true"))
    program.wait()
    program.stdout.close()

    assert await none_left(token) == []


async def test_what_is_to_be_kept_is_kept(token, alive, none_left):
    program = start(family(token, "true"), "keep")
    program.stdout.readline()
    end(program, signal.SIGKILL)
    await asyncio.sleep(KEEPER_GRACE + 0.5)

    left = alive(token)
    for line in left:
        os.kill(int(line.split()[0]), signal.SIGKILL)

    assert len(left) == 6
    assert await none_left(token) == []


async def test_no_supervisor_or_keeper_is_left_either(token, alive, none_left, until):
    program = start(family(token, "sleep 1"))
    whose = f"service.main({program.pid})"  # other tests have theirs
    await until(lambda: alive(whose))

    program.wait()
    program.stdout.close()

    assert await none_left(whose) == []
