"""What ``pi batch`` itself costs: ``uv run python bench/batch.py [TASKS]``.

The processor time of the driver for each task, its start and end included, and that of the supervisor and its
keepers, compared with that of a bare ``pi --mode json`` process; and the driver's largest memory. The ``pi`` processes
of the tasks are not in it. The kernel is asked for the time of the supervisor and its keepers ten times a second: what
a keeper takes in its last tenth is missing. Linux only. The model is ``offline/rules``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import show

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
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
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
