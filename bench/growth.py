"""Whether a step costs more when much is there already: ``uv run python bench/growth.py``, beside the original.

CPU milliseconds of one RPC process for one step, in a session of so many messages, or with so much output. ``growth``
is ours at a size over ours at the one before, to be read beside the growth of the size itself. ``--messages`` and
``--megabytes`` set the sizes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from _fake import fake_server, prompt, turns_prompt
from _measure import show_table
from _peer import COMPATIBLE, MODEL, compile_and_say, programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _peer import Program

STAMP, TIME = "2026-01-01T00:00:00.000Z", 1_767_225_600_000
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
USAGE = {"input": 100, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 120, "cost": COST}
ANSWER = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5", "usage": USAGE}
TURNS = 50


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[400, 1600, 6400])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--rounds", type=int, default=5, help="of each step, of which the median counts")
    parser.add_argument("--peer-dir", type=Path, default=None, help="where the original is, or is to be, installed")
    parser.add_argument("--no-peer", action="store_true", help="measure ours alone")
    return parser.parse_args()


def messages(count: int) -> Iterator[dict[str, Any]]:
    """Yield a question, a call of ``read``, its result and an answer, until there are enough messages."""
    for number in range(count):
        when = {"timestamp": TIME + number}
        call = {"type": "toolCall", "id": f"toolu_{number}", "name": "read", "arguments": {"path": f"src/{number}.py"}}
        result = "\n".join(f"line {line} of file {number}: a value" for line in range(30))
        read = {"toolCallId": f"toolu_{number - 1}", "toolName": "read", "isError": False}
        text = (f"Question {number}: what is there?", "", result, f"Answer {number}. {'words ' * 65}")[number % 4]
        content = [{"type": "text", "text": text}]
        yield (
            {"role": "user", "content": content, **when},
            {"role": "assistant", "content": [call], **ANSWER, "stopReason": "toolUse", **when},
            {"role": "toolResult", **read, "content": content, **when},
            {"role": "assistant", "content": content, **ANSWER, "stopReason": "stop", **when},
        )[number % 4]


def write_session(file: Path, count: int, cwd: str) -> None:
    """Write a session file with so many messages, as both programs write them."""
    head = {
        "type": "session",
        "version": 3,
        "id": "0b5e0000-0000-7000-8000-000000000000",
        "timestamp": STAMP,
        "cwd": cwd,
    }
    rows: list[dict[str, Any]] = [head]
    parent = None
    for number, message in enumerate(messages(count)):
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": STAMP, "message": message}
        rows.append(entry)
        parent = entry["id"]
    file.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")


class Process:
    """An RPC process of either program."""

    def __init__(self, program: Program, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [*program.command, "--mode", "rpc", *arguments],
            cwd=program.environ["PWD"],
            env=dict(program.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._usage = psutil.Process(self._process.pid)

    def step(self, until: bytes, **command: Any) -> float:
        """Send a command, read until a line contains something, and return the CPU milliseconds of the process.

        Raises:
            RuntimeError: The process ended, or refused the command.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        before = self._usage.cpu_times()
        self._process.stdin.write(json.dumps({"id": "1", **command}).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if b'"success":false' in line[:300]:
                raise RuntimeError(f"{command['type']}: {line[:500]!r}")
            if until in line:
                after = self._usage.cpu_times()
                return float(after.user + after.system - before.user - before.system) * 1000
        raise RuntimeError(f"{command['type']}: the process ended")

    def answer(self, **command: Any) -> float:
        """Send a command and wait for its answer."""
        return self.step(b'"type":"response"', **command)

    def settle(self, message: str) -> float:
        """Send a prompt and wait until it is done."""
        return self.step(b'"type":"agent_end"', type="prompt", message=message)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()


@contextmanager
def process(program: Program, folder: Path, count: int, model: str = MODEL) -> Iterator[Process]:
    """Run a program on a session of so many messages."""
    file = folder / f"{program.name}-{count}.jsonl"
    write_session(file, count, program.environ["PWD"])
    running = Process(program, "--model", model, "--session", str(file))
    try:
        running.answer(type="set_auto_compaction", enabled=False)
        yield running
    finally:
        running.close()


Steps = dict[tuple[str, int], dict[str, float]]


def measure_messages(program: Program, folder: Path, chosen: argparse.Namespace, found: Steps) -> None:
    """Measure the steps whose cost may grow with the session."""

    def note(what: str, size: int, step: Callable[..., float], *, times: int = chosen.rounds, **command: Any) -> None:
        try:
            if times > 1:
                step(**command)  # this one does not count
            took = [step(**command) for _ in range(times)]
        except RuntimeError as error:  # nothing to compact in a short session; the original has no deep trees
            print(f"{program.name}, {size} messages: {error!s:.200}")
            return
        found.setdefault((what, size), {})[program.name] = statistics.median(took)

    for count in chosen.messages:
        with process(program, folder, count) as running:
            for name in ("get_messages", "get_entries", "get_tree"):
                note(name, count, running.answer, type=name)
            note("export_html", count, running.answer, type="export_html", outputPath=str(folder / "page.html"))
            note("one request, Messages", count, running.settle, message=prompt(1))
            note("compact", count, running.answer, times=1, type="compact")
        with process(program, folder, count, COMPATIBLE) as running:
            note("one request, Completions", count, running.settle, message=prompt(1))


def measure_output(program: Program, folder: Path, chosen: argparse.Namespace, found: Steps) -> None:
    """Measure commands that print much, and one run with many calls."""
    for size in chosen.megabytes:
        with process(program, folder, 4) as running:
            lines = f"seq -f %019.0f {size * 50_000}"
            took = [running.answer(type="bash", command=lines) for _ in range(chosen.rounds)]
            found.setdefault(("bash, MB of output", size), {})[program.name] = statistics.median(took)
    file = Path(program.environ["PWD"]) / "read.txt"
    file.write_text("line\n" * 30, encoding="utf-8")
    with process(program, folder, 0) as running:  # the server finds in the first message what to answer
        once = running.settle(turns_prompt(str(file), TURNS))
        found.setdefault(("first request, and turns that call read", TURNS), {})[program.name] = once


def table(found: Steps) -> list[list[str]]:
    """Return a line for each step and size."""
    rows: list[list[str]] = []
    before: dict[str, tuple[int, float]] = {}
    for (what, size), took in sorted((key, took) for key, took in found.items() if "pi" in took):
        ours, theirs = took["pi"], took.get("original")
        growth = f"{ours / before[what][1]:.1f} for {size / before[what][0]:.0f}" if what in before else ""
        ratio = f"{ours / theirs:.2f}" if theirs else "-"
        rows.append([what, f"{size:,}", f"{ours:.0f}", "-" if theirs is None else f"{theirs:.0f}", ratio, growth])
        before[what] = (size, max(ours, 1))
    return rows


def main() -> None:
    chosen = options()
    compile_and_say()
    found: Steps = {}
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        folder = Path(name)
        for program in programs(chosen, folder, fake.url):
            measure_messages(program, folder, chosen, found)
            measure_output(program, folder, chosen, found)
    show_table("One step, CPU of the process", ["", "size", "ours ms", "original ms", "ratio", "growth"], table(found))


if __name__ == "__main__":
    main()
