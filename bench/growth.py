"""Whether a step costs more when much is there already: ``uv run python bench/growth.py``, beside the original.

CPU milliseconds of one RPC process for one step, in a session of so many messages, or with so much output. ``growth``
is ours at a size over ours at the one before, to be read beside the growth of the size itself. The programs take turns.

The default takes a minute or two. ``--steps`` chooses what is measured; ``--messages``, ``--megabytes``, ``--calls``,
``--prompts`` and ``--day`` set the sizes. All that is judged: ``--steps messages output prompts day --messages 400 1600
6400 --megabytes 1 10 100 --calls 64 256 --rounds 5``, which takes much longer.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _fake import call_prompt, calls_prompt, fake_server, prompt, turns_prompt
from _measure import show_table
from _peer import COMPATIBLE, MODEL, Program, compile_and_say, programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STAMP, TIME = "2026-01-01T00:00:00.000Z", 1_767_225_600_000
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
USAGE = {"input": 100, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 120, "cost": COST}
ANSWER = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5", "usage": USAGE}
TURNS = 50
OTHERS = {
    "Completions": ("openai-completions", COMPATIBLE),
    "Responses": ("openai-responses", "bench-responses/gpt-fake"),
    "Google": ("google-generative-ai", "bench-google/gemini-fake"),
}
"""API and model by the name of its row."""
HUNDRED = 100


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", nargs="+", choices=list(STEPS), default=["messages", "output"])
    parser.add_argument("--messages", type=int, nargs="+", default=[1600, 6400])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[10])
    parser.add_argument("--calls", type=int, nargs="+", default=[256])
    parser.add_argument("--prompts", type=int, default=400, help="with a call each, in one session")
    parser.add_argument("--day", type=int, default=1000, help="prompts of a day's work, in one session")
    parser.add_argument("--rounds", type=int, default=3, help="of each step, of which the median counts")
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
        self.name = program.name
        self._process = subprocess.Popen(
            [*program.command, "--mode", "rpc", *arguments],
            cwd=program.environ["PWD"],
            env=dict(program.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._latest = b""
        self._clock = (~self._process.pid << 3) | 2
        """The clock of its CPU time, as ``clock_getcpuclockid`` of glibc makes it; /proc counts in ticks of 10 ms."""

    def step(self, until: bytes, **command: Any) -> float:
        """Send a command, read until a line contains something, and return the CPU milliseconds of the process.

        Raises:
            RuntimeError: The process ended, or refused the command.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        before = time.clock_gettime_ns(self._clock)
        self._process.stdin.write(json.dumps({"id": "1", **command}).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if b'"success":false' in line[:300]:
                raise RuntimeError(f"{command['type']}: {line[:500]!r}")
            if until in line:
                self._latest = line
                return (time.clock_gettime_ns(self._clock) - before) / 1e6
        raise RuntimeError(f"{command['type']}: the process ended")

    @property
    def spent(self) -> float:
        """CPU milliseconds since the start."""
        return time.clock_gettime_ns(self._clock) / 1e6

    def read(self, **command: Any) -> Any:
        """Send a command and return the data of its answer."""
        self.answer(**command)
        return json.loads(self._latest)["data"]

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
def processes(
    programs: Sequence[Program], folder: Path, count: int, model: str = MODEL
) -> Iterator[list[tuple[Process, Program]]]:
    """Run each program on a session of so many messages."""
    running: list[tuple[Process, Program]] = []
    try:
        for program in programs:
            file = session_of(program, folder, count)
            running.append((Process(program, "--model", model, "--session", str(file)), program))
            running[-1][0].answer(type="set_auto_compaction", enabled=False)
            running[-1][0].answer(type="set_thinking_level", level="off")  # its budget may exceed that of a summary
        yield running
    finally:
        for each, _ in running:
            each.close()


def session_of(program: Program, folder: Path, count: int, name: str = "") -> Path:
    """Write a session of so many messages for a program and return its file."""
    file = folder / f"{program.name}-{count}{name}.jsonl"
    write_session(file, count, program.environ["PWD"])
    return file


Steps = dict[tuple[str, int], dict[str, float]]
Step = Callable[[Process, Program], float]


class Measuring:
    """Takes a step with the programs in turn; the median counts.

    Attributes:
        found: Milliseconds by step and size, then by program.
    """

    def __init__(self, rounds: int) -> None:
        self.found: Steps = {}
        self._rounds = rounds

    def note(
        self, what: str, size: int, running: Sequence[tuple[Process, Program]], step: Step, *, times: int = 0
    ) -> None:
        """Measure a step of a size; a program that refuses it has no figure."""
        took: dict[str, list[float]] = {}
        refused: set[str] = set()
        rounds = times or self._rounds + 1  # of several, the first does not count
        for number in range(rounds):
            for process, program in running:
                if process.name in refused:
                    continue
                try:
                    milliseconds = step(process, program)
                except RuntimeError as error:  # nothing to compact in a short session; the original has no deep trees
                    refused.add(process.name)
                    print(f"{process.name}, {what}, {size}: {error!s:.200}")
                    continue
                if number or rounds == 1:
                    took.setdefault(process.name, []).append(milliseconds)
        medians = {name: statistics.median(figures) for name, figures in took.items() if name not in refused}
        self.found.setdefault((what, size), {}).update(medians)


def command(**fields: Any) -> Step:
    """Return the step of sending a command."""
    return lambda process, _program: process.answer(**fields)


def ask(message: str) -> Step:
    """Return the step of sending a prompt."""
    return lambda process, _program: process.settle(message)


def add_providers(program: Program, url: str) -> None:
    """Add providers with the APIs of ``OTHERS`` to the program's models.json."""
    file = Path(program.environ["PI_CODING_AGENT_DIR"], "models.json")
    models = json.loads(file.read_text(encoding="utf-8"))
    for api, model in OTHERS.values():
        provider, _, name = model.partition("/")
        path = "v1beta" if api == "google-generative-ai" else "v1"
        models["providers"][provider] = {
            "baseUrl": f"{url}/{path}",
            "api": api,
            "apiKey": "$BENCH_KEY",
            "models": [{"id": name}],
        }
    file.write_text(json.dumps(models), encoding="utf-8")


def measure_messages(found: Sequence[Program], folder: Path, chosen: argparse.Namespace, measuring: Measuring) -> None:
    """Measure the steps whose cost may grow with the session."""
    for count in chosen.messages:
        with processes(found, folder, count) as running:
            for name in ("get_messages", "get_entries", "get_tree"):
                measuring.note(name, count, running, command(type=name))
            page = command(type="export_html", outputPath=str(folder / "page.html"))
            measuring.note("export_html, the first", count, running, page, times=1)
            measuring.note("export_html", count, running, page)
            measuring.note("one request, Messages", count, running, ask(prompt(1)))
            measuring.note("compact", count, running, command(type="compact"), times=1)
        with processes(found, folder, 4) as running:
            measuring.note("switch_session", count, running, switches(folder, count))
        for what, (_, model) in OTHERS.items():
            with processes(found, folder, count, model) as running:
                measuring.note(f"one request, {what}", count, running, ask(prompt(1)))


def switches(folder: Path, count: int) -> Step:
    """Return the step of switching to another session of so many messages."""
    numbers = itertools.count()

    def switch(process: Process, program: Program) -> float:
        file = session_of(program, folder, count, f"-other-{next(numbers)}")
        return process.answer(type="switch_session", sessionPath=str(file))

    return switch


def measure_output(found: Sequence[Program], folder: Path, chosen: argparse.Namespace, measuring: Measuring) -> None:
    """Measure commands that print much, and runs with many calls."""
    for size in chosen.megabytes:
        with processes(found, folder, 4) as running:
            lines = command(type="bash", command=f"seq -f %019.0f {size * 50_000}")
            measuring.note("bash, MB of output", size, running, lines)
    for program in found:
        Path(program.environ["PWD"], "read.txt").write_text("line\n" * 30, encoding="utf-8")
    for calls in chosen.calls:
        with processes(found, folder, 4) as running:
            measuring.note("calls of read in one turn", calls, running, ask(calls_prompt("read.txt", calls)))
    with processes(found, folder, 0) as running:  # the server finds in the first message what to answer
        turns = ask(turns_prompt("read.txt", TURNS))
        measuring.note("first request, and turns that call read", TURNS, running, turns, times=1)


def measure_prompts(found: Sequence[Program], folder: Path, chosen: argparse.Namespace, measuring: Measuring) -> None:
    """Measure what many prompts cost together, also what is done after each of them."""
    for program in found:
        Path(program.environ["PWD"], "read.txt").write_text("line\n" * 30, encoding="utf-8")
    with processes(found, folder, 0) as running:
        for process, _ in running:
            before = process.spent
            for _ in range(chosen.prompts):
                process.settle(call_prompt("read", path="read.txt"))
            process.answer(type="get_state")
            what = "prompts with a call of read, all of them", chosen.prompts
            measuring.found.setdefault(what, {})[process.name] = process.spent - before


def measure_day(found: Sequence[Program], folder: Path, chosen: argparse.Namespace, measuring: Measuring) -> None:
    """Measure a prompt of a day's work: reads, edits, builds that print 5 MB; each hundred ends with a compaction.

    Before it, the conversation is forked. The milliseconds of a hundred are those of the process, without the builds'.
    """
    for program in found:
        Path(program.environ["PWD"], "read.txt").write_text("line\n" * 30, encoding="utf-8")
        Path(program.environ["PWD"], "edit.txt").write_text("other\n" * 50 + "state 0.\n", encoding="utf-8")
    with processes(found, folder, 0) as running:
        edits = {process.name: itertools.count() for process, _ in running}
        for done in range(HUNDRED, chosen.day + 1, HUNDRED):
            for process, _ in running:
                before = process.spent
                for number in range(HUNDRED):
                    process.settle(work(number, edits[process.name]))
                last = process.read(type="get_fork_messages")["messages"][-1]
                process.answer(type="fork", entryId=last["entryId"])
                process.answer(type="compact")
                process.answer(type="get_state")
                took = (process.spent - before) / HUNDRED
                measuring.found.setdefault(("a day's work, a prompt after", done), {})[process.name] = took


def work(number: int, edits: Iterator[int]) -> str:
    """Return the prompt with a number: half of them read, some edit a file, some build."""
    match number % 10:
        case 4 | 9:
            return prompt(25)
        case 2 | 7:
            state = next(edits)
            change = {"oldText": f"state {state}.", "newText": f"state {state + 1}."}
            return call_prompt("edit", path="edit.txt", edits=[change])
        case 5:
            return call_prompt("bash", command="seq -f %019.0f 250000")
        case _:
            return call_prompt("read", path="read.txt")


STEPS = {
    "messages": measure_messages,
    "output": measure_output,
    "prompts": measure_prompts,
    "day": measure_day,
}
"""What is measured, by its name on the command line."""


def table(found: Steps) -> list[list[str]]:
    """Return a line for each step and size."""
    rows: list[list[str]] = []
    before: dict[str, tuple[int, float]] = {}
    for (what, size), took in sorted((key, took) for key, took in found.items() if "pi" in took):
        ours, theirs = took["pi"], took.get("original")
        growth = f"{ours / before[what][1]:.1f} for {size / before[what][0]:.0f}" if what in before else ""
        ratio = f"{ours / theirs:.2f}" if theirs else "-"
        rows.append([what, f"{size:,}", f"{ours:.1f}", "-" if theirs is None else f"{theirs:.1f}", ratio, growth])
        before[what] = (size, max(ours, 1))
    return rows


def main() -> None:
    chosen = options()
    compile_and_say()
    measuring = Measuring(chosen.rounds)
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        folder = Path(name)
        found = programs(chosen, folder, fake.url)
        for program in found:
            add_providers(program, fake.url)
        for step in chosen.steps:
            STEPS[step](found, folder, chosen, measuring)
    heads = ["", "size", "ours ms", "original ms", "ratio", "growth"]
    show_table("One step, CPU of the process", heads, table(measuring.found))


if __name__ == "__main__":
    main()
