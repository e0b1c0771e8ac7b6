"""What pi does until its first request and per delta, counted: ``uv run python bench/counts.py``.

Counts do not depend on what else runs on the computer, so they tell whether a change made the start heavier when times
cannot. Until the connection to the server: modules imported, function calls of Python and of C, files opened, and,
where ``strace`` is there, all system calls that name a file, with those that failed. Per delta: function calls, as the
difference between an answer of 1,000 and one of 3,000 deltas. ``--against PYTHON`` counts the pi of another environment
beside, such as that of another worktree; ``--modules`` names the modules that only one of the two imports, or all.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _fake import fake_server, prompt
from _measure import show_table
from _peer import MODEL, Program, home

if TYPE_CHECKING:
    from _fake import Fake

FEW, MANY = 1_000, 3_000

COUNTER = """
import json, sys

calls = {"call": 0, "c_call": 0}
opened = []
start = None


def profile(frame, event, argument):
    if event in calls:
        calls[event] += 1


def audit(event, arguments):
    global start
    if start is not None:
        return
    if event == "open":
        opened.append(str(arguments[0]))
    elif event == "socket.connect":
        start = {**calls, "modules": sorted(sys.modules), "opened": opened}


sys.addaudithook(audit)
import pi_cli

out = sys.argv.pop(1)
sys.setprofile(profile)
code = pi_cli.main()
sys.setprofile(None)
with open(out, "w") as file:
    json.dump({"start": start, **calls}, file)
sys.exit(code)
"""
"""Runs pi and writes what it counted; it imports nothing that pi may not import."""


def count(program: Program, fake: Fake, folder: Path, deltas: int, kind: str = "text") -> dict[str, Any]:
    """Return the counts of one run with an answer of so many deltas."""
    counted = folder / "counted.json"
    command = [*program.command, "-c", COUNTER, str(counted), *arguments(deltas, kind)]
    _run(program, command)
    fake.requests()
    found: dict[str, Any] = json.loads(counted.read_text(encoding="utf-8"))
    return found


def arguments(deltas: int, kind: str) -> list[str]:
    offered = ["--no-tools"] if kind == "argument" else []  # else the call would be run
    return ["--no-session", *offered, "--model", MODEL, "-p", prompt(deltas, kind)]


def file_calls(program: Program, fake: Fake, folder: Path) -> collections.Counter[str]:
    """Return how often each system call that names a file was made until the request, and how many of all failed."""
    trace = folder / "strace.txt"
    start = [*program.command, "-c", "import sys; from pi_cli import main; sys.exit(main())", *arguments(1, "text")]
    _run(program, ["strace", "-f", "-e", "trace=file,connect", "-o", str(trace), *start])
    fake.requests()
    found: collections.Counter[str] = collections.Counter()
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        if re.search(r"\bconnect\(.*sin_port", line):
            break
        if (called := re.search(r"^\d+ +(\w+)\(", line)) is not None:
            found[called[1]] += 1
            found["of these failed"] += " = -1 " in line
    return found


def _run(program: Program, command: list[str]) -> None:
    done = subprocess.run(
        command,
        cwd=program.environ["PWD"],
        env=dict(program.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{program.name}: exit {done.returncode}\n{done.stderr}")


def figures(program: Program, fake: Fake, folder: Path) -> tuple[dict[str, float], list[str]]:
    """Return the rows of the table, and the modules that were imported until the request."""
    count(program, fake, folder, 1)  # writes the index and the bytecode
    few, many = (count(program, fake, folder, deltas) for deltas in (FEW, MANY))
    few_arguments, many_arguments = (count(program, fake, folder, deltas, "argument") for deltas in (FEW, MANY))
    start = few["start"]
    modules = start["modules"]
    groups = collections.Counter(name.partition(".")[0] for name in modules if name.startswith("pi_"))
    rows: dict[str, float] = {"modules": len(modules), "modules of pi": groups.total()}
    rows |= {f"  {group}": number for group, number in sorted(groups.items())}
    rows |= {"calls of Python functions": start["call"], "calls of C functions": start["c_call"]}
    rows["files opened"] = len(start["opened"])
    if shutil.which("strace"):
        rows |= {f"system call {name}": number for name, number in sorted(file_calls(program, fake, folder).items())}
    for what, less, more in (("a delta of text", few, many), ("a delta of arguments", few_arguments, many_arguments)):
        for kind, language in (("call", "Python"), ("c_call", "C")):
            rows[f"{what}: calls of {language}"] = (more[kind] - less[kind]) / (MANY - FEW)
    rows["the whole of 1,000 deltas: calls of Python"] = few["call"]
    rows["the whole of 1,000 deltas: calls of C"] = few["c_call"]
    return rows, modules


def show_modules(found: list[list[str]]) -> None:
    first, *others = found
    if not others:
        print(*first, sep="\n")
        return
    here, there = set(first), set(others[0])
    for title, names in (("Only here:", here - there), ("Only in the other:", there - here)):
        print(title, *sorted(names), sep="\n  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="PYTHON", help="the interpreter of another environment with pi")
    parser.add_argument("--modules", action="store_true", help="name the modules imported until the request")
    chosen = parser.parse_args()
    pythons = [sys.executable, *([chosen.against] if chosen.against else [])]
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        folder = Path(name)
        found = [
            figures(Program(python, (python, "-X", "utf8"), home(folder / str(number), fake.url)), fake, folder)
            for number, python in enumerate(pythons)
        ]
    rows = {what: None for counted, _modules in found for what in counted}
    lines = [[what, *(f"{counted.get(what, 0):,g}" for counted, _modules in found), ""] for what in rows]
    show_table("Until the first request, and per delta", ["", *["here", "the other"][: len(found)], ""], lines)
    if chosen.modules:
        show_modules([modules for _counted, modules in found])


if __name__ == "__main__":
    main()
