"""Nothing of a program is left when pi is killed, whatever the program does about signals and closed pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
with open("pids", "a") as file:
    file.write(f"{os.getpid()}\\n")
if not child:
    os.setsid()
    while True:
        time.sleep(60)
ready(hooks={"tool_call": {}})
while True:
    time.sleep(60)
"""

PI = """
import asyncio, sys
from pathlib import Path
import pi_isolated
from pi_core import PluginHost, Settings, create_agent_session
from pi_core.host.extensions import LocalExtensions
from pi_testing import ScriptedProvider, steps

async def main(folder, agent_dir):
    host = PluginHost(Settings.in_memory({}, agent_dir=agent_dir), installed=False)
    host.add(pi_isolated, "isolated")
    LocalExtensions(host, cwd=agent_dir, given=[folder], discover=False).load()
    script = ScriptedProvider()
    script.turn(steps.tool_call("bash", command="ls"))
    host.add(script, "script")
    async with create_agent_session(host=host, cwd=agent_dir, model=script.model) as session:
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(main(*map(Path, sys.argv[1:])))
"""


def is_alive(pid: int) -> bool:
    """Whether a process runs."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
    return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the supervisor needs Linux")
def test_a_killed_pi_leaves_no_program_behind(write_program, tmp_path):
    folder = write_program(tmp_path / "stubborn", STUBBORN)
    (tmp_path / "agent").mkdir()
    pi = subprocess.Popen([sys.executable, "-c", PI, str(folder), str(tmp_path / "agent")], stdout=subprocess.PIPE)
    try:
        assert pi.stdout.readline() == b"ready\n"
        for _ in range(3000):  # the child may write its id after the program is ready
            pids = [int(each) for each in (folder / "pids").read_text().split()]
            if len(pids) == 2:
                break
            time.sleep(0.02)
        assert [is_alive(each) for each in pids] == [True, True]

        os.kill(pi.pid, signal.SIGKILL)

        for _ in range(3000):
            if not any(map(is_alive, pids)):
                break
            time.sleep(0.02)
        assert [is_alive(each) for each in pids] == [False, False]
    finally:
        pi.kill()
        pi.wait()
        pi.stdout.close()
