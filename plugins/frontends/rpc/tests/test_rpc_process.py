"""A real process: how it ends, what it prints where, and what a client that misbehaves does to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import psutil
import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds

STALL = b'{"id":1,"type":"prompt","message":"stall"}\n'


def lines_until(process, wanted):
    """Read until a line of a type, or of an event in an update."""
    for line in process.stdout:
        reply = json.loads(line)
        if wanted in (reply["type"], reply.get("assistantMessageEvent", {}).get("type"), reply.get("id")):
            return reply
    raise AssertionError(process.stderr.read().decode())


def wait_for(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_the_end_of_stdin_ends_it(rpc):
    code, lines, errors = rpc.run(b'{"id":1,"type":"get_state"}\n')

    assert (code, [line["id"] for line in lines]) == (0, [1])
    assert "Traceback" not in errors


def test_a_last_line_without_line_end_is_carried_out(rpc):
    _, lines, _ = rpc.run(b'{"id":1,"type":"get_state"}\r\n{"id":"two","type":"abort"}')

    assert [line["id"] for line in lines] == [1, "two"]


def test_commands_may_come_from_a_file(rpc, tmp_path):
    (tmp_path / "said.jsonl").write_bytes(b'{"id":1,"type":"get_state"}\n')

    with (tmp_path / "said.jsonl").open("rb") as commands, rpc.start(stdin=commands) as process:
        out, _ = process.communicate(timeout=PATIENCE)

    assert (process.returncode, json.loads(out)["id"]) == (0, 1)


def test_what_plugins_write_below_python_is_no_line_of_the_protocol(rpc, tmp_path):
    (tmp_path / "below.py").write_text(BELOW)
    code, lines, errors = rpc.run(b'{"id":1,"type":"get_state"}\n', "-e", str(tmp_path / "below.py"))

    assert (code, [line["id"] for line in lines]) == (0, [1])
    for moment in ("at import", "in activate", "in a hook", "at the end"):
        assert [errors.count(f"{moment} {how}") for how in ("descriptor", "stream", "program")] == [1, 1, 1]


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
    pi.on("session_start", lambda event: write("in a hook"))
"""


def test_the_end_of_stdin_ends_it_in_mid_stream(rpc):
    with rpc.start() as process:
        process.stdin.write(STALL)
        process.stdin.flush()
        lines_until(process, "text_delta")
        process.stdin.close()
        rest = [json.loads(line)["type"] for line in process.stdout]

        assert process.wait(PATIENCE) == 0
    assert rest[-1] == "agent_settled"


def test_running_tools_are_ended_with_it(rpc, tmp_path):
    with rpc.start() as process:
        process.stdin.write(b'{"type":"prompt","message":"call echo $$ > pid; sleep 600"}\n')
        process.stdin.write(b'{"type":"bash","command":"echo $$ > pid2; sleep 600"}\n')
        process.stdin.flush()
        for name in ("pid", "pid2"):
            wait_for(lambda file=tmp_path / name: file.exists() and file.read_text().strip())
        process.stdin.close()
        process.stdout.read()

        assert process.wait(PATIENCE) == 0
    for name in ("pid", "pid2"):
        assert not psutil.pid_exists(int((tmp_path / name).read_text()))


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_ends_it_in_good_order(rpc, name, code):
    with rpc.start() as process:
        process.stdin.write(STALL)
        process.stdin.flush()
        lines_until(process, "text_delta")
        process.send_signal(getattr(signal, name))
        rest = [json.loads(line)["type"] for line in process.stdout]

        assert process.wait(PATIENCE) == code
        assert rest[-1] == "agent_settled"


def test_a_client_that_closes_its_end_ends_it(rpc):
    with rpc.start() as process:
        process.stdin.write(b'{"type":"prompt","message":"flood 2000000"}\n')
        process.stdin.flush()
        lines_until(process, "text_delta")
        process.stdout.close()

        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


def test_a_client_that_never_reads_costs_little_memory_and_does_not_keep_it_from_ending(rpc):
    with rpc.start() as process:
        process.stdin.write(b'{"type":"prompt","message":"flood 300000"}\n')
        process.stdin.flush()
        lines_until(process, "text_delta")
        before = psutil.Process(process.pid).memory_info().rss
        time.sleep(1)
        grown = psutil.Process(process.pid).memory_info().rss - before
        process.send_signal(signal.SIGTERM)

        assert process.wait(PATIENCE) == 143
    assert grown < 40_000_000


@pytest.mark.slow
def test_a_slow_reader_gets_the_whole_text_in_fewer_lines(rpc):
    with rpc.start() as process:
        process.stdin.write(b'{"type":"prompt","message":"flood 50000"}\n')
        process.stdin.flush()
        first = lines_until(process, "text_delta")
        time.sleep(1)  # it goes on, and nobody reads
        text, count = first["assistantMessageEvent"]["delta"], 1
        for line in process.stdout:
            reply = json.loads(line)
            update = reply.get("assistantMessageEvent", {})
            if update.get("type") == "text_delta":
                text, count = text + update["delta"], count + 1
            if reply["type"] == "agent_settled":
                break
        process.stdin.close()

        assert process.wait(PATIENCE) == 0
    assert text == "sixteen letters " * 50000
    assert count < 50000


def test_a_big_answer_arrives_whole_after_the_end_of_stdin(rpc):
    command = json.dumps({"type": "bash", "command": "true"}).encode() + b"\n"
    big = json.dumps({"id": 2, "type": "steer", "message": "x" * 3_000_000}).encode() + b"\n"
    _, lines, _ = rpc.run(command + big + b'{"id":3,"type":"clear_queue"}\n')

    assert next(line for line in lines if line.get("id") == 3)["data"]["steering"] == ["x" * 3_000_000]


def test_what_plugins_and_programs_print_goes_to_stderr(rpc):
    code, lines, errors = rpc.run(b'{"id":1,"type":"prompt","message":"/loud"}\n')

    assert (code, lines[0]["data"]) == (0, {"disposition": "handled"})
    assert {"printed", "written", "echo from a program".removeprefix("echo ")} <= set(errors.split("\n"))


def test_a_plugin_may_end_it(rpc):
    with rpc.start() as process:
        process.stdin.write(b'{"type":"prompt","message":"/leave"}\n')
        process.stdin.flush()

        assert process.wait(PATIENCE) == 0


def test_files_on_the_command_line_are_refused(rpc):
    code, lines, errors = rpc.run(b"", "@notes.txt")

    assert (code, lines) == (1, [])
    assert "Error: @file arguments are not supported in RPC mode" in errors


def test_a_line_of_a_hundred_megabytes_is_refused_and_not_kept(rpc):
    with rpc.start() as process:
        piece = b"x" * 1_000_000
        for _ in range(100):
            process.stdin.write(piece)
        process.stdin.write(b'\n{"id":1,"type":"get_state"}\n')
        process.stdin.flush()
        refused, state = json.loads(process.stdout.readline()), json.loads(process.stdout.readline())
        peak = psutil.Process(process.pid).memory_info().rss
        process.stdin.close()
        process.wait(PATIENCE)

    too_long = "the line is longer than 67108864 bytes, or than the memory that is left"
    assert refused["error"] == f"Failed to parse command: {too_long}"
    assert (state["id"], peak < 250_000_000) == (1, True)


def test_closed_streams_are_no_bug(rpc):
    with rpc.start(stdin=os.open(os.devnull, os.O_RDONLY), stdout=os.open(os.devnull, os.O_WRONLY)) as process:
        _, errors = process.communicate(timeout=PATIENCE)

    assert (process.returncode, b"Traceback" in errors) == (0, False)


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_descriptors_that_are_closed_are_no_bug(rpc, closed):
    with rpc.start(stdin=subprocess.DEVNULL, through=["sh", "-c", f'exec "$@" {closed}', "sh"]) as process:
        out, errors = process.communicate(timeout=PATIENCE)

    assert (process.returncode, out, b"Error" in errors) == (0, b"", False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")  # noqa: PTH110
def test_a_full_disk_is_named(rpc):
    with rpc.start(stdout=os.open("/dev/full", os.O_WRONLY)) as process:
        _, errors = process.communicate(b'{"id":1,"type":"get_state"}\n', timeout=PATIENCE)

    assert process.returncode == 1
    assert errors.decode().splitlines()[-1] == (
        "Error: The output cannot be written: No space left on device. Free some space, or redirect it"
    )


def test_two_exports_at_once_both_find_who_exports(rpc):
    _, lines, _ = rpc.run(b'{"id":1,"type":"export_html"}\n{"id":2,"type":"export_html"}\n')

    assert {line["error"] for line in lines} == {"Cannot export in-memory session to HTML"}
