"""Where a batch of 100,000 tasks meets its first wall: ``uv run python bench/hundred_thousand.py [TASKS]``.

No task is run. Each part that grows with the number of tasks is measured alone, at that number, or with a sample where
the cost of one does not depend on it: the file of tasks, the file of results, a resumed run, the ledger with many
writers, and the start of a pi that has a budget for the day. The rest, a provider's limits and the disk, is arithmetic
with assumptions about a task, which are printed. Times are of the wall, so run it on a quiet machine.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import show_table

from pi_batch.record import Record
from pi_batch.results import Results
from pi_batch.tasks import read_tasks
from pi_budgets.ledger import Ledger
from pi_budgets.line import append_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_batch.tasks import Task

SAMPLE, WRITERS = 2000, 8
REQUESTS, TOKENS, SESSION = 20, 200_000, 500_000
"""Of a task, assumed: requests, tokens of all requests, and bytes of its session."""
REQUESTS_A_MINUTE, TOKENS_A_MINUTE, SECONDS = 4000, 10_000_000, 300
"""Of a provider's account, assumed; and the time that a task takes, most of which it waits for a model."""

PROMPT = "Fix the failing test of {module}, and add one for the case that it did not cover. " * 4
ANSWER = "The test failed because the parser dropped the last line. It keeps it now, and there is a test for that. " * 8
LINE = {
    "id": "0", "at": "2026-01-01T00:00:00.000Z", "day": "2026-01-01", "session": "0" * 36, "project": "/work",
    "plugin": None, "agent": None, "purpose": "conversation", "model": "a/b", "input": 9000, "output": 400,
    "cacheRead": 0, "cacheWrite": 0, "dollars": 0.01, "seconds": 4.2, "toolCalls": 1,
}  # fmt: skip
WRITE = """
import json, sys
from pi_budgets.line import append_line
for number in range(int(sys.argv[2])):
    append_line(sys.argv[1], {**json.loads(sys.argv[3]), "id": f"{sys.argv[4]}-{number}"})
"""


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began


def memory() -> float:
    """Return the most that this process had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def record(number: int) -> Record:
    """Return a result as long as a real one."""
    usage = {"input": 9000, "output": 400, "cacheRead": 90_000, "cacheWrite": 0, "totalTokens": 99_400}
    session = f"sessions/t{number}/2026-01-01T00-00-00-000Z_{'0' * 36}.jsonl"
    return Record(id=f"t{number}", status="done", score=True, answer=ANSWER, usage=usage, dollars=0.1, session=session)


def main() -> None:
    """Print the tables."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rows: list[tuple[str, str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "tasks.jsonl").open("w") as file:
            for number in range(count):
                file.write(json.dumps({"id": f"t{number}", "prompt": PROMPT, "module": f"m{number}"}) + "\n")
        began = memory()
        tasks: list[Task] = []
        took = seconds(lambda: tasks.extend(read_tasks(folder / "tasks.jsonl")))
        rows.append(("read the tasks", f"{took:.1f} s", f"+{memory() - began:.0f} MB"))
        rows += _results(folder, tasks, count)
        rows += _ledger(folder, count)
    show_table(f"{count} tasks: what pi batch adds", ("", "time", "note"), rows)
    hours = count * SECONDS / 3600
    requests, tokens = count * REQUESTS / REQUESTS_A_MINUTE / 60, count * TOKENS / TOKENS_A_MINUTE / 60
    assumed = [
        ("waiting for models, 64 at once", f"{hours / 64:.0f} h", f"{SECONDS} s a task"),
        ("waiting for models, 1,000 at once", f"{hours / 1000:.1f} h", "on a cluster"),
        ("a provider's requests", f"{requests:.1f} h", f"{REQUESTS} a task, {REQUESTS_A_MINUTE} a minute"),
        ("a provider's tokens", f"{tokens:.1f} h", f"{TOKENS} a task, {TOKENS_A_MINUTE} a minute"),
        ("disk for sessions", f"{count * SESSION / 1e9:.0f} GB", f"{SESSION} bytes a task"),
    ]
    show_table("With assumptions about a task", ("", "figure", "assumed"), assumed)


def _results(folder: Path, tasks: list[Task], count: int) -> list[tuple[str, str, str]]:
    rows = []
    with Results(folder / "sample", tasks, resume=False) as results:
        began = time.monotonic()
        for number in range(SAMPLE):
            results.add(record(number))
        took = time.monotonic() - began
    each = took / SAMPLE
    rows.append(("write the results", f"{each * count:.0f} s", f"{each * 1000:.2f} ms each, on disk when written"))
    (folder / "out").mkdir()
    with (folder / "out" / "results.jsonl").open("w") as file:
        file.writelines(record(number).as_line() for number in range(count))
    before = memory()
    took = seconds(lambda: Results(folder / "out", tasks, resume=True).__exit__())
    rows.append(("read them to resume", f"{took:.1f} s", f"+{memory() - before:.0f} MB"))
    with Results(folder / "out", tasks, resume=True) as results:
        rows.append(("sum up what was spent", f"{seconds(results.spent):.1f} s", ""))
        rows.append(("sort them at the end", f"{seconds(results.finish):.1f} s", "with the predictions"))
    rows.append(("memory of the driver", f"{memory():.0f} MB", "with all tasks and results"))
    return rows


def _ledger(folder: Path, count: int) -> list[tuple[str, str, str]]:
    file = folder / "usage" / "ledger.jsonl"
    script = [sys.executable, "-c", WRITE, str(file), str(SAMPLE), json.dumps(LINE)]

    def write() -> None:
        writers = [subprocess.Popen([*script, str(number)]) for number in range(WRITERS)]
        assert not any(each.wait() for each in writers)

    began = time.monotonic()
    for _ in range(SAMPLE):
        append_line(str(folder / "one.jsonl"), LINE)
    alone = (time.monotonic() - began) / SAMPLE
    together = seconds(write) / SAMPLE / WRITERS
    lines = [line for line in file.read_bytes().splitlines() if line]  # a line half written gets an end of its own
    assert len({*map(bytes, lines)}) == SAMPLE * WRITERS, "lines were lost"
    assert all(map(json.loads, lines))
    requests = count * REQUESTS
    note = f"{alone * 1e6:.0f} µs a line; {together * 1e6:.0f} µs with {WRITERS} writers, none is lost"
    rows = [("append to the ledger", f"{together * requests:.0f} s", note)]
    sample = SAMPLE * WRITERS
    took = seconds(lambda: Ledger(str(file)).refresh())
    rows.append(
        ("start of a pi with a budget for the day", f"{took / sample * requests:.1f} s", f"{requests} lines are read")
    )
    size = file.stat().st_size / sample * requests
    rows.append(("size of the ledger", f"{size / 1e6:.0f} MB", ""))
    return rows


if __name__ == "__main__":
    main()
