"""Output that no program should print, and memory that is short: the session goes on, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import psutil
import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds

MEGABYTES = 100


class Talk:
    """A client of a process, which takes one command after another."""

    def __init__(self, process):
        self.process = process

    def call(self, kind, *, until="response", **fields):
        """Send a command; return the line that answers it."""
        self.process.stdin.write(json.dumps({"id": kind, "type": kind, **fields}).encode() + b"\n")
        self.process.stdin.flush()
        return next(reply for reply in map(json.loads, self.process.stdout) if reply["type"] == until)

    def end(self):
        """Close the connection; return the exit code."""
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@pytest.fixture
def talk(rpc, tmp_path):
    """Return a function that starts a process and returns its client."""
    rpc.env["TMPDIR"] = str(tmp_path)  # where the logs of commands are
    started = []

    def start(*arguments):
        command = [*rpc.command, "--mode", "rpc", "--model", "fake/echo", *arguments]
        pipe = subprocess.PIPE
        errors = (tmp_path / "errors").open("ab")
        started.append(subprocess.Popen(command, cwd=rpc.cwd, env=rpc.env, stdin=pipe, stdout=pipe, stderr=errors))
        errors.close()
        return Talk(started[-1])

    yield start
    for each in started:
        each.kill()
        each.communicate()


def test_a_line_of_output_that_does_not_end_is_kept_in_a_file_and_not_in_memory(talk):
    client = talk("--no-session")
    client.call("get_state")
    before = psutil.Process(client.process.pid).memory_info().rss

    data = client.call("bash", command=f"head -c {MEGABYTES}000000 /dev/zero | tr '\\0' x")["data"]
    grown = psutil.Process(client.process.pid).memory_info().rss - before

    assert (data["exitCode"], data["truncated"]) == (0, True)
    assert set(data["output"]) == {"x"}
    assert len(data["output"]) <= 51_200
    assert Path(data["fullOutputPath"]).stat().st_size == MEGABYTES * 1_000_000
    assert grown < MEGABYTES * 1_000_000
    assert client.call("get_state")["success"] is True
    assert client.end() == 0


def test_binary_output_is_kept_byte_by_byte_and_shown_as_text(talk, tmp_path):
    written = bytes(range(256)) * 4000 + b"\n"
    (tmp_path / "binary").write_bytes(written)
    client = talk("--no-session")

    data = client.call("bash", command="cat binary")["data"]

    assert (data["exitCode"], data["truncated"]) == (0, True)
    assert Path(data["fullOutputPath"]).read_bytes() == written
    assert "ABCDEFG" in data["output"]
    client.call("prompt", until="agent_end", message="call cat binary")
    (result,) = [each for each in client.call("get_messages")["data"]["messages"] if each["role"] == "toolResult"]
    assert "ABCDEFG" in result["content"][0]["text"]
    assert client.end() == 0


HUNGRY = """
import re
import resource
from pathlib import Path

def activate(pi):
    def hungry(arguments, ctx):
        size = int(re.search(r"VmSize:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10
        resource.setrlimit(resource.RLIMIT_AS, (size + (512 << 20),) * 2)
        return bytes(4 << 30)

    pi.register_command("hungry", hungry)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux shows it")
def test_what_asks_for_more_memory_than_there_is_is_named_and_the_session_goes_on(talk, tmp_path):
    (tmp_path / "hungry.py").write_text(HUNGRY)
    session = tmp_path / "session.jsonl"
    client = talk("--session", str(session), "-e", "hungry.py")
    client.call("prompt", until="agent_end", message="before")
    stored = session.read_bytes()

    error = client.call("prompt", until="extension_error", message="/hungry")["error"]
    client.call("prompt", until="agent_end", message="after")

    assert "MemoryError: there was not enough memory" in error
    assert client.end() == 0
    assert session.read_bytes().startswith(stored)
    said = [
        part["text"]
        for entry in map(json.loads, session.read_bytes().splitlines())
        if entry["type"] == "message"
        for part in entry["message"]["content"]
    ]
    assert said == ["before", "before", "after", "after"]
