"""What extensions in TypeScript cost, compared with the original: ``uv run --group dev python bench/typescript.py``.

The same file runs in both, with the same Node.js: one extension with a handler of ``tool_call``. Wall milliseconds to
the first request, and microseconds from request to request through a turn with a call of ``read`` (the median of many),
each also without the extension;
and the memory of the process of five extensions. Bars: the first request at most 0.65 of the original's and 1.05 of
ours without it; a turn at most 0.3 ms more than without; 90 MB.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from _fake import fake_server, prompt, turns_prompt
from _measure import show
from _peer import MODEL, NODE, VERSION, Row, cache, compare, compile_and_say, options, programs, run

import pi_typescript

if TYPE_CHECKING:
    from _fake import Fake
    from _peer import Program

GUARD = """
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event) => {
    const command: unknown = event.input.command;
    if (event.toolName === "bash" && String(command).includes("rm -rf")) return { block: true, reason: "no" };
  });
}
"""
TURNS = 40
HOST = Path(pi_typescript.__file__).parent / "host" / "main.js"


def ask(program: Program, text: str, *, there: bool) -> int:
    """Send one prompt with ``pi -p``, with or without the extension; return when the process was started."""
    flags = [] if there else ["--no-extensions"]
    return run(program, "--no-session", *flags, "--model", MODEL, "-p", text).started


def rows(fake: Fake) -> list[Row]:
    def first_request(program: Program, *, there: bool) -> float:
        started = ask(program, prompt(1), there=there)
        return float(fake.requests()[0]["at"] - started) / 1e6

    def turn(program: Program, *, there: bool) -> float:
        Path(program.environ["PWD"], "read.txt").write_text("one line\n")
        ask(program, turns_prompt("read.txt", TURNS), there=there)
        at = [each["at"] for each in fake.requests()]
        return statistics.median(later - one for one, later in pairwise(at)) / 1e3

    return [
        Row("first request, one extension", lambda program: first_request(program, there=True), 0.65),
        Row("first request, none", lambda program: first_request(program, there=False), None),
        Row("a turn with a call of read, us, one extension", lambda program: turn(program, there=True), None),
        Row("a turn with a call of read, us, none", lambda program: turn(program, there=False), None),
    ]


def memory(folder: Path, node: Path) -> float:
    """Return the megabytes (PSS) of the process of five extensions that was started before, so that caches are full."""
    plugins = []
    for number in range(5):
        file = folder / f"guard-{number}.ts"
        file.write_text(GUARD)
        plugins.append({"name": file.stem, "file": str(file)})
    start = {"type": "start", "plugins": plugins, "packages": None, "agentDir": str(folder), "state": {}}
    pss = 0.0
    for _ in range(2):
        pipes = f'export NODE_COMPILE_CACHE="{folder}/node"; exec "$@" 3>&1 4<&0 1>&2 0</dev/null'
        command = ["/bin/sh", "-c", pipes, "sh", str(node), "--no-warnings", str(HOST)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(json.dumps(start).encode() + b"\n")
            child.stdin.flush()
            assert b'"ready"' in child.stdout.readline()
            time.sleep(0.5)  # what only the start needed is collected
            rollup = Path(f"/proc/{child.pid}/smaps_rollup").read_text(encoding="ascii")
            pss = int(rollup.split("Pss:")[1].split()[0]) / 1024
            child.stdin.close()
    return pss


def main() -> None:
    chosen = options(__doc__ or "", rounds=9)
    compile_and_say()
    with tempfile.TemporaryDirectory() as name, fake_server(Path(name)) as fake:
        found = programs(chosen, Path(name), fake.url)
        node = (chosen.peer_dir or cache() / f"pi-{VERSION}") / NODE
        if node.exists():
            settings = Path(found[0].environ["PI_CODING_AGENT_DIR"], "settings.json")
            settings.write_text(json.dumps({"typescript": {"node": str(node)}}))
        for each in found:
            file = Path(each.environ["PI_CODING_AGENT_DIR"], "extensions", "guard.ts")
            file.parent.mkdir()
            file.write_text(GUARD)
        compare(f"Extensions in TypeScript, {MODEL}", "ms", rows(fake), found, chosen.rounds)
        show("Memory of the process of five extensions", "MB PSS", [("five", memory(Path(name), node), 90.0)])


if __name__ == "__main__":
    main()
