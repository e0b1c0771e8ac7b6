"""Sessions of another computer: reached by an SSH server on this one, and by a program that takes the place of ssh."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pi_client import ConnectionLost, PiClient, PiClientError
from pi_client.ssh import served_over_ssh
from pi_testing import text
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SSH = f"""#!{sys.executable}
import os, socket, subprocess, sys, threading, time
*options, host = [each for each in sys.argv[1:] if each != "--"] if "-N" in sys.argv else sys.argv[2:3]
if host == "nowhere.invalid":
    sys.exit("ssh: Could not resolve hostname nowhere.invalid")
if "-N" not in sys.argv:
    sys.exit(subprocess.run(["/bin/sh", "-c", sys.argv[-1]]).returncode)
here, there = sys.argv[sys.argv.index("-L") + 1].split(":")
listener = socket.socket(socket.AF_UNIX)
listener.bind(here)
time.sleep(0.2)  # ssh may be interrupted between the two as well
listener.listen()
def pass_on(one, other):
    while data := one.recv(65536):
        other.sendall(data)
    other.shutdown(socket.SHUT_WR)
while True:
    one, other = listener.accept()[0], socket.socket(socket.AF_UNIX)
    other.connect(there)
    threading.Thread(target=pass_on, args=(one, other), daemon=True).start()
    threading.Thread(target=pass_on, args=(other, one), daemon=True).start()
"""

SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
SetEnv PI_CODING_AGENT_DIR={agent}
"""

CLIENT = """
Host box
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/key
  IdentitiesOnly yes
  BatchMode yes
  StrictHostKeyChecking no
  UserKnownHostsFile {folder}/known_hosts
  LogLevel ERROR
"""

EMPTY = Path("/run/sshd")
"""The folder without which the server does not start as root; elsewhere a service makes it."""

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin{os.pathsep}/usr/local/sbin")


@contextmanager
def ssh_server(folder: Path, agent: Path) -> Iterator[str]:
    """An SSH server for this user alone; yields a program that calls ``ssh`` such that it is the computer ``box``."""
    if SSHD is None or (ssh := shutil.which("ssh")) is None:
        pytest.skip("needs OpenSSH with its server")
    for name in ("key", "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    facts = {"folder": folder, "agent": agent, "port": port, "user": getpass.getuser()}
    (folder / "server").write_text(SERVER.format(**facts))
    (folder / "client").write_text(CLIENT.format(**facts))
    if os.getuid() == 0:
        with suppress(OSError):  # it is there, or the server says that it is not
            EMPTY.mkdir(mode=0o755)
    errors = folder / "errors"
    with errors.open("wb") as log:
        process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "server")], stderr=log)
    try:
        end = time.monotonic() + PATIENCE
        while b"Server listening" not in errors.read_bytes():
            if process.poll() is not None:
                pytest.skip(f"the SSH server does not start here: {errors.read_text().strip()}")
            assert time.monotonic() < end, errors.read_text()
            time.sleep(0.05)
        yield f'#!/bin/sh\nexec {ssh} -F {folder}/client "$@"\n'
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(params=["a program", "a server"])
def ssh(request, tmp_path, monkeypatch) -> Iterator[Path]:
    """Where the other computer announces its sessions; ``ssh`` calls it ``box``."""
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    announced = tmp_path / "agent" / "run"
    announced.mkdir(parents=True)
    programs, folder = tmp_path / "bin", tmp_path / "ssh"
    programs.mkdir()
    folder.mkdir()
    if request.param == "a program":
        yield _named_ssh(programs, SSH, monkeypatch, announced)
    else:
        with ssh_server(folder, tmp_path / "agent") as program:
            yield _named_ssh(programs, program, monkeypatch, announced)


def _named_ssh(programs: Path, program: str, monkeypatch: pytest.MonkeyPatch, announced: Path) -> Path:
    (programs / "ssh").write_text(program)
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return announced


def announce(folder: Path, session: str, socket: Path, pid: int | None = None) -> None:
    facts = {"session": session, "cwd": "/w", "socket": str(socket), "pid": pid or os.getpid()}
    (folder / f"{session}.json").write_text(json.dumps(facts) + "\n")


async def pi(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run pi on this computer, whose own folder of pi is empty."""
    command = [sys.executable, "-m", "pi_cli", *arguments]
    options = {"input": stdin, "capture_output": True, "text": True, "timeout": 60, "check": False}
    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(cwd / "own")}
    return await asyncio.to_thread(subprocess.run, command, cwd=cwd, env=environ, **options)


async def test_a_session_of_another_computer_is_reached_by_the_beginning_of_its_id(served, ssh) -> None:
    announce(ssh, served.session.session_id, served.path)
    announce(ssh, "0000-killed", served.path, pid=2**22 + 1)

    context = served_over_ssh("box", served.session.session_id[:8])
    found = await asyncio.to_thread(context.__enter__)
    try:
        async with await PiClient.connect(found.socket) as client:
            state = await client.get_state()
    finally:
        await asyncio.to_thread(context.__exit__, None, None, None)

    assert (state.session_id, found.session) == (served.session.session_id,) * 2
    assert not Path(found.socket).exists()


@pytest.mark.parametrize("ssh", ["a server"], indirect=True)
async def test_a_prompt_of_the_command_line_and_a_conversation_go_to_another_computer(
    served, script, ssh, tmp_path
) -> None:
    announce(ssh, served.session.session_id, served.path)
    script.turn(text("High at six.")).turn(text("Low at noon.")).turn(text("It is spring."))

    one = await pi("-p", "--attach", "--ssh", "box", "When?", cwd=tmp_path, stdin="")
    named = await pi("-p", "--attach", "--ssh", "box", served.session.session_id[:8], "And low?", cwd=tmp_path)
    lines = await pi("attach", "lines", "--ssh", "box", cwd=tmp_path, stdin="Which tide?\n")
    wrong = await pi("-p", "--attach", "--ssh", "box", "12345678", "And low?", cwd=tmp_path)

    assert (one.stdout, one.returncode) == ("High at six.\n", 0), one.stderr
    assert (named.stdout, named.returncode) == ("Low at noon.\n", 0), named.stderr
    assert "> When?" in lines.stdout
    assert lines.returncode == 0, lines.stderr
    assert f"No session named '12345678' is served. These are served: {served.session.session_id}" in wrong.stderr
    assert "Traceback" not in one.stderr + named.stderr + lines.stderr + wrong.stderr


@pytest.mark.parametrize(
    ("host", "name", "problem", "why"),
    [
        ("nowhere.invalid", None, ConnectionLost, "ssh to 'nowhere.invalid' failed with code"),
        ("box", None, PiClientError, "No session on 'box' is served"),
        ("-oProxyCommand=id", None, PiClientError, "is not the name of a computer"),
    ],
)
def test_what_cannot_be_reached_is_refused_with_the_reason(ssh, host, name, problem, why) -> None:
    with pytest.raises(problem, match=why), served_over_ssh(host, name):
        pass


@pytest.mark.parametrize("ssh", ["a program"], indirect=True)
async def test_a_computer_that_cannot_be_reached_is_tried_once(ssh, tmp_path) -> None:
    command = ("-p", "--attach", "--ssh", "nowhere.invalid", "Which of these?")

    done = await pi(*command, cwd=tmp_path, stdin="high, low")

    assert done.returncode == 1
    assert done.stderr.count("Could not resolve hostname") == 1
    assert done.stderr.endswith("Error: ssh to 'nowhere.invalid' failed with code 1\n")
