"""Supervised programs with pipes: what goes in and comes out, how they end, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_hookspecs import PiError, SpawnRequest, hookimpl
from pi_process_kit import ProcessFailure, prepare, start_child
from pi_process_kit.grouped import GroupStarter
from pi_process_kit.supervised import SupervisedStarter
from pi_testing import FakeLauncher, until
from pi_testing.patience import PATIENCE

LINUX = sys.platform == "linux"
ECHO = "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)\nprint('end', flush=True)"


@pytest.fixture(params=[*([SupervisedStarter] if LINUX else []), GroupStarter])
def start(request):
    """Each of the two ways to start programs."""
    return request.param()


@pytest.fixture
def child_of(start, tmp_path):
    """``await child_of(code)``: a Python program."""

    async def run(code, **options):
        request = SpawnRequest(
            argv=(sys.executable, "-c", code), cwd=str(tmp_path), env=dict(os.environ), purpose="process"
        )
        return await start_child(request, start=start, **options)

    return run


def is_alive(pid):
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat")
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):  # it may end at any time
        return False


async def gone(pid):
    end = time.monotonic() + PATIENCE
    while is_alive(pid) and time.monotonic() < end:  # noqa: ASYNC110 - it is the system that is waited for
        await asyncio.sleep(0.02)
    return not is_alive(pid)


async def test_lines_go_in_and_come_out(child_of):
    async with await child_of(ECHO) as child:
        child.stdin.write(b"one\n")
        answer = await child.stdout.readline()

    assert answer == b"got one\n"


async def test_the_end_of_standard_input_reaches_the_program(child_of):
    child = await child_of(ECHO)
    child.stdin.close()

    assert await child.stdout.read() == b"end\n"
    assert await child.wait() == 0
    assert child.exit_code == 0
    assert await child.stop()


async def test_standard_error_has_a_pipe_of_its_own(child_of):
    async with await child_of("import sys; print('out'); print('oops', file=sys.stderr)") as child:
        assert await child.stderr.read() == b"oops\n"
        assert await child.stdout.read() == b"out\n"


async def test_standard_error_can_go_with_the_output_or_nowhere(child_of):
    code = "import sys; print('oops', file=sys.stderr, flush=True); print('out')"

    async with await child_of(code, stderr="stdout") as both, await child_of(code, stderr="null") as one:
        assert await both.stdout.read() == b"oops\nout\n"
        assert await one.stdout.read() == b"out\n"
        assert one.stderr is None


async def test_more_than_a_pipe_holds_goes_through(child_of):
    async with await child_of("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())") as child:
        reading = asyncio.create_task(child.stdout.read())
        child.stdin.write(b"x" * 3_000_000)
        await child.stdin.drain()
        child.stdin.close()

        assert len(await reading) == 3_000_000


@pytest.mark.parametrize(
    ("code", "expected"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)]
)
async def test_the_exit_code_is_the_programs(child_of, code, expected):
    async with await child_of(code) as child:
        assert await child.wait() == expected


async def test_a_program_that_ends_with_its_input_is_not_killed(child_of, tmp_path):
    code = "import sys; print('up', flush=True); sys.stdin.read(); open('ended', 'w').close()"

    async with await child_of(code) as child:
        await child.stdout.readline()
        await child.stop(grace=60)

    assert (tmp_path / "ended").exists()


async def test_a_program_that_does_not_listen_is_killed(child_of):
    code = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(3600)"
    )
    child = await child_of(code)
    await child.stdout.readline()

    assert await child.stop(grace=0.05)
    assert child.exit_code == 128 + signal.SIGKILL


async def test_the_deadline_ends_it_with_what_it_started(child_of):
    code = (
        "import subprocess, sys, time\n"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)']).pid, flush=True)\n"
        "time.sleep(3600)"
    )
    child = await child_of(code)
    grandchild = int(await child.stdout.readline())

    child.end_after(0.01)
    await child.wait()

    assert child.timed_out
    assert await gone(grandchild)
    await child.stop()


async def test_a_deadline_that_is_not_reached_does_nothing(child_of):
    async with await child_of("pass", timeout=3600) as child:
        await child.wait()

    assert not child.timed_out


@pytest.mark.skipif(not LINUX, reason="/proc is Linux's")
async def test_descriptors_are_closed(child_of):
    async def run_one():
        async with await child_of("pass") as child:
            await child.wait()

    def descriptors():
        return len([*Path("/proc/self/fd").iterdir()])

    await run_one()  # starts the supervisor, whose socket stays
    before = descriptors()
    for _ in range(3):
        await run_one()

    await until(lambda: descriptors() <= before)


async def test_a_program_that_does_not_exist_is_named(start, tmp_path):
    request = SpawnRequest(argv=("/no/such/program",), cwd=str(tmp_path), env={}, purpose="process")

    with pytest.raises(ProcessFailure, match=r"Cannot start '/no/such/program' in .*: No such file"):
        await start_child(request, start=start)


@given(data=st.binary(max_size=4096))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_byte_survives_the_way_through(tmp_path, data):
    async def through():
        code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
        request = SpawnRequest(argv=(sys.executable, "-I", "-S", "-c", code), cwd="/", env={}, purpose="process")
        async with await start_child(request) as child:
            child.stdin.write(data)
            child.stdin.close()
            return await child.stdout.read()

    assert asyncio.run(through()) == data


class Collects(asyncio.Protocol):
    def __init__(self):
        self.data = b""
        self.ended = asyncio.Event()

    def data_received(self, data):
        self.data += data

    def connection_lost(self, exc):
        self.ended.set()


async def test_a_protocol_gets_standard_output_in_place_of_the_reader(child_of):
    output = Collects()

    async with await child_of("print('some', flush=True); print('text')", output=output) as child:
        await output.ended.wait()
        child.stdout.feed_eof()

        assert output.data.split() == [b"some", b"text"]
        assert await child.stdout.read() == b""


@pytest.mark.skipif(not LINUX, reason="the supervisor is Linux's")
def test_nothing_is_left_when_pi_is_killed(tmp_path):
    code = textwrap.dedent("""
        import asyncio, os, signal, sys
        from pi_hookspecs import SpawnRequest
        from pi_process_kit import start_child

        async def main():
            shell = "setsid sleep 3600 & echo $! $$; exec sleep 3600"
            request = SpawnRequest(argv=("/bin/sh", "-c", shell), cwd="/", env=dict(os.environ), purpose="process")
            child = await start_child(request)
            sys.stdout.write((await child.stdout.readline()).decode())
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
    """)
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pids = [int(pid) for pid in killed.stdout.split()]

    assert killed.returncode == -signal.SIGKILL
    assert len(pids) == 2
    assert all(asyncio.run(gone(pid)) for pid in pids)


class Policy:
    def __init__(self):
        self.launcher = FakeLauncher()

    @hookimpl
    def register_services(self):
        return [self.launcher]

    @hookimpl
    def child_environment(self, event):
        return {"STAGE": f"{event.purpose}: {event.command}"}


@pytest.fixture
def policy():
    return Policy()


@pytest.fixture
def pi_plugins(policy):
    return {"policy": policy}


async def test_prepare_asks_the_plugins_of_the_session(pi_session, policy, tmp_path):
    request = await prepare(pi_session.ctx, ["sh", "-c", "echo $STAGE $OWN; pwd"], purpose="lsp", env={"OWN": "mine"})

    async with await start_child(request) as child:
        printed = (await child.stdout.read()).decode()

    assert printed == f"lsp: sh -c 'echo $STAGE $OWN; pwd' mine\n{tmp_path}\n"
    [asked] = policy.launcher.requests
    assert (asked.purpose, asked.argv[0], asked.call_id) == ("lsp", "sh", None)


async def test_prepare_passes_a_refusal_on(pi_session, policy):
    def refuse(request):
        raise PiError("not here")

    policy.launcher.answer = refuse

    with pytest.raises(PiError, match="not here"):
        await prepare(pi_session.ctx, ["true"], purpose="process")


async def test_prepare_names_a_program_that_is_not_there(pi_session):
    with pytest.raises(ProcessFailure, match="'no-such-server' is not on PATH"):
        await prepare(pi_session.ctx, ["no-such-server"], purpose="mcp")


async def test_a_relative_program_is_found_from_its_folder(pi_session, tmp_path):
    request = await prepare(pi_session.ctx, ["./bin/server"], purpose="mcp", cwd="project")

    assert request.argv == (f"{tmp_path}/project/./bin/server",)
