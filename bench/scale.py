"""What is left after kills: ``uv run python bench/scale.py [TASKS] [--engine local|ray] [--kills N]``.

Runs scripted tasks with ``pi batch``, of whose requests every tenth ends its process, and kills the driver at even
distances, each time while a task runs: a driver that waits for the processor, or for the disk, has none for a moment.
Then every id has one result, whose totals are those of its sessions; the tokens of the sessions are those
of the ledger, except in sessions that a kill ended between the two; no process, folder or worktree of a task is left;
and the driver took less than 60 MB, or with Ray 250 MB. Ends with 1 where that is not so. The engine ``ray``
starts a cluster of two nodes on this machine. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _measure import show_table, verdict

from pi_batch.record import session_totals

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_MEMORY = {"local": 60_000, "ray": 250_000}
"""Kilobytes of the driver, by engine; Ray itself takes most of its own."""

PATIENCE = 60.0
"""Seconds in which the processes of a killed driver end."""

FAULTS = """
import os, random
from pi_hookspecs import hookimpl

@hookimpl
def before_model_request(event, ctx):
    if random.random() < 0.1:
        os._exit(7)
"""
PREFIXES = ("pi-batch-", "pi-eval-")
"""Of folders of tasks in the temporary directory."""


class Scale:
    """One run, in a folder of its own.

    Attributes:
        kills: For each kill: results there were, processes of tasks, all processes below the driver, and seconds until
            all of them had ended.
        memory: The most that a driver took, in kilobytes.
    """

    def __init__(self, folder: Path, count: int, options: list[str], environ: dict[str, str]) -> None:
        self.kills: list[tuple[int, int, int, float]] = []
        self.memory = 0
        self._folder, self._out, self._count = folder, folder / "out", count
        self._mark = f"{folder.name}-{random.random()}"  # noqa: S311 - not a secret
        (folder / "tmp").mkdir(exist_ok=True)  # Ray has made it
        self._environ = {
            **os.environ,
            **environ,
            "HOME": str(folder),
            "PI_CODING_AGENT_DIR": str(folder / "agent"),
            "TMPDIR": str(folder / "tmp"),
            "SCALE_MARK": self._mark,
        }
        command = [
            sys.executable,
            "-P",
            "-m",
            "pi_cli",
            "batch",
            "tasks.jsonl",
            "--out",
            "out",
            "--model",
            "offline/rules",
        ]
        self._command = [*command, "--resume", "--retries", "8", *options]
        self._write_tasks()

    def _write_tasks(self) -> None:
        folder = self._folder
        (folder / "faults.py").write_text(FAULTS)
        for words in (["init", "-q", "repo"], ["-C", "repo", "commit", "-q", "--allow-empty", "-m", "one"]):
            identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
            subprocess.run(["git", *identity, *words], cwd=folder, check=True)
        tasks = [
            {
                "id": f"t{number}",
                "prompt": f"Create a file named f{number}.txt with the text 'hi'",
                "plugins": [str(folder / "faults.py")],
                "check": f"test -s f{number}.txt",
                **({"repo": "repo"} if number % 10 == 0 else {}),
            }
            for number in range(self._count)
        ]
        (folder / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))

    def run(self, kills: int) -> None:
        """Run the tasks to their end, with so many kills."""
        for number in range(kills):
            self._run_until((number + 1) * self._count // (kills + 1))
        self._run_until(self._count + 1)

    def _run_until(self, results: int) -> None:
        driver = subprocess.Popen(self._command, cwd=self._folder, env=self._environ, stdout=subprocess.DEVNULL)
        while driver.poll() is None and self._results() < results:
            self.memory = max(self.memory, _peak_memory(driver.pid))
            time.sleep(0.05)
        while driver.poll() is None and not (running := self._processes() - {driver.pid}):
            time.sleep(0.01)
        if driver.returncode is None:
            below = _descendants(driver.pid)
            driver.send_signal(signal.SIGKILL)
            driver.wait()
            began = time.monotonic()
            while left := [*self._processes(), *(each for each in below if _start(each[0]) == each[1])]:
                assert time.monotonic() < began + PATIENCE, f"after a kill there are still {left}"
                time.sleep(0.05)
            self.kills.append((self._results(), len(running), len(below), time.monotonic() - began))
        else:
            assert driver.returncode == 0, f"the driver ended with {driver.returncode}"

    def _results(self) -> int:
        file = self._out / "results.jsonl"
        return file.read_bytes().count(b"\n") if file.exists() else 0

    def _processes(self) -> set[int]:
        """Return the processes of drivers and tasks; those of a cluster do not have the mark."""
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environ = (folder / "environ").read_bytes()
                if f"SCALE_MARK={self._mark}".encode() in environ or (
                    b"--session-dir" in (line := (folder / "cmdline").read_bytes()) and str(self._out).encode() in line
                ):
                    found.add(int(folder.name))
            except OSError:  # it has ended, or belongs to another user
                continue
        return found

    def check(self) -> list[tuple[str, str]]:
        """Check what is left; return rows of a table.

        Raises:
            AssertionError: Something is not as it must be.
        """
        records = [json.loads(line) for line in (self._out / "results.jsonl").read_text().splitlines()]
        assert [each["id"] for each in records] == [f"t{number}" for number in range(self._count)], "ids"
        assert all(each["status"] == "done" and each["score"] for each in records), "failed tasks"
        for each in records:
            totals = session_totals(self._out / "sessions" / each["id"])
            assert (each["usage"], each["dollars"]) == totals, f"totals of {each['id']}"
        billed, used = self._billed(), self._used()
        differing = [each for each in {**billed, **used} if billed[each] != used[each]]
        killed = sum(running for _, running, *_ in self.kills)
        assert len(differing) <= killed, f"the ledger and {len(differing)} sessions differ"
        assert not self._processes(), "processes are left"
        left = [each.name for each in (self._folder / "tmp").iterdir() if each.name.startswith(PREFIXES)]
        assert not left, f"folders are left: {left}"
        git = ["git", "-C", str(self._folder / "repo"), "worktree", "list"]
        assert subprocess.run(git, capture_output=True, check=True).stdout.count(b"\n") == 1, "worktrees are left"
        attempts = sum(each["attempts"] for each in records)
        return [
            ("tasks", f"{len(records)}"),
            ("attempts that the results count", f"{attempts}"),
            ("sessions", f"{len(used)}"),
            ("tokens of results", f"{sum(each['usage']['totalTokens'] for each in records)}"),
            ("tokens of the ledger", f"{sum(billed.values())}"),
            ("sessions cut between file and ledger", f"{len(differing)} of {killed} killed"),
            ("driver: MB", f"{self.memory / 1000:.1f}"),
        ]

    def _billed(self) -> Counter[str]:
        """Return the tokens of each session, by the ledger."""
        found: Counter[str] = Counter()
        with (self._folder / "agent" / "usage" / "ledger.jsonl").open() as lines:
            for line in map(json.loads, lines):
                found[line["session"]] += line["input"] + line["output"]
        return found

    def _used(self) -> Counter[str]:
        """Return the tokens of each session, by its file."""
        found: Counter[str] = Counter()
        for folder in (self._out / "sessions").iterdir():
            for file in folder.iterdir():
                with file.open() as lines:
                    for line in lines:
                        message = json.loads(line).get("message", {}) if line.endswith("\n") else {}
                        if message.get("role") == "assistant":
                            found[file.stem.partition("_")[2]] += message["usage"]["totalTokens"]
        return found


def _descendants(pid: int) -> list[tuple[int, str]]:
    """Return the processes below a process, such as the supervisor of its commands, each with its start."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [(child, _start(child)), *_descendants(child)]
    return [each for each in found if each[1]]


def _start(pid: int) -> str:
    """Return when a process started, by which it differs from a later one; empty once it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[18] if state not in "ZX" else ""


def _peak_memory(pid: int) -> int:
    """Return the most memory that a process had so far, in kB; 0 once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


@contextmanager
def engine(name: str, concurrency: int, folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield options of ``pi batch`` and variables for an engine."""
    if name == "local":
        yield ["--concurrency", str(concurrency)], {}
        return
    os.environ |= {
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_raylet_start_wait_time_s": "120",  # on a busy machine
        "TMPDIR": str(folder / "tmp"),
    }
    from ray.cluster_utils import Cluster  # type: ignore[import-not-found]

    head: dict[str, Any] = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 100_000_000}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=concurrency, object_store_memory=100_000_000)
        options = ["--engine", "ray", "--task-cpus", "1", "--concurrency", str(concurrency)]
        yield options, {"RAY_ADDRESS": cluster.address}
    finally:
        cluster.shutdown()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="?", type=int, default=2000)
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scale-") as name:
        folder = Path(name)
        with engine(given.engine, given.concurrency, folder) as (options, environ):
            scale = Scale(folder, given.tasks, options, environ)
            began = time.monotonic()
            scale.run(given.kills)
            seconds = time.monotonic() - began
            rows = scale.check()
    rows += [("seconds", f"{seconds:.0f}"), ("load at the end", f"{os.getloadavg()[0]:.1f}")]
    kills = [(f"{at} results", f"{tasks}", f"{below}", f"{late:.2f} s") for at, tasks, below, late in scale.kills]
    show_table("Kills of the driver", ("at", "of tasks", "all processes", "until none is left"), kills)
    show_table(f"Scale, engine {given.engine}", ("what", "figure"), rows)
    print(f"memory of the driver: {verdict(scale.memory, MOST_MEMORY[given.engine])}")
    if scale.memory > MOST_MEMORY[given.engine]:
        sys.exit(1)


if __name__ == "__main__":
    main()
