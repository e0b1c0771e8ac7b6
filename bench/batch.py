"""What ``pi batch`` itself costs: ``uv run python bench/batch.py [TASKS] [--engine local|ray]``.

The processor time of the driver for each task, its start and end included, and that of the supervisor and its
keepers, compared with that of a bare ``pi --mode json`` process; and the driver's largest memory. The ``pi`` processes
of the tasks are not in it. The kernel is asked for the time of the supervisor and its keepers ten times a second: what
a keeper takes in its last tenth is missing. Linux only. The model is ``offline/rules``.

With the engine ``ray``, tasks that end before their ``pi`` starts, because their repository is not there: the processor
time of all processes of a cluster for each, less that of the same task in this process, and that of a Ray task that
does nothing with the same arguments. The best of three rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scale
from _measure import show

if TYPE_CHECKING:
    from pi_batch.tasks import Task
    from pi_process_kit import Engine

PROMPT = "Create a file named new.txt with the text 'hi'"
BARE = 10
"""Bare processes; their mean is what a task's process costs."""


def processor(command: list[str], environ: dict[str, str], folder: Path, text: str = "") -> tuple[float, float]:
    """Run a command; return its processor time in milliseconds and its largest memory in megabytes."""
    with subprocess.Popen(
        command, env=environ, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(text.encode())
        process.stdin.close()
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return (used.ru_utime + used.ru_stime) * 1000, used.ru_maxrss / 1024


def with_supervisor(command: list[str], environ: dict[str, str], folder: Path) -> tuple[float, float, float]:
    """Run a batch; return the milliseconds of the driver, of its supervisor and keepers, and the driver's megabytes."""
    nanoseconds: dict[str, int] = {}
    with subprocess.Popen(command, env=environ, cwd=folder, stdout=subprocess.DEVNULL) as process:
        while True:
            for supervisor in children(str(process.pid)):
                for pid in (supervisor, *children(supervisor)):
                    nanoseconds[pid] = running_time(pid) or nanoseconds.get(pid, 0)
            pid, code, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.1)
        process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return (used.ru_utime + used.ru_stime) * 1000, sum(nanoseconds.values()) / 1e6, used.ru_maxrss / 1024


def children(pid: str) -> list[str]:
    """Return a process's children; none once it has ended."""
    try:
        return [
            each for task in Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def running_time(pid: str) -> int:
    """Return the nanoseconds that a process has run; 0 once it has ended."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    except (OSError, IndexError):
        return 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="?", type=int, default=500)
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    given = parser.parse_args()
    if given.engine == "ray":
        with tempfile.TemporaryDirectory(prefix="batch-") as name:
            ray(given.tasks, Path(name))
    else:
        local(given.tasks)


def ray(count: int, folder: Path) -> None:
    """Print what the engine adds to a Ray task."""
    from pi_batch.limits import Ledger, LocalLimits
    from pi_batch.ray import ray_engine
    from pi_batch.run import Setup, run_one
    from pi_batch.tasks import Task
    from pi_process_kit import LocalEngine, run_tasks

    tasks = [Task(id=f"t{number}", prompt="x", repo="/nowhere") for number in range(count)]
    (folder / "out" / "sessions").mkdir(parents=True)
    setup = Setup(out=folder / "out", scratch=folder, retries=0)
    with scale.engine("ray", 2, folder) as (_, environ):
        os.environ |= environ
        with ray_engine(setup, Ledger(), 4, 1) as (engine, limits):
            from ray import remote  # type: ignore[import-not-found]

            options = {"num_cpus": 1, "max_retries": 0, "scheduling_strategy": "SPREAD"}
            nothing = remote(lambda *_: None).options(**options)
            kinds: list[Engine[Task, Any]] = [
                LocalEngine(lambda task: nothing.remote(task, setup, limits), 4),
                LocalEngine(lambda task: run_one(task, setup, LocalLimits()), 4),
                engine,
            ]

            async def measure(engine: Engine[Task, Any], tasks: list[Task]) -> float:
                before = below(os.getpid())
                await run_tasks(engine, tasks, lambda _: None)
                after = below(os.getpid())
                return sum(spent - before.get(pid, 0) for pid, spent in after.items()) / 1e6 / len(tasks)

            async def measure_all() -> list[list[float]]:
                for each in kinds:
                    await measure(each, tasks[:20])  # starts the workers
                return [[await measure(each, tasks) for each in kinds] for _ in range(3)]

            rounds = asyncio.run(measure_all())
    alone, own, whole = map(min, zip(*rounds, strict=True))
    rows = [
        ("Ray alone: ms a task", alone, None),
        ("a task in one process: ms", own, None),
        ("--engine ray adds: ms a task", whole - alone - own, 2.4),
    ]
    show("Batch with Ray", "", rows)


def below(pid: int) -> dict[int, int]:
    """Return the nanoseconds that a process and those below it have run, by process."""
    found = {pid: sum(running_time(f"{pid}/task/{each.name}") for each in Path(f"/proc/{pid}/task").iterdir())}
    for child in children(str(pid)):
        try:
            found |= below(int(child))
        except OSError:  # it has ended
            continue
    return found


def local(count: int) -> None:
    """Print what the driver and its supervisor cost."""
    pi = [sys.executable, "-P", "-m", "pi_cli"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environ = {**os.environ, "HOME": name, "PI_CODING_AGENT_DIR": str(folder / "agent")}
        lines = [json.dumps({"id": f"t{number}", "prompt": PROMPT}) + "\n" for number in range(count)]
        (folder / "tasks.jsonl").write_text("".join(lines))
        bare = [*pi, "--mode", "json", "--model", "offline/rules", "--session-dir", "bare"]
        alone = sum(processor(bare, environ, folder, PROMPT)[0] for _ in range(BARE)) / BARE
        batch = [*pi, "batch", "tasks.jsonl", "--out", "out", "--model", "offline/rules", "--concurrency", "2"]
        driver, supervisor, memory = with_supervisor(batch, environ, folder)
    own = (driver + supervisor) / count
    rows = [
        ("a bare process: ms", alone, None),
        ("driver: ms a task", driver / count, None),
        ("supervisor and keepers: ms a task", supervisor / count, None),
        ("own / bare: %", own / alone * 100, 15.0),
        ("driver: MB", memory, 60.0),
    ]
    show("Batch", "", rows)


if __name__ == "__main__":
    main()
