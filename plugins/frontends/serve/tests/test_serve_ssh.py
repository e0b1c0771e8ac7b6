"""Sessions of another computer, which a program named ssh reaches: it runs the command here, and forwards a socket."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from pi_client import ConnectionLost, PiClient, PiClientError
from pi_client.ssh import served_over_ssh

pytestmark = pytest.mark.slow

SSH = f"""#!{sys.executable}
import os, socket, subprocess, sys, threading
*options, host = [each for each in sys.argv[1:] if each != "--"] if "-N" in sys.argv else sys.argv[2:3]
if host == "nowhere":
    sys.exit("ssh: Could not resolve hostname nowhere")
if "-N" not in sys.argv:
    sys.exit(subprocess.run(["/bin/sh", "-c", sys.argv[-1]]).returncode)
here, there = sys.argv[sys.argv.index("-L") + 1].split(":")
listener = socket.socket(socket.AF_UNIX)
listener.bind(here)
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


@pytest.fixture
def ssh(tmp_path, monkeypatch) -> Path:
    """The other computer's folder of pi, reached by a program named ssh."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ssh").write_text(SSH)
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    (tmp_path / "agent" / "run").mkdir(parents=True)
    return tmp_path / "agent" / "run"


def announce(folder: Path, session: str, socket: Path, pid: int | None = None) -> None:
    facts = {"session": session, "cwd": "/w", "socket": str(socket), "pid": pid or os.getpid()}
    (folder / f"{session}.json").write_text(json.dumps(facts) + "\n")


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


@pytest.mark.parametrize(
    ("host", "name", "problem", "why"),
    [
        ("nowhere", None, ConnectionLost, "ssh to 'nowhere' failed with code 1"),
        ("box", None, PiClientError, "No session on 'box' is served"),
        ("-oProxyCommand=id", None, PiClientError, "is not the name of a computer"),
    ],
)
def test_what_cannot_be_reached_is_refused_with_the_reason(ssh, host, name, problem, why) -> None:
    with pytest.raises(problem, match=why), served_over_ssh(host, name):
        pass
