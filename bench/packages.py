"""What packages cost: ``uv run python bench/packages.py``.

Thirty plugins in an overlay against none: milliseconds of CPU (user and system) of the whole process, the best of
rounds in which both take turns. The bar is a factor of 1.05 for ``--version`` and for a prompt to the offline model.
Each plugin adds a command, which no prompt uses: the price is that of finding them. (What a plugin offers to every
prompt, a tool or an event hook, is imported, as it would be in pi's own environment.) Installing one plugin from a
folder of wheels, with everything cached, may take 1,500 ms of CPU, with the solver and the trial in another process.
Without any packages a start pays for one ``open`` that fails. The bill (``pi plugins bill``) counts each call of a tool
in at most 1 us; hooks are counted by the dispatcher (``bench/dispatch.py``).

A plugin in a process of its own (``pi_plugin.json``): milliseconds of a ``tool_call`` from the call of the hook to its
answer over pipes, in a session. The bar is a median of 1 ms.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROUNDS = 15
PLUGINS = 30
SOURCE = """
from pi_hookspecs import Command, hookimpl

async def run(*_): ...

@hookimpl
def register_commands():
    return [Command(name="idle{0}", description="does", handler=run)]
"""


def write_wheel(folder: Path, number: int) -> None:
    stem = f"pluggypi_idle{number}-1.0"
    info = f"{stem}.dist-info"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"pi_idle{number}.py", SOURCE.format(number))
        wheel.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: pluggypi-idle{number}\nVersion: 1.0\nRequires-Dist: pluggypi-hookspecs>=1\n",
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/entry_points.txt", f"[pi]\nidle{number} = pi_idle{number}\n")
        wheel.writestr(f"{info}/RECORD", "")


def cpu(command: list[str], cwd: str, env: dict[str, str]) -> float:
    """Return the CPU milliseconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=cwd, env=env, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def home(folder: Path, wheels: Path) -> dict[str, str]:
    agent_dir = folder / "agent"
    agent_dir.mkdir(parents=True)
    (agent_dir / "settings.json").write_text(f'{{"packages.findLinks": ["{wheels}"]}}')
    return {**os.environ, "HOME": str(folder), "PI_CODING_AGENT_DIR": str(agent_dir), "UV_NO_INDEX": "1"}


def main() -> None:
    pi = str(Path(sys.executable).with_name("pi"))
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        wheels, work = root / "wheels", str(root)
        wheels.mkdir()
        for number in range(PLUGINS + 2):
            write_wheel(wheels, number)
        none, thirty = home(root / "none", wheels), home(root / "thirty", wheels)
        cpu([pi, "install", *(f"idle{number}" for number in range(PLUGINS))], work, thirty)
        prompt = ["--model", "offline/rules", "-p", "list the files here"]
        print(f"{'':34}{'none':>9}{PLUGINS:>9}{'factor':>9}")
        for label, arguments in {"--version": ["--version"], "-p, offline model, one tool": prompt}.items():
            times: dict[str, list[float]] = {"none": [], "thirty": []}
            for env in (none, thirty):  # the index
                cpu([pi, *arguments], work, env)
            for _ in range(ROUNDS):
                times["none"].append(cpu([pi, *arguments], work, none))
                times["thirty"].append(cpu([pi, *arguments], work, thirty))
            low, high = (min(each) for each in times.values())
            print(f"{'CPU ms, pi ' + label:34}{low:9.1f}{high:9.1f}{high / low:9.3f}")
        cpu([pi, "install", f"idle{PLUGINS}"], work, none)  # fills the caches
        cpu([pi, "remove", f"idle{PLUGINS}"], work, none)
        print(f"{'CPU ms, pi install of one plugin':34}{cpu([pi, 'install', f'idle{PLUGINS}'], work, none):9.0f}")
        print(f"{'us, a start without packages':34}{look_up(root / 'nothing'):9.1f}")
        print(f"{'us, a counter of the bill':34}{count_calls():9.3f}")
        print(f"{'':34}{'median':>9}{'p99':>9}{'CPU':>9}")
        for label, command in PROGRAMS.items():
            if shutil.which(command[0]):
                asyncio.run(show_hook(root / label, label, command))


PYTHON = """
import sys, json
print(json.dumps({"type": "ready", "contract": "1.1", "hooks": {"tool_call": {}}}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hook":
        print(json.dumps({"type": "answer", "id": message["id"], "answer": None}), flush=True)
"""
NODE = """
const send = (message) => process.stdout.write(JSON.stringify(message) + "\\n");
send({ type: "ready", contract: "1.1", hooks: { tool_call: {} } });
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hook") send({ type: "answer", id: message.id, answer: null });
});
"""
PROGRAMS = {
    "hook in Python": [sys.executable, "-S", "-c", PYTHON],
    "hook in JavaScript": ["node", "-e", NODE],
}
HOOK_CALLS = 2000
COUNTED = 200_000


async def show_hook(folder: Path, label: str, command: list[str]) -> None:
    """Print what a hook costs that is asked over pipes: wall milliseconds, and the CPU milliseconds of this process."""
    from pi_core import create_agent_session
    from pi_core.host import PluginHost
    from pi_core.host.extensions import LocalExtensions
    from pi_core.settings import Settings
    from pi_hookspecs import ToolCallEvent
    from pi_hookspecs.specs.tools import tool_call

    program = folder / "program"
    program.mkdir(parents=True)
    (program / "pi_plugin.json").write_text(json.dumps({"name": "program", "command": command, "contract": "1.1"}))
    host = PluginHost(Settings.in_memory({}, folder / "agent"))
    LocalExtensions(host, cwd=folder, given=[program], discover=False).load()
    session = create_agent_session(host=host, cwd=folder, model="offline/rules")
    await session.start()
    event = ToolCallEvent(tool_call_id="call_1", tool_name="bash", input={"command": "git status --short"})
    times = []
    began = time.process_time()
    for _ in range(HOOK_CALLS):
        started = time.perf_counter()
        await session.hooks.call(tool_call, event, session.ctx)
        times.append((time.perf_counter() - started) * 1000)
    used = (time.process_time() - began) * 1000 / HOOK_CALLS
    await session.dispose()
    times.sort()
    print(f"{'ms, ' + label:34}{statistics.median(times):9.3f}{times[int(HOOK_CALLS * 0.99)]:9.3f}{used:9.3f}")


def count_calls() -> float:
    """Return the microseconds of CPU of counting one call of a tool."""
    from types import SimpleNamespace

    from pi_core.conversation.bill import Bill
    from pi_hookspecs import ToolExecutionEndEvent, ToolResult

    bill = Bill(SimpleNamespace(subscribe=lambda *_: None))
    event = ToolExecutionEndEvent(
        tool_call_id="call_1", tool_name="bash", result=ToolResult(), is_error=False, duration_ms=3
    )
    began = time.process_time()
    for _ in range(COUNTED):
        bill.count(event)
    return (time.process_time() - began) * 1e6 / COUNTED


def look_up(agent_dir: Path) -> float:
    """Return the microseconds of looking for an overlay that is not there."""
    from pi_core.host.overlay import join_overlay, user_root

    def once() -> float:
        started = time.perf_counter()
        join_overlay(user_root(agent_dir))
        return (time.perf_counter() - started) * 1e6

    return statistics.median(once() for _ in range(1000))


if __name__ == "__main__":
    main()
