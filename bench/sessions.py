"""Sessions on disk, compared with the original: ``uv run python bench/sessions.py``.

A file of 100,000 entries (45 MB) is opened and its context built, with a compaction 200 messages before its end and
without one. Ours then knows which messages the context has and parses each when it is looked at, where the original
parses the whole file; so without a compaction the time until every message is parsed is printed as well. Messages are
appended to a short session and to that one; 1,000 sessions of 1 MB are listed, first without an index and then with it;
a file of 100 MB is opened and its memory looked at. Every figure comes from a process of its own, which has imported
what it needs before the clock starts; files are in the page cache. Bars are parts of the original's time on the same
files, but where a unit is given. It takes 1.3 GB of temporary space.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _measure import show_table, verdict
from _peer import NODE, Program, compile_and_say, options, programs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

ENTRIES = 100_000
KEPT = 200
SESSIONS = 1000
APPENDED = 2000
STAMP = "2026-01-01T00:00:00.000Z"
NOON = 1_767_268_800_000
MANAGER = "node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js"

ORIGINAL = """
import { readFileSync } from "node:fs";
const [, url, work, path] = process.argv;
const { SessionManager } = await import(url);
const rss = () => Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
const empty = rss();
const started = performance.now();
let count = 0, memory = 0;
if (work === "open" || work === "parse") {
    const session = SessionManager.open(path);
    count = session.buildSessionContext().messages.length;
} else if (work === "append") {
    const session = SessionManager.open(path);
    const begun = performance.now();
    for (let n = 0; n < 2000; n++) {
        session.appendMessage({ role: "user", content: "hello ".repeat(20), timestamp: 1767268800000 });
    }
    console.log(JSON.stringify({ ms: performance.now() - begun, count, memory }));
    process.exit(0);
} else {
    count = (await SessionManager.list("/bench", path)).length;
}
console.log(JSON.stringify({ ms: performance.now() - started, count, memory: rss() - empty }));
"""


# What is measured


def message(number: int, size: int) -> dict[str, Any]:
    """Return a message of a conversation that two hold, with about so many bytes of text."""
    content = [{"type": "text", "text": "word " * (size // 5)}]
    if number % 2 == 0:
        return {"role": "user", "content": content, "timestamp": NOON + number}
    cost = {"input": 0.003, "output": 0.015, "cacheRead": 0, "cacheWrite": 0, "total": 0.018}
    usage = {"input": 1000, "output": 1000, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2000, "cost": cost}
    who = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5"}
    return {
        "role": "assistant",
        "content": content,
        **who,
        "usage": usage,
        "stopReason": "stop",
        "timestamp": NOON + number,
    }


def rows(count: int, size: int, *, compacted: bool = False) -> Iterator[dict[str, Any]]:
    parent: str | None = None
    for number in range(count):
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": STAMP}
        yield {**entry, "message": message(number, size)}
        parent = entry["id"]
        if compacted and number == count - KEPT:
            data = {"summary": "So far.", "firstKeptEntryId": parent, "tokensBefore": 100_000}
            yield {"type": "compaction", "id": "ffffffff", "parentId": parent, "timestamp": STAMP, **data}
            parent = "ffffffff"


def write(path: Path, entries: Iterator[dict[str, Any]], session_id: str = "bench") -> Path:
    header = {"type": "session", "version": 3, "id": session_id, "timestamp": STAMP, "cwd": "/bench"}
    with path.open("w", encoding="utf-8") as file:
        for row in (header, *entries):
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
    return path


def write_folder(folder: Path) -> Path:
    folder.mkdir()
    text = write(folder / "model", rows(1050, 600)).read_text(encoding="utf-8")
    (folder / "model").unlink()
    for number in range(SESSIONS):
        (folder / f"2026_{number:04}.jsonl").write_text(
            text.replace('"bench"', f'"bench{number:04}"', 1), encoding="utf-8"
        )
    return folder


# Ours, in a process of its own


def work_ours(work: str, path: Path, agent: Path) -> None:
    """Do one piece of work and print what it took."""
    from pi_core import wire
    from pi_core.host import PluginHost
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import UserMessage

    empty = _resident()  # what an empty process needs is there from here on
    host = PluginHost(Settings.in_memory({}, agent_dir=agent))
    host.find("register_session_stores", "jsonl")
    wire.message_from_wire(message(1, 10))
    started = time.perf_counter()
    if work == "list":
        count = len(SessionManager.list("/bench", path, host=host))
    else:
        session = SessionManager.open(path, host=host)
        count = 0
        if work in ("open", "parse"):
            messages = session.build_session_context().messages
            count = len(messages if work == "open" else list(messages))
        else:
            started = time.perf_counter()
            for _ in range(APPENDED):
                session.append_message(UserMessage(content="hello " * 20, timestamp=NOON))
    took = (time.perf_counter() - started) * 1000
    print(json.dumps({"ms": took, "count": count, "memory": _resident() - empty}))


def _resident() -> float:
    """Return the megabytes that this process has in memory."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.partition("VmRSS:")[2].split()[0]) / 1024


# Both, taking turns


def measure(program: Program, work: str, path: Path, agent: Path, rounds: int) -> dict[str, float]:
    """Return the best time and the least memory of several runs."""
    found = []
    for _ in range(rounds):
        if program.name == "pi":
            command = [sys.executable, __file__, "--work", work, str(path), str(agent)]
        else:
            root = Path(program.command[0]).parents[len(Path(NODE).parts) - 1]
            url = (root / MANAGER).as_uri()
            command = [program.command[0], "--input-type=module", "-e", ORIGINAL, url, work, str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(program.environ), cwd="/")
        found.append(json.loads(done.stdout.splitlines()[-1]))
    assert len({each["count"] for each in found}) == 1
    return {key: min(each[key] for each in found) for key in ("ms", "count", "memory")}


class Bench:
    """The files, the programs, and the lines of the table."""

    def __init__(self, folder: Path, found: list[Program], rounds: int) -> None:
        self.folder = folder
        self.agent = folder / "agent"
        self.found = found
        self.rounds = rounds
        self.lines: list[list[str]] = []

    def measure(self, work: str, path: Path, rounds: int | None = None) -> list[dict[str, float]]:
        """Return what each program took; both must have found the same."""
        results = [measure(program, work, path, self.agent, rounds or self.rounds) for program in self.found]
        assert len({result["count"] for result in results}) == 1, results
        return results

    def add(
        self, what: str, figures: list[float], bar: float | None = None, *, own: bool = False, form: str = ".0f"
    ) -> None:
        """Add a line: our figure, the original's if there is one, and whether the bar is reached.

        Args:
            what: What was measured.
            figures: Ours, and the original's.
            bar: The part of the original's that is allowed; None where nothing is promised.
            own: The bar is a limit to our own figure instead.
            form: How figures are written.
        """
        ours, theirs = figures[0], figures[1] if len(figures) > 1 else None
        ratio = None if theirs is None else ours / theirs
        judged = ours if own else ratio
        verdict_text = "" if bar is None or judged is None else verdict(judged, bar)
        self.lines.append(
            [
                what,
                f"{ours:{form}}",
                "-" if theirs is None else f"{theirs:{form}}",
                "-" if ratio is None else f"{ratio:.2f}",
                "" if bar is None else f"{bar:g}{' ours' if own else ''}",
                verdict_text,
            ]
        )

    def opening(self) -> None:
        """Open a long session, with a compaction and without."""
        for compacted in (True, False):
            path = write(self.folder / "long.jsonl", rows(ENTRIES, 150, compacted=compacted))
            results = self.measure("open", path)
            kept = f"{results[0]['count']:,.0f} messages of context"
            self.add(f"open {ENTRIES:,} entries, {kept}, ms", [each["ms"] for each in results], 1)
        results = self.measure("parse", path)
        self.add("open them and parse every message of the context, ms", [each["ms"] for each in results])

    def appending(self) -> None:
        """Append to a short and to a long session."""
        for count in (100, ENTRIES):
            path = write(self.folder / "append.jsonl", rows(count, 150))
            figures = [each["ms"] * 1000 / APPENDED for each in self.measure("append", path)]
            self.add(f"append to {count:,} entries, us each", figures, 100, own=True)

    def memory(self) -> None:
        """Open a file of 100 MB and look at the memory that it takes."""
        path = write(self.folder / "big.jsonl", rows(ENTRIES, 750, compacted=True))
        size = path.stat().st_size / (1 << 20)
        figures = [each["memory"] / size for each in self.measure("open", path, 1)]
        self.add(f"memory for a file of {size:.0f} MB, parts of it", figures, 2, own=True, form=".2f")

    def listing(self) -> None:
        """List many sessions, without an index and with it."""
        folder = write_folder(self.folder / "many")
        figures = [each["ms"] for each in self.measure("list", folder, 1)]
        self.add(f"list {SESSIONS:,} sessions of 1 MB, no index, ms", figures, 1)
        self.found = self.found[:1]
        self.add("list them with the index, ms", [self.measure("list", folder)[0]["ms"]], 100, own=True)


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        work_ours(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
        return
    chosen: argparse.Namespace = options(__doc__ or "", rounds=3)
    compile_and_say()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), programs(chosen, Path(name), "http://127.0.0.1:9"), chosen.rounds)
        bench.opening()
        bench.appending()
        bench.memory()
        bench.listing()
        heads = ["", "ours", "original", "ratio", "bar", ""]
        show_table(f"Sessions, best of {chosen.rounds}", heads, bench.lines)


if __name__ == "__main__":
    main()
