"""The tools against the programs that they replace, in the same run: ``uv run python bench/tools.py``.

A tree of 100,000 files and a file of 1 GB are made in the temporary directory, and removed at the end.
Times are the best of several rounds, in which both sides take turns; a tool is called in a running agent,
a program is started, its output read. Ratios are compared with their bars, and nothing fails here.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pi_tools
from pi_hookspecs import AbortController
from pi_tools.searching.ripgrep import find_ripgrep

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
IGNORED = (
    "node_modules/\n__pycache__/\n*.py[cod]\n*.egg-info\n.venv\nbuild/\ndist/\n*.log\n*~\n/out\n.env*\n!.env.example\n"
)
GIGABYTE = 1 << 30


def make_tree(root: Path) -> None:
    """Make 100,000 files in 1,000 folders, two folders that are ignored, and one folder of 20,000 files."""
    body = "def function(argument):\n    return argument\n" * 10
    number = 0
    for outer in range(20):
        for inner in range(50):
            folder = root / f"area{outer:02}" / f"part{inner:02}"
            folder.mkdir(parents=True)
            for index in range(100):
                kind = ("py", "js", "txt", "md")[index % 4]
                needle = f"needle {number}\n" if number % 2000 == 0 else ""
                (folder / f"file_{index:03}_{number % 7919}.{kind}").write_text(f"file {number}\n{needle}{body}")
                number += 1
    (root / ".gitignore").write_text(IGNORED)
    (root / ".git").mkdir()
    for name in ("node_modules", "build"):
        (root / name).mkdir()
        for index in range(500):
            (root / name / f"{index}.js").write_text("needle\n")


def make_folder(root: Path) -> None:
    root.mkdir()
    for index in range(20_000):
        (root / f"Name-{index * 7919 % 20_000:05}_{'abc'[index % 3]}.txt").touch()


def make_file(path: Path) -> None:
    block = b"".join(b"%07d a line of a log that goes on for a while and says little\n" % n for n in range(16_384))
    with path.open("wb") as file:
        while file.tell() < GIGABYTE:
            file.write(block)


class Bench:
    """The tools in one directory, their peers, and the rows of the table."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self._tools = {tool.name: tool for tool in pi_tools.register_tools()}
        self._ctx: Any = SimpleNamespace(
            cwd=cwd, session=SimpleNamespace(id="bench", file=None), model=None, thinking_level="off"
        )
        self.rows: list[tuple[str, ...]] = []

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool as the agent does."""
        execute = self._tools[tool].execute
        return await execute("1", arguments, AbortController().signal, lambda _: None, self._ctx)

    async def timed(self, tool: str, **arguments: Any) -> float:
        """Return the seconds that a call takes."""
        start = time.perf_counter()
        await self.call(tool, **arguments)
        return time.perf_counter() - start

    def run(self, *argv: str, env: dict[str, str] | None = None) -> float:
        """Return the seconds that a program takes, its output read."""
        start = time.perf_counter()
        subprocess.run(argv, cwd=self.cwd, stdout=subprocess.PIPE, check=False, env=env)
        return time.perf_counter() - start

    async def against(
        self, what: str, bar: float | None, peer: Callable[[], float], peer_name: str, tool: str, **arguments: Any
    ) -> None:
        """Add a row: the tool and its peer in turns, and how their best times compare with the bar."""
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(await self.timed(tool, **arguments))
            theirs.append(peer())
        ratio = min(ours) / min(theirs)
        met = verdict(ratio <= bar) if bar else ""
        self.rows.append((what, ms(ours), f"{peer_name} {ms(theirs)}", f"{ratio:.2f}", f"{bar or ''}", met))


def ms(times: list[float]) -> str:
    return f"{min(times) * 1000:.1f} ms"


def verdict(met: bool) -> str:  # noqa: FBT001 - a word for a column
    return "met" if met else "MISSED"


async def searches(bench: Bench) -> None:
    rg = find_ripgrep()
    grep = (rg, "--no-config", "--json", "--line-number", "--color=never", "--hidden", "--regexp")
    for pattern, what in (("needle [0-9]+", "grep, 50 matches in 100,000 files"), ("no such text", "grep, no match")):
        found = await bench.call("grep", pattern=pattern, limit=1000)
        assert (pattern == "no such text") == (found.content[0].text == "No matches found")
        peer = partial(bench.run, *grep, pattern, ".")
        await bench.against(what, 1.3, peer, "rg --json", "grep", pattern=pattern, limit=1000)
    files = (rg, "--files", "--hidden")
    for pattern in ("*.py", "file_001_*", "*", "area07/**/*.md"):
        what, peer = f"find {pattern}, all results", partial(bench.run, *files)
        await bench.against(what, 1.5, peer, "rg --files", "find", pattern=pattern, limit=10**9)
    await bench.against("find *, as called", 1.5, partial(bench.run, *files), "rg --files", "find", pattern="*")


async def listings(bench: Bench) -> None:
    for collation, bar in ((make_locale(bench.cwd), 1.5), ("C", None)):
        env = {**os.environ, "LOCPATH": str(bench.cwd), "LC_ALL": collation}
        for what, limit in (("as called", 500), ("all printed", 10**6)):
            peer = partial(bench.run, "ls", "-1A", "folder", env=env)
            name = f"ls, 20,000 entries, {what}"
            await bench.against(name, bar, peer, f"{collation} ls -1A", "ls", path="folder", limit=limit)


def make_locale(folder: Path) -> str:
    """Return a locale that collates names for people, as the tool does, made here if it is not installed."""
    made = folder / "en_US.UTF-8"
    if shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "en_US", "-f", "UTF-8", made], capture_output=True, check=False)
    return made.name if made.is_dir() else "C"


async def reading(bench: Bench) -> None:
    times = [await bench.timed("read", path="big.log", limit=2000) for _ in range(ROUNDS)]
    bench.rows.append(("read, 2000 lines of 1 GB", ms(times), "", "", "50 ms", verdict(min(times) <= 0.05)))
    times = [await bench.timed("read", path="big.log", offset=5_000_000, limit=10) for _ in range(3)]
    bench.rows.append(("read, 10 lines from line 5,000,000", ms(times), "", "", "", ""))


async def commands(bench: Bench) -> None:
    times = [await bench.timed("bash", command="true") for _ in range(50)]
    peers = [bench.run("/bin/bash", "-c", "true") for _ in range(50)]
    bench.rows.append(("bash true (first: supervisor starts)", f"{times[0] * 1000:.1f} ms", "", "", "", ""))
    bench.rows.append(("bash true", ms(times), f"bash -c {ms(peers)}", f"{min(times) / min(peers):.2f}", "", ""))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rates = []
    for _ in range(3):
        start = time.perf_counter()
        result = await bench.call("bash", command="head -c 2G /dev/zero | tr '\\0' x")
        rates.append(2 * GIGABYTE / (time.perf_counter() - start) / 1e6)
        bench.run("rm", result.details["fullOutputPath"])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    peer = "head -c 2G /dev/zero | tr '\\0' x | cat > /dev/null"
    start = time.perf_counter()
    bench.run("/bin/bash", "-c", peer)
    bare = 2 * GIGABYTE / (time.perf_counter() - start) / 1e6
    met = verdict(max(rates) >= 200)
    bench.rows.append(("bash, 2 GB of output", f"{max(rates):.0f} MB/s", f"| cat {bare:.0f} MB/s", "", "200 MB/s", met))
    bench.rows.append(("bash, memory for it", f"+{grown:.0f} MB", "", "", "flat", ""))


def show(rows: list[tuple[str, ...]]) -> None:
    table = [("what", "tool", "peer", "ratio", "bar", ""), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(6)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


async def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="pi-bench-tools-"))
    try:
        tree = folder / "tree"
        tree.mkdir()
        make_tree(tree)
        make_folder(folder / "folder")
        make_file(folder / "big.log")
        bench, outside = Bench(tree), Bench(folder)
        outside.rows = bench.rows
        await searches(bench)
        await listings(outside)
        await reading(outside)
        await commands(outside)
        show(bench.rows)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    asyncio.run(main())
